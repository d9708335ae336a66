//! Draws decisions: which class, which value of it, and how likely it was.

mod draw;
mod fitness;
mod given;
pub mod likelihood;
mod maker;
mod orders;
mod pools;
mod texts;

pub use draw::{Ask, Draw, PathKnowledge, Supply};
pub use orders::Orders;
pub use pools::Pools;
pub use texts::related;
