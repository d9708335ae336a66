//! What a proof says: plain data that serializes. Sentences are made elsewhere.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What can be said of two functions without running them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Answer {
    /// Both do the same on all arguments of the given types.
    Equivalent(Proof),
    /// Nothing is known: neither that they do the same nor that they differ.
    Unknown(Unknown),
}

/// Why two functions do the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// What the proof rests on, beyond equal order of equal operations.
    pub rules: BTreeSet<Rule>,
    /// The arguments for which it holds. Parameters that are not named may have any value.
    pub arguments: Vec<Argument>,
    pub assumptions: BTreeSet<Assumption>,
    /// The functions of the module whose bodies stand in the place of calls of them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub looked_into: BTreeSet<String>,
}

/// The exact type that a parameter is assumed to have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Argument {
    pub parameter: String,
    /// `int`, `list[str]`. Values of subclasses do not count: `True` is no `int` here.
    pub class: String,
}

/// A way in which two texts may differ and mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The same conditions decide, in another shape.
    Branches,
    /// Loops keep a relation between the variables of both versions.
    Loops,
    /// Calls of the function itself do the same, by induction.
    Recursion,
    /// The ring of whole numbers, their order, and division by what is not zero.
    Arithmetic,
    /// Texts are sequences of parts.
    Texts,
    /// Containers that nobody else can see are values.
    OwnContainers,
    /// What lists and dictionaries of known types hold changes only where the text changes it.
    Containers,
}

/// What is taken for granted. Any proof also assumes that memory, stack and digits suffice, that nobody looks into frames, that
/// no code asks for the identity of numbers, texts and tuples, for what an exception happened in, or when objects are destroyed, that
/// assertions are on, and that nothing replaces builtins while the function runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assumption {
    /// The module binds the name before the function runs, and nothing rebinds it while the function runs.
    StableName(String),
    /// `isinstance` with a builtin class has no effect of its own.
    PlainClasses,
}

/// What stopped the proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    pub reason: Reason,
    /// The 1-based lines of the two texts at which it stopped, 0 where none tells.
    pub lines: (u32, u32),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// One of the texts is no single function.
    NoFunction,
    /// Parameters, their defaults, decorators or the kind of the function differ.
    Interface,
    /// The text has something that is not lowered.
    Construct(Construct),
    /// The name means something else in the two versions.
    Name(String),
    /// An operation of one version has no equal partner in the other.
    Operations,
    /// One version ends where the other goes on, or ends in another way.
    Ends,
    /// The results differ as far as the rules can tell.
    Results,
    /// A container is shared in a way that is not followed through a loop.
    Aliases,
    /// The bound of steps was reached.
    Budget,
}

/// Constructs of Python that are not lowered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Construct {
    AsyncComprehension,
    AsyncLoop,
    AsyncWith,
    Class,
    Closure,
    Default,
    Display,
    ExceptStar,
    Exceptions,
    Frames,
    Generator,
    Identity,
    Match,
    Nonlocal,
    OwnName,
    SpecialName,
    StarArgument,
    StarImport,
    Surrogate,
    Template,
    TypeAlias,
    TypeParameters,
    Unbound,
    Unparsed,
    UnsafeFormat,
}
