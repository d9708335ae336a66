//! Why a case has no reproducer of some style, and why one that was written does not hold. The sentences stand here, and
//! nowhere else.

use twincell_behavior::{display_decision, display_outcome, display_slot};
use twincell_engine::observed::{Outcome, Slot};
use twincell_values::value::Decision;

/// Why a reproducer of some style is impossible. Each is a clause that fits after `no reproducer: ` and
/// after `because`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Refusal {
    // The case.
    #[error("only one version ran in the witness")]
    NotBothRan,
    #[error("there is no evidence")]
    NoEvidence,
    #[error("the new version does not end, and neither would the test")]
    NewDidNotEnd,
    #[error("more than one thing differs")]
    SeveralDifferences,
    #[error("stand-ins replace missing objects in tests of functions only, not of classes and snippets")]
    OnlyFunctionsHaveStandins,
    #[error("one of the versions is not a class")]
    NotAClass,
    #[error("one of the versions is not a snippet")]
    NotASnippet,

    // The functions beside the test.
    #[error("the test cannot define {0} at its top level")]
    BesideItself(String),
    #[error("a function has an assertion, whose message pytest would change")]
    OwnAssertion,
    #[error("a function refers to its own class, which the test does not have")]
    NeedsItsClass,
    #[error("it is no method that is called on an object")]
    NotOfAnObject,
    #[error("the class of the method is not here, or too long")]
    ClassNotHere,
    #[error("the member {0} of the class was replaced")]
    MemberReplaced(String),
    #[error("the object itself is called, or has items")]
    MoreThanAttributes,
    #[error("the test cannot set the attribute {0}")]
    AttributeNotSet(String),
    #[error("the test has no name left for the object")]
    NoNameForTheObject,
    #[error("the test itself uses the name of the parameter {0}")]
    ParameterOfTheTest(String),
    #[error("the test itself uses the name {0}")]
    NameOfTheTest(String),
    #[error("the parts of the modules that the functions need differ, or are too long")]
    ModulesDiffer,
    #[error("the functions need nothing of the module")]
    NoModuleNeeded,
    #[error("the module imports {0}, and this test is without the module")]
    Imported(String),

    // The call and its arguments.
    #[error("the witness has no value for the argument {0}")]
    ArgumentIsNoValue(String),
    #[error("the argument {0} was not recorded")]
    ArgumentNotRecorded(String),
    #[error("the argument {0} was left out, and it has no default")]
    ArgumentLeftOut(String),
    #[error("there are objects among further arguments")]
    ObjectsAmongFurtherArguments,
    #[error("two objects have the same name")]
    SecondObjectOfTheName,
    #[error("an argument is an object of the class under test")]
    ObjectOfTheClass,
    #[error("the versions are called in different ways")]
    CalledDifferently,
    #[error("the objects of the versions are used in different ways")]
    UsedDifferently,
    #[error("a call alone does not give the result")]
    NeedsMoreThanACall,
    #[error("an attribute is set from outside")]
    SetFromOutside,
    #[error("the test cannot make the operation that asks for {0}")]
    OperationNotWritten(String),
    #[error("the method {0} is inherited")]
    Inherited(String),
    #[error("the method {0} is decorated")]
    Decorated(String),
    #[error("the result is an asynchronous generator that was not read to its end")]
    EndlessAsyncGenerator,
    #[error("a value is an iterator that was not read to its end")]
    EndlessIterator,

    // The injected values.
    #[error("{path} was injected ({})", display_decision(decision))]
    WasInjected { path: String, decision: Decision },
    #[error("two values have the same path once it is cut off: {0}")]
    SamePath(String),
    #[error("one object is reached by two paths")]
    SharedObject,
    #[error("a plain value has attributes or is called")]
    ExtendedValue,
    #[error("a set or the keys of a dictionary hold objects")]
    ObjectsInASet,
    #[error("a mock cannot have the attribute {0}")]
    AttributeOfAMock(String),
    #[error("a mock cannot lack an attribute")]
    MockWithoutAttribute,
    #[error("an object has items and attributes")]
    ItemsAndAttributes,
    #[error("an object has items beyond its length, or too many")]
    ItemsBeyondLength,
    #[error("an object has keys and a length")]
    LengthOfAMapping,

    #[error("it asks several programs or servers")]
    SeveralOutside,

    #[error("no literal gives {0}")]
    GivenObject(String),

    // What is compared.
    #[error("the old version neither returned nor raised an exception that a test can name")]
    OldDidNotEnd,
    #[error("no test can assert how the old version ended: it {}", display_outcome(.0))]
    OldOutcome(Box<Outcome>),
    #[error("the test does not have the exception class {0}")]
    MissingClass(String),
    #[error("no literal gives the arguments of the exception")]
    ArgumentsOfAnException,
    #[error("messages to loggers, or warnings, are compared")]
    Messages,
    #[error("calls of missing objects are compared")]
    CallsOfMissing,
    #[error("the calls differ in a way that a mock cannot assert")]
    CallsBeyondAMock,
    #[error("no call was observed")]
    NoCall,
    #[error("the arguments of a compared call were not observed in full")]
    CallNotObservedInFull,
    #[error("no literal gives a compared value in full")]
    NoLiteral,
    #[error("no expression gives a compared value in full")]
    NoExpression,
    #[error("a compared value was not observed in full")]
    NotObservedInFull,
    #[error("the versions give equal values of different classes")]
    EqualOfOtherClasses,
    #[error("the test cannot assert {}", display_slot(.0))]
    SlotDiffers(Slot),
    #[error("the test cannot assert {0} after the call")]
    AfterTheCall(String),
    #[error("the test cannot reach what is compared")]
    OutOfReach,
    #[error("the old version does not assign the global that is compared")]
    GlobalNotAssigned,
    #[error("the old version does not change the object that is compared")]
    ObjectNotChanged,
    #[error("the order of a set is compared, which is another one in each process")]
    OrderOfASet,
    #[error("a value names a folder that only the worker has")]
    FolderOfTheWorker,
    #[error("the test cannot assert what was assigned")]
    UnsayableAssignment,
    #[error("the assignments are the same")]
    SameAssignments,
    #[error("what the class holds was not observed")]
    ClassNotObserved,
    #[error("the end of a use of the object was not recorded")]
    StepNotRecorded,
    #[error("only the new version gets as far as the difference")]
    OnlyNewGetsThere,
    #[error("the test of a class cannot assert arguments, messages or warnings")]
    NotSeenOfTheObject,
    #[error("no attribute that a test can assert differs")]
    NoAttributeDiffers,
    #[error("the witnesses are no calls that differ in one argument")]
    NoTable,
    #[error("the difference is not in a name that the snippet binds")]
    UnboundIsCompared,
    #[error("the old version does not bind the name that is compared")]
    NameNotBound,
    #[error("the name that is compared was renamed")]
    NameChanged,
    #[error("the old version did not bind a value to the name that is compared")]
    OldDoesNotBind,
}

/// Why a reproducer does not hold, or why nobody knows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum Failure {
    #[error("it fails on the old version: {0}")]
    FailsOnOld(String),
    #[error("it passes on the new version")]
    PassesOnNew,
    /// The change is not why it fails there.
    #[error("it fails on the new version since it has no {0}")]
    Lacks(String),
    #[error("it holds only at the time of the witness; at another time it fails on the old version: {0}")]
    FailsOnOldElsewhere(String),
    #[error("it holds only at the time of the witness; at another time it passes on the new version")]
    PassesOnNewElsewhere,
    /// An effect that the sandbox refused would happen elsewhere.
    #[error("it reaches outside the process: {0}")]
    ReachesOutside(String),
    #[error("it reads {0}, which the sandbox refused and other places do not")]
    Reads(String),
    #[error("it waits for {0} s")]
    Waits(f64),
    /// The worker could not run it.
    #[error("{0}")]
    NotRun(String),
}
