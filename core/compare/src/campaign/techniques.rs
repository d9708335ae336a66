//! Which ideas a search may use, and the comparison after it: all of them, unless an ablation leaves one out.

use serde::{Deserialize, Serialize};

/// The techniques of a search and of comparing, each of which can be left out to see what it is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Techniques {
    /// Executions that reached something new are varied; without it every execution is drawn afresh.
    pub learning: bool,
    /// Values that injected ones are compared with at run time join the candidates.
    pub observation: bool,
    /// Conditions that no execution has decided the other way are solved.
    pub directed: bool,
    /// A choice that caused an unintended exception is repaired.
    pub repair: bool,
    /// Annotations, defaults and documented types of parameters weigh predictions.
    pub hints: bool,
    /// What a call can do is told by its name and use; without it every call that is recorded counts as an action.
    pub calls: bool,
    /// What is there is injected all the same, where real results keep executions away from what changed.
    pub substitution: bool,
}

impl Default for Techniques {
    fn default() -> Self {
        Self {
            learning: true,
            observation: true,
            directed: true,
            repair: true,
            hints: true,
            substitution: true,
            calls: true,
        }
    }
}

impl Techniques {
    /// The names by which techniques are left out.
    pub const NAMES: [&str; 7] = ["learning", "observation", "directed", "repair", "hints", "substitution", "calls"];

    /// Leaves the technique of this name out; `false` when there is none.
    pub fn leave_out(&mut self, name: &str) -> bool {
        let technique = match name {
            "learning" => &mut self.learning,
            "observation" => &mut self.observation,
            "directed" => &mut self.directed,
            "repair" => &mut self.repair,
            "hints" => &mut self.hints,
            "calls" => &mut self.calls,
            "substitution" => &mut self.substitution,
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
