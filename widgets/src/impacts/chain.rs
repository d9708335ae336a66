//! Chains from a change to a statement, in words. The steps of a derivation become fewer: what only moves a value within a
//! statement is not said.

use twincell_impact::{Place, Rule, Step, StepPlace, VariableName};
use twincell_syntax::Side;

/// A link of a chain: what it says, and of which statement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Link {
    pub side: Side,
    /// Nothing for what holds of a whole function.
    pub place: Option<Place>,
    /// What is said of the statement, or a sentence of its own.
    pub text: String,
}

/// The links of a chain, the change first.
pub(super) fn links(chain: &[Step]) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    // What the step before carries on.
    let mut carried = String::from("it");
    for step in chain {
        let said = match &step.at {
            StepPlace::Statement(place) => {
                let last = links.last().and_then(|link| link.place.as_ref());
                let within = last == Some(place) && !matches!(step.rule, Rule::ControlImpact);
                (!within).then(|| (Some(place.clone()), of_statement(step.rule, &carried)))
            }
            StepPlace::Function { path, function } => {
                of_function(step.rule, &name(path, function)).map(|text| (None, text))
            }
            StepPlace::Variable(variable) => of_variable(step.rule, variable).map(|text| (None, text)),
        };
        match (&step.at, step.rule) {
            (StepPlace::Variable(VariableName::Expression), Rule::SummaryImpact) => {
                carried = "what the call gives for it".to_owned();
            }
            // A value without a name is still what it was.
            (StepPlace::Variable(VariableName::Expression), _) => {}
            (StepPlace::Variable(named), _) => carried = variable(named),
            (StepPlace::Statement(_) | StepPlace::Function { .. }, _) => {}
        }
        if let Some((place, text)) = said {
            links.push(Link { side: step.side, place, text });
        }
    }
    links
}

/// The place among the links of a chain of the first that has a step from a place on.
pub(super) fn cut(chain: &[Step], place: usize) -> usize {
    let all = links(chain).len();
    links(chain.get(..place).unwrap_or(chain)).len().min(all.saturating_sub(1))
}

/// What is nearest to a statement at the end of a chain: what it reads, or why it may run at other times.
pub(super) fn nearest(chain: &[Step]) -> Option<String> {
    links(chain).pop().map(|link| link.text)
}

fn of_statement(rule: Rule, carried: &str) -> String {
    match rule {
        Rule::SyntChanged => "changed".to_owned(),
        Rule::Rewired => "has the same text, but what it reads, calls or writes is another".to_owned(),
        Rule::ControlImpact => "runs or not depending on that".to_owned(),
        Rule::ArgumentToNode => format!("passes {carried} on"),
        _ => format!("uses {carried}"),
    }
}

/// What is said of the beginning or the end of a function, or of where ways meet in it: nothing where a value only passes.
fn of_function(rule: Rule, name: &str) -> Option<String> {
    match rule {
        Rule::SyntChanged | Rule::Rewired => Some(format!("the parameters or the results of {name} changed")),
        Rule::ControlImpact => Some(format!("so {name} may take another way")),
        _ => None,
    }
}

/// What is said of a variable. Values that stay in a function need no word.
fn of_variable(rule: Rule, named: &VariableName) -> Option<String> {
    let is_within = matches!(named, VariableName::Local(_) | VariableName::Expression);
    let is_result = matches!(named, VariableName::Returned { .. } | VariableName::Raised { .. });
    match rule {
        Rule::SummaryImpact if matches!(named, VariableName::Local(_)) => {
            Some(format!("a call makes {} of it", variable(named)))
        }
        // The summary of the function is the next step.
        Rule::NodeToVar if is_result => None,
        _ if is_within => None,
        _ => Some(format!("so {} may be another", variable(named))),
    }
}

/// A variable in words.
pub(super) fn variable(named: &VariableName) -> String {
    match named {
        VariableName::Local(local) if &**local == "return" => "what it returns".to_owned(),
        VariableName::Local(local) => format!("the variable {local}"),
        VariableName::Expression => "its value".to_owned(),
        VariableName::Called { path, function } => format!("how often {} runs", name(path, function)),
        VariableName::Parameter { path, function, name: own } => {
            format!("the parameter {own} of {}", name(path, function))
        }
        VariableName::Returned { path, function } => format!("what {} returns", name(path, function)),
        VariableName::Raised { path, function } => format!("what {} raises", name(path, function)),
        VariableName::Global { path, name } => format!("the global {name} of {path}"),
        VariableName::Captured { path, function, name: own } => {
            format!("the variable {own} of {}", name(path, function))
        }
        VariableName::Default { path, function, parameter } => {
            format!("the default of {parameter} of {}", name(path, function))
        }
        VariableName::Attribute(attribute) => format!("the attribute {attribute}"),
        VariableName::AnyAttribute => "an attribute whose name the text does not say".to_owned(),
        VariableName::Items => "the items of a container".to_owned(),
        VariableName::ItemsOfAttribute(attribute) => format!("the items of the attribute {attribute}"),
        VariableName::ItemsOfVariable(holder) => format!("the items of {holder}"),
        VariableName::Consumption => "how far a generator is consumed".to_owned(),
        VariableName::Outside => "the state outside of the project".to_owned(),
    }
}

/// What a function is called, or the body of a module.
pub(super) fn name(path: &str, function: &str) -> String {
    if function.is_empty() { format!("the module {path}") } else { function.to_owned() }
}
