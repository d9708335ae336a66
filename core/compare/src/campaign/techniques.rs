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
        }
    }
}

impl Techniques {
    /// Those of the search.
    pub(super) fn methods(self) -> Methods {
        let Self { learning, observation, directed, mutation, .. } = self;
        Methods { learning, observation, directed, mutation }
    }

    /// The names by which techniques are left out.
    pub const NAMES: [&str; 9] =
        ["learning", "observation", "directed", "mutation", "hints", "replacement", "calls", "trial", "environments"];

    /// Leaves out the technique with this name. `false` if there is none.
    pub fn leave_out(&mut self, name: &str) -> bool {
        let technique = match name {
            "learning" => &mut self.learning,
            "observation" => &mut self.observation,
            "directed" => &mut self.directed,
            "mutation" => &mut self.mutation,
            "hints" => &mut self.hints,
            "calls" => &mut self.calls,
            "replacement" => &mut self.replacement,
            "trial" => &mut self.trial,
            "environments" => &mut self.environments,
            _ => return false,
        };
        *technique = false;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_technique_can_be_left_out_by_its_name() {
        for name in Techniques::NAMES {
            let mut techniques = Techniques::default();
            assert!(techniques.leave_out(name));
            assert_ne!(techniques, Techniques::default(), "{name}");
        }
        assert!(!Techniques::default().leave_out("nothing"));
    }
}
