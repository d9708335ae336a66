//! What code reveals about values: how it uses them, what it compares them with, what it declares, and its literals.

mod attributes;
mod bindings;
mod conditions;
mod constants;
mod constructors;
pub mod examples;
mod hints;
mod imported;
mod inferred;
mod installed;
mod literals;
mod mapped;
mod models;
mod moments;
mod provided;
mod stored;
mod tables;
mod tested;
mod types;
mod uses;

pub use attributes::{attribute_hints, kept_parameters};
pub use conditions::{Condition, Conditions, Decided, Term, conditions};
pub use constants::{Constants, constants};
pub use hints::{
    Hint, HintBasis, annotated_type, apply as apply_hints, apply_constants, field_hints, hints, hints_within,
};
pub use imported::Around;
pub use literals::{literals, written_value};
pub use models::ModuleFacts;
pub use uses::{Key, Locals, ModuleContext, Reading, Uses, literal, parsed, read, read_within};
