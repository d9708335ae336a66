//! Why a case has no reproducer of some style. The sentences stand here, and nowhere else.

use twincell_behavior::{display_decision, display_slot};
use twincell_engine::observed::{Outcome, Slot};
use twincell_values::value::Decision;

/// Why a reproducer of some style is impossible. The sentences stand after `no reproducer: `.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Refusal {
    // The case.
    #[error("the witness has not run both versions")]
    NotBothRan,
    #[error("there is no evidence")]
    NoEvidence,
    #[error("more than one thing differs")]
    SeveralDifferences,
    #[error("classes and snippets have no test with stand-ins")]
    OnlyFunctionsHaveStandins,
    #[error("it is not a class")]
    NotAClass,
    #[error("it is not a snippet")]
    NotASnippet,

    // The functions beside the test.
    #[error("{0} cannot stand beside itself")]
    BesideItself(String),
    #[error("pytest would change the message of its assertion")]
    OwnAssertion,
    #[error("it needs its class")]
    NeedsItsClass,
    #[error("the parameter {0} has a name of the test's")]
    ParameterOfTheTest(String),
    #[error("{0} is a name of the test's")]
    NameOfTheTest(String),
    #[error("the modules differ in what the functions need of them")]
    ModulesDiffer,
    #[error("nothing of the module is needed")]
    NoModuleNeeded,
    #[error("'{0}' is imported by the module")]
    Imported(String),

    // The call and its arguments.
    #[error("the argument {0} was no value")]
    ArgumentIsNoValue(String),
    #[error("the argument {0} was not recorded")]
    ArgumentNotRecorded(String),
    #[error("the argument {0} was left out")]
    ArgumentLeftOut(String),
    #[error("objects among further arguments")]
    ObjectsAmongFurtherArguments,
    #[error("a second object under the same name")]
    SecondObjectOfTheName,
    #[error("an object of the class itself")]
    ObjectOfTheClass,
    #[error("the versions are called in different ways")]
    CalledDifferently,
    #[error("the versions are used in different ways")]
    UsedDifferently,
    #[error("a call that needs more")]
    NeedsMoreThanACall,
    #[error("an attribute is set from outside")]
    SetFromOutside,
    #[error("{0} is inherited")]
    Inherited(String),
    #[error("{0} is decorated")]
    Decorated(String),
    #[error("an asynchronous generator without end")]
    EndlessAsyncGenerator,
    #[error("an iterator without end")]
    EndlessIterator,

    // The injected values.
    #[error("{path} was injected ({})", display_decision(decision))]
    WasInjected { path: String, decision: Decision },
    #[error("two values have the same path {0} where it is cut off")]
    SamePath(String),
    #[error("an object that is also another one")]
    SharedObject,
    #[error("a plain value that is asked for what it does not have")]
    ExtendedValue,
    #[error("objects in a set")]
    ObjectsInASet,
    #[error("the attribute {0} of a mock")]
    AttributeOfAMock(String),
    #[error("a mock without an attribute")]
    MockWithoutAttribute,
    #[error("an object with items and attributes")]
    ItemsAndAttributes,
    #[error("items beyond the length")]
    ItemsBeyondLength,
    #[error("a length of what is looked up by key")]
    LengthOfAMapping,

    // What is compared.
    #[error("the old version did not end")]
    OldDidNotEnd,
    #[error("the old version did not end in a way that can be asserted: {0:?}")]
    OldOutcome(Box<Outcome>),
    #[error("the class {0} is not here")]
    MissingClass(String),
    #[error("the arguments of an exception")]
    ArgumentsOfAnException,
    #[error("messages are compared")]
    Messages,
    #[error("calls of what is not there are compared")]
    CallsOfMissing,
    #[error("calls differ in a way that a mock does not say")]
    CallsBeyondAMock,
    #[error("no call")]
    NoCall,
    #[error("a call is compared whose arguments were not observed in full")]
    CallNotObservedInFull,
    #[error("a value that no literal says in full is compared")]
    NoLiteral,
    #[error("a value that no expression says in full is compared")]
    NoExpression,
    #[error("a value is compared that was not observed in full")]
    NotObservedInFull,
    #[error("equal values of other classes")]
    EqualOfOtherClasses,
    #[error("{} differs", display_slot(.0))]
    SlotDiffers(Slot),
    #[error("{0} after the call is compared")]
    AfterTheCall(String),
    #[error("what is compared cannot be reached")]
    OutOfReach,
    #[error("a global that the old version does not assign")]
    GlobalNotAssigned,
    #[error("an object that the old version does not change")]
    ObjectNotChanged,
    #[error("what was assigned cannot be said")]
    UnsayableAssignment,
    #[error("what was assigned is the same")]
    SameAssignments,
    #[error("what the class has")]
    ClassNotObserved,
    #[error("a step that was not recorded")]
    StepNotRecorded,
    #[error("only the new version gets so far")]
    OnlyNewGetsThere,
    #[error("what is not seen of the object is compared")]
    NotSeenOfTheObject,
    #[error("no attribute that can be told differs")]
    NoAttributeDiffers,
    #[error("what is not bound is compared")]
    UnboundIsCompared,
    #[error("a name that is not bound")]
    NameNotBound,
    #[error("the name has changed")]
    NameChanged,
    #[error("the old version does not bind it")]
    OldDoesNotBind,
}
