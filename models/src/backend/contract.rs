//! The inputs and outputs that a network must have (models/README.md), on any back end.

use twincell_values::value::AbstractValue;

use super::Refused;

/// The inputs of a network, and the output that is read. Other outputs are not calculated.
pub(crate) struct Contract {
    pub(crate) inputs: &'static [(&'static str, Element)],
    pub(crate) output: &'static str,
    /// The size of the output's last dimension, if it is known beforehand.
    last: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    Int64,
    Float32,
}

impl Element {
    fn name(self) -> &'static str {
        match self {
            Element::Int64 => "int64",
            Element::Float32 => "float32",
        }
    }
}

/// Logits of the classes for each token.
pub(crate) static TAGGER: Contract = Contract {
    inputs: &[("input_ids", Element::Int64), ("attention_mask", Element::Int64)],
    output: "logits",
    last: Some(AbstractValue::COUNT),
};

/// The encoder of a sequence-to-sequence network.
pub(crate) static ENCODER: Contract = Contract {
    inputs: &[("input_ids", Element::Int64), ("attention_mask", Element::Int64)],
    output: "last_hidden_state",
    last: None,
};

/// The decoder, whose input is everything written so far.
pub(crate) static DECODER: Contract = Contract {
    inputs: &[
        ("input_ids", Element::Int64),
        ("encoder_attention_mask", Element::Int64),
        ("encoder_hidden_states", Element::Float32),
    ],
    output: "logits",
    last: None,
};

/// An input or output as a back end sees it.
pub(super) struct Port<'a> {
    pub(super) name: &'a str,
    /// None if the back end does not say.
    pub(super) element: Option<Result<Element, String>>,
    /// The size of the last dimension, if the model fixes it.
    pub(super) last: Option<usize>,
}

impl Port<'_> {
    /// The actual type, if it is not a tensor of `wanted`.
    fn other_than(&self, wanted: Element) -> Option<&str> {
        match &self.element {
            None => None,
            Some(Ok(element)) => (*element != wanted).then_some(element.name()),
            Some(Err(other)) => Some(other),
        }
    }
}

impl Contract {
    pub(super) fn check(&self, inputs: &[Port<'_>], outputs: &[Port<'_>]) -> Result<(), Refused> {
        let broken = |reason: String| Err(Refused::Contract(reason));
        let names = |ports: &[Port<'_>]| ports.iter().map(|port| port.name).collect::<Vec<_>>().join(", ");
        for &(wanted, element) in self.inputs {
            let Some(port) = inputs.iter().find(|port| port.name == wanted) else {
                return broken(format!("it has no input `{wanted}`, only: {}", names(inputs)));
            };
            if let Some(other) = port.other_than(element) {
                return broken(format!("its input `{wanted}` is {other}, not a tensor of {}", element.name()));
            }
        }
        if inputs.len() > self.inputs.len() {
            let wanted: Vec<String> = self.inputs.iter().map(|(name, _)| format!("`{name}`")).collect();
            return broken(format!("it has inputs besides {}: {}", wanted.join(", "), names(inputs)));
        }
        let wanted = self.output;
        let Some(output) = outputs.iter().find(|port| port.name == wanted) else {
            return broken(format!("it has no output `{wanted}`, only: {}", names(outputs)));
        };
        if let Some(other) = output.other_than(Element::Float32) {
            return broken(format!("its output `{wanted}` is {other}, not a tensor of float32"));
        }
        match (output.last, self.last) {
            (Some(found), Some(expected)) if found != expected => {
                broken(format!("its output `{wanted}` has {found} classes, not {expected}"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, element: Element, last: Option<usize>) -> Port<'_> {
        Port { name, element: Some(Ok(element)), last }
    }

    fn reason(contract: &Contract, inputs: &[Port<'_>], outputs: &[Port<'_>]) -> String {
        match contract.check(inputs, outputs) {
            Err(Refused::Contract(reason)) => reason,
            _ => String::new(),
        }
    }

    #[test]
    fn a_broken_contract_is_named() {
        use Element::{Float32, Int64};
        let good = || [port("input_ids", Int64, None), port("attention_mask", Int64, None)];
        let logits = |last| [port("logits", Float32, last)];
        assert_eq!(reason(&TAGGER, &good(), &logits(Some(12))), "");
        assert_eq!(reason(&TAGGER, &good(), &logits(None)), "");
        assert_eq!(reason(&TAGGER, &good()[..1], &logits(None)), "it has no input `attention_mask`, only: input_ids");
        assert_eq!(reason(&TAGGER, &good(), &[port("y", Float32, None)]), "it has no output `logits`, only: y");
        assert_eq!(reason(&TAGGER, &good(), &logits(Some(9))), "its output `logits` has 9 classes, not 12");
        let float = [port("input_ids", Float32, None), port("attention_mask", Int64, None)];
        assert_eq!(reason(&TAGGER, &float, &logits(None)), "its input `input_ids` is float32, not a tensor of int64");
        let more = [port("input_ids", Int64, None), port("attention_mask", Int64, None), port("x", Int64, None)];
        assert_eq!(
            reason(&TAGGER, &more, &logits(None)),
            "it has inputs besides `input_ids`, `attention_mask`: input_ids, attention_mask, x"
        );
    }

    #[test]
    fn the_size_of_a_vocabulary_is_up_to_the_network() {
        use Element::{Float32, Int64};
        let inputs = [
            port("encoder_attention_mask", Int64, None),
            port("input_ids", Int64, None),
            port("encoder_hidden_states", Float32, Some(512)),
        ];
        assert_eq!(reason(&DECODER, &inputs, &[port("logits", Float32, Some(32100))]), "");
        assert!(reason(&ENCODER, &inputs, &[]).contains("no input `attention_mask`"));
    }
}
