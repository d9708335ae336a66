//! The example of a change: the call on the values that show it, and what each version makes of it.

use twincell_syntax::PerSide;
use twincell_values::value::Choice;

/// What the statements of a module are called where a function has its name.
pub const STATEMENTS: &str = "statements outside functions";

/// The example that shows a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// The call on the values that show the change: `f(x=0)`. Empty for the statements of a module, of which a name that
    /// they bind says enough.
    pub call: String,
    pub contrast: Contrast,
    /// The further values that show it.
    pub conditions: Vec<Condition>,
    /// Whether only a value shows it that is unlikely there.
    pub unlikely: bool,
}

/// What differs at one place. Without a place and values, nobody knows what differs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contrast {
    /// What differs, in front of both: `stdout`, `calls`, `x afterwards`. Empty where a call's outcomes differ.
    pub place: String,
    /// What each version shows there. `None` where it has nothing of the kind.
    pub shown: PerSide<Option<String>>,
}

/// A decision that an example needs, and where the code has what it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub choice: Choice,
    pub call: CallSite,
}

/// Where the code has a call whose callee only a value tells: `stream.write('a')` for `None.write('a')`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallSite {
    /// The call with the callee that the code has.
    Code(String),
    /// The line in its file.
    Line(u32),
    /// Its path says enough, or nothing is known.
    Unknown,
}
