//! Proofs that two functions do the same, without running them.
//!
//! [`prove`] takes the texts of two functions and what their names mean ([`Names`]), and gives an [`Answer`]. `lower` makes
//! blocks of simple steps of a function. `walk` follows both versions in lockstep over symbolic values: `operation` says what
//! each step of Python does with them, `term` and `simplify` keep equal values equal, `facts` has what is known on a path, and
//! `loops` finds the relation that holds between the variables of two loops. Effects must come in the same order on the same
//! values in both versions, and so must exceptions.
//!
//! Never is a proof a guess: what is not understood is [`Answer::Unknown`] with the reason. A proof holds for the types of
//! arguments that it names. Deliberately absent: running anything, clocks, sentences. A solver would take its place in `facts`,
//! which decides conditions, and where `unify` finds two values different.
//!
//! ```
//! use twincell_prove::{Answer, ModuleNames, prove};
//!
//! let old = "def sign(x):\n    if x is not None:\n        return x.sign\n    return None\n";
//! let new = "def sign(x):\n    return None if x is None else x.sign\n";
//! let names = ModuleNames::new([old, new], ["sign", "sign"]);
//! assert!(matches!(prove(old, new, &names), Answer::Equivalent(proof) if proof.arguments.is_empty()));
//!
//! let other = "def sign(x):\n    return x.sign\n";
//! assert!(matches!(prove(old, other, &names), Answer::Unknown(_)));
//! ```

mod bindings;
mod constant;
mod facts;
mod frame;
mod interface;
mod loops;
mod lower;
mod names;
mod operation;
mod program;
mod prove;
mod refused;
mod result;
mod simplify;
mod state;
mod term;
mod types;
mod unify;
mod usage;
mod walk;

/// How many calls deep a proof is worth looking.
pub const DEPTH: u32 = 3;

pub use names::{Definition, Meaning, ModuleNames, Names};
pub use prove::prove;
pub use result::{Answer, Argument, Assumption, Construct, Proof, Reason, Rule, Unknown};
