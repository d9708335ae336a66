//! What somebody gives to a function, by what could be replaced with it.

/// What somebody gives to a function that it calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing whose functions could be replaced.
    Nothing,
    /// A function.
    Function,
    /// A module, a class, or something else that has functions.
    Holder,
    /// What it was given itself.
    Passed,
}

impl Level {
    /// What a function can be given from outside.
    pub const ALL: [Level; 3] = [Level::Nothing, Level::Function, Level::Holder];
}
