//! The techniques that a comparison may use: all of them, unless an ablation leaves one out.

use serde::{Deserialize, Serialize};

use twincell_search::Methods;

/// The techniques of a search and of comparing. Each can be left out to measure what it contributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Techniques {
    /// Vary executions that reached something new. Without it, every execution is drawn afresh.
    pub learning: bool,
    /// Add values with which injected values are compared at run time to the candidates.
    pub observation: bool,
    /// Solve conditions that no execution has decided the other way.
    pub directed: bool,
    /// Mutate the value that caused an unintended exception.
    pub mutation: bool,
    /// Let annotations, defaults and documented types of parameters weight predictions.
    pub hints: bool,
    /// Infer the effect of a call from its name and use. Without it, every recorded call counts as an action.
    pub calls: bool,
    /// Replace existing objects with injected ones where real results keep executions away from changed lines.
    pub replacement: bool,
    /// Execute a little on frequencies before the network is asked.
    pub trial: bool,
    /// Ask the text for values where half of the budget leaves changed lines unreached.
    pub environments: bool,
    /// Run all values where annotations allow few and nothing differed.
    pub exhaustion: bool,
    /// Ask for a proof where nothing differed.
    pub proof: bool,
}

impl Default for Techniques {
    fn default() -> Self {
        Self {
            learning: true,
            observation: true,
            directed: true,
            mutation: true,
            hints: true,
            replacement: true,
            calls: true,
            trial: true,
            environments: true,
            exhaustion: true,
            proof: true,
        }
    }
}

impl Techniques {
    /// Those of the search.
    pub(super) fn methods(self) -> Methods {
        let Self { learning, observation, directed, mutation, .. } = self;
        Methods { learning, observation, directed, mutation }
    }

    /// The names by which techniques are left out, and what each does.
    pub const ALL: [(&str, &str); 11] = [
        ("learning", "vary executions that reached something new"),
        ("observation", "try values with which injected values are compared while the code runs"),
        ("directed", "solve conditions that no execution has decided the other way"),
        ("mutation", "change the value that caused an unintended exception"),
        ("hints", "let annotations, defaults and documented types of parameters weight predictions"),
        ("replacement", "replace existing objects where real results keep executions away from changed lines"),
        ("calls", "infer the effect of a call from its name and use; without it, every call counts as an action"),
        ("trial", "execute a little on frequencies before the network is asked"),
        ("environments", "ask the text for values where half of the budget leaves changed lines unreached"),
        ("exhaustion", "run all values where annotations allow few and nothing differed"),
        ("proof", "ask for a proof where nothing differed"),
    ];

    /// All techniques but those of these names.
    pub fn except(names: &[&str]) -> Self {
        let is_used = |name| !names.contains(&name);
        Self {
            learning: is_used("learning"),
            observation: is_used("observation"),
            directed: is_used("directed"),
            mutation: is_used("mutation"),
            hints: is_used("hints"),
            calls: is_used("calls"),
            replacement: is_used("replacement"),
            trial: is_used("trial"),
            environments: is_used("environments"),
            exhaustion: is_used("exhaustion"),
            proof: is_used("proof"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_technique_can_be_left_out_by_its_name() {
        for (name, _) in Techniques::ALL {
            assert_ne!(Techniques::except(&[name]), Techniques::default(), "{name}");
        }
        assert_eq!(Techniques::except(&[]), Techniques::default());
    }
}
