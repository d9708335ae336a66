//! The types of the state in TypeScript: `widgets/js/src/state.ts` is written from the types of this module's parent, and
//! a test fails when it is out of date.

use std::path::Path as File;

use serde::Serialize;
use serde_json::to_value;
use ts_rs::{Config, TS};

use crate::{
    ImpactFileState, ImpactFunctionState, ImpactLevelState, ImpactLineState, ImpactLink, ImpactPrunedState,
    ImpactState, ImpactStatementState, NoticeLine, SliceFailedTest, SliceNameNeed, SlicePoint, SliceProgress,
    SliceStage, SliceState, SliceStep, SliceUnitState, SliceWhy,
};

use crate::amplified::state::{AmplificationState, AmplifiedState, FormState};
use crate::prefixes::state::{CodeLine, PrefixNode, PrefixesState};

use super::{
    AlignedRow, Branch, CallRow, ComparisonState, Detail, DetailValue, Divergence, Evidence, Execution, FinalValue,
    InjectedValue, InputWeight, Label, Line, PairState, Part, Path, Reproducer, STATE_FORMAT, StudyRow, StudyState,
    Varied, VariedTogether, VariedValue, Version, VersionRun,
};

/// What a type of the analysis looks like in a state. The `match` does not compile when a variant is missing here.
macro_rules! mirror {
    ($name:ident of $origin:path: $($variant:ident),+) => {
        #[derive(Serialize, TS)]
        #[serde(rename_all = "snake_case")]
        #[ts(rename_all = "snake_case")]
        pub enum $name { $($variant),+ }

        impl $name {
            fn check() {
                use $origin as Origin;
                let _: fn(Origin) -> Self = |of| match of { $(Origin::$variant => Self::$variant),+ };
                $(assert_eq!(to_value(Self::$variant).ok(), to_value(Origin::$variant).ok());)+
            }
        }
    };
}

mirror!(Verdict of twincell_compare::verdict::Verdict: Changing, LikelyPreserving, Inconclusive, Identical);
mirror!(Channel of twincell_behavior::Channel: Return, Arguments, Output, Log, Calls, Exception);
mirror!(Strength of twincell_behavior::Strength: Observable, CallPattern);
mirror!(VariedOutcome of twincell_compare::report::VariedOutcome: Differs, Same, Nothing);
mirror!(SliceEnded of twincell_slice::Ended: Minimal, Budget, Deadline, Interrupted);
mirror!(SliceGoal of twincell_slice::Goal: Pass, Fail);
mirror!(Stream of twincell_behavior::Stream: Stdout, Stderr);

/// Where in its channel a difference is.
#[derive(Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[ts(tag = "kind", rename_all = "snake_case")]
pub enum EvidencePlace {
    ReturnValue,
    Exception,
    Left { slot: Slot },
    Output { stream: Stream },
    Message { number: usize },
    Call { number: usize },
}

/// Where a value is that an execution leaves behind beside its result.
#[derive(Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename_all = "snake_case")]
pub enum Slot {
    Argument(String),
    Reordered(String),
    Global(String),
    Name(String),
    Awaited,
    Yielded,
    YieldedAfterwards,
    GeneratorValue,
    Callback(usize),
    Descriptor,
    ClassAttributes,
    EnumMembers,
    Use { step: u32, member: String },
    Same { place: String, other: String },
    Kept(String),
    Rebound(String),
    Again,
    Repeats,
    Stored(String),
    Cause,
    File(String),
}

impl From<twincell_behavior::EvidencePlace> for EvidencePlace {
    fn from(place: twincell_behavior::EvidencePlace) -> Self {
        use twincell_behavior::EvidencePlace as Origin;
        match place {
            Origin::ReturnValue => Self::ReturnValue,
            Origin::Exception => Self::Exception,
            Origin::Left { slot } => Self::Left { slot: slot.into() },
            Origin::Output { stream: twincell_behavior::Stream::Stdout } => Self::Output { stream: Stream::Stdout },
            Origin::Output { stream: twincell_behavior::Stream::Stderr } => Self::Output { stream: Stream::Stderr },
            Origin::Message { number } => Self::Message { number },
            Origin::Call { number } => Self::Call { number },
        }
    }
}

impl From<twincell_engine::observed::Slot> for Slot {
    fn from(slot: twincell_engine::observed::Slot) -> Self {
        use twincell_engine::observed::Slot as Origin;
        match slot {
            Origin::Argument(path) => Self::Argument(path),
            Origin::Reordered(path) => Self::Reordered(path),
            Origin::Global(name) => Self::Global(name),
            Origin::Name(name) => Self::Name(name),
            Origin::Awaited => Self::Awaited,
            Origin::Yielded => Self::Yielded,
            Origin::YieldedAfterwards => Self::YieldedAfterwards,
            Origin::GeneratorValue => Self::GeneratorValue,
            Origin::Callback(number) => Self::Callback(number),
            Origin::Descriptor => Self::Descriptor,
            Origin::ClassAttributes => Self::ClassAttributes,
            Origin::EnumMembers => Self::EnumMembers,
            Origin::Use { step, member } => Self::Use { step, member },
            Origin::Same { place, other } => Self::Same { place, other },
            Origin::Kept(place) => Self::Kept(place),
            Origin::Rebound(name) => Self::Rebound(name),
            Origin::Again => Self::Again,
            Origin::Repeats => Self::Repeats,
            Origin::Stored(place) => Self::Stored(place),
            Origin::Cause => Self::Cause,
            Origin::File(path) => Self::File(path),
        }
    }
}

/// The maximum number of columns of the file.
const WIDTH: usize = 120;

/// The whole file.
fn file() -> String {
    let config = Config::default();
    let mut text = "// The state that the kernel sends, as JSON. Written from the types of widgets/src/state by its tests, and not by\n\
        // hand. Strings are raw: they come from user code and go through `plain` before they are shown.\n"
        .to_owned();
    text.push_str(&format!(
        "\n/** Version of the state's shape: the view refuses another one. */\nexport const STATE_FORMAT = {STATE_FORMAT};\n"
    ));
    let mut declare = |declaration: String, docs: Option<String>| {
        text.push('\n');
        text.push_str(&comment(&docs.unwrap_or_default(), ""));
        text.push_str(&format!("export {}\n", formatted(&declaration)));
    };
    macro_rules! declare {
        ($($type:ty),+) => { $(declare(<$type as TS>::decl(&config), <$type as TS>::docs());)+ };
    }
    declare!(Verdict, Channel, Strength, Stream, VariedOutcome, EvidencePlace, Slot);
    declare!(ComparisonState<'static>, PairState<'static>, Version<'static>, Part, Line<'static>);
    declare!(Branch, AlignedRow, Execution<'static>, Evidence, Path<'static>, InjectedValue<'static>);
    declare!(
        Reproducer<'static>,
        Detail,
        VersionRun,
        FinalValue,
        DetailValue,
        CallRow,
        Divergence,
        Varied,
        VariedValue,
        VariedTogether,
        InputWeight,
        StudyState,
        NoticeLine,
        StudyRow,
        Label
    );
    declare!(AmplificationState<'static>, AmplifiedState<'static>, FormState<'static>);
    declare!(PrefixesState<'static>, CodeLine<'static>, PrefixNode<'static>);
    declare!(SliceState, SliceUnitState, SliceWhy, SliceFailedTest, SliceNameNeed, SliceStep, SliceEnded, SliceGoal);
    declare!(SliceProgress, SliceStage, SlicePoint);
    declare!(
        ImpactState,
        ImpactLevelState,
        ImpactFileState,
        ImpactLineState,
        ImpactFunctionState,
        ImpactStatementState,
        ImpactPrunedState,
        ImpactLink
    );
    text
}

/// A declaration with one field or alternative a line, as Prettier writes it.
fn formatted(declaration: &str) -> String {
    if declaration.len() > WIDTH
        && let Some((head, alternatives)) = declaration.trim_end_matches(';').split_once(" = ")
        && alternatives.contains(" | ")
        && !alternatives.contains("/**")
    {
        let lines: String = alternatives.split(" | ").map(|one| format!("\n  | {}", on_one_line(one))).collect();
        return format!("{head} ={lines};");
    }
    let parts = declaration.strip_suffix("};").and_then(|rest| rest.split_once(" = {"));
    let Some((head, fields)) = parts else { return declaration.to_owned() };
    let mut out = format!("{} {{\n", head.replacen("type", "interface", 1));
    let mut rest = fields.trim();
    while !rest.is_empty() {
        if let Some((docs, after)) = rest.strip_prefix("/**").and_then(|rest| rest.split_once("*/")) {
            out.push_str(&comment(docs, "  "));
            rest = after.trim_start();
        }
        let end = end_of_field(rest);
        out.push_str(&format!("  {};\n", rest[..end].trim()));
        rest = rest[end..].trim_start_matches(',').trim_start();
    }
    out + "}"
}

/// An object type on one line, and any other type as it stands.
fn on_one_line(written: &str) -> String {
    let Some(mut rest) = written.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        return written.to_owned();
    };
    let mut fields = Vec::new();
    while !rest.trim().is_empty() {
        let end = end_of_field(rest);
        if let Some((name, of)) = rest[..end].split_once(':') {
            fields.push(format!("{}: {}", name.trim().trim_matches('"'), on_one_line(of.trim())));
        }
        rest = rest[end..].trim_start_matches(',');
    }
    format!("{{ {} }}", fields.join("; "))
}

/// Where the first field ends: at a comma that stands in no brackets.
fn end_of_field(fields: &str) -> usize {
    let mut depth = 0;
    let is_end = |character| {
        match character {
            '<' | '[' | '{' => depth += 1,
            '>' | ']' | '}' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    };
    fields.find(is_end).unwrap_or(fields.len())
}

/// What Rust says of a type or field, as a comment before it. Links become code.
fn comment(docs: &str, indent: &str) -> String {
    let lines = docs.lines().map(|line| line.trim().trim_start_matches(['/', '*']).trim_end_matches(['*', '/']).trim());
    let text = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let text = text.replace("[`", "`").replace("`]", "`").replace("::", ".");
    match text.len() {
        0 => String::new(),
        length if length + indent.len() + 7 <= WIDTH => format!("{indent}/** {text} */\n"),
        _ => {
            let lines = textwrap::wrap(&text, 117 - indent.len());
            let lines: String = lines.iter().map(|line| format!("{indent} * {line}\n")).collect();
            format!("{indent}/**\n{lines}{indent} */\n")
        }
    }
}

#[test]
fn enumerations_of_the_analysis_are_told_as_they_are_sent() {
    Verdict::check();
    Channel::check();
    Strength::check();
    SliceEnded::check();
    SliceGoal::check();
    Stream::check();
    VariedOutcome::check();
}

#[test]
fn places_of_evidence_are_told_as_they_are_sent() {
    use twincell_behavior::{EvidencePlace as Origin, Stream};
    use twincell_engine::observed::Slot;
    let left = |slot| Origin::Left { slot };
    let places = [
        Origin::ReturnValue,
        Origin::Exception,
        Origin::Output { stream: Stream::Stdout },
        Origin::Output { stream: Stream::Stderr },
        Origin::Message { number: 1 },
        Origin::Call { number: 2 },
        left(Slot::Argument("x.y".into())),
        left(Slot::Reordered("x.y".into())),
        left(Slot::Global("CACHE".into())),
        left(Slot::Name("total".into())),
        left(Slot::Awaited),
        left(Slot::Yielded),
        left(Slot::YieldedAfterwards),
        left(Slot::GeneratorValue),
        left(Slot::Callback(1)),
        left(Slot::Descriptor),
        left(Slot::ClassAttributes),
        left(Slot::EnumMembers),
        left(Slot::Use { step: 1, member: "add".into() }),
        left(Slot::Same { place: "result".into(), other: "items".into() }),
        left(Slot::Kept("result".into())),
        left(Slot::Rebound("CACHE".into())),
        left(Slot::Again),
        left(Slot::Repeats),
        left(Slot::Stored("request.callback".into())),
        left(Slot::Cause),
        left(Slot::File("a.txt".into())),
    ];
    for place in places {
        assert_eq!(to_value(EvidencePlace::from(place.clone())).ok(), to_value(place).ok());
    }
}

#[test]
fn the_types_of_the_view_are_those_of_the_state() {
    let path = File::new(env!("CARGO_MANIFEST_DIR")).join("js/src/state.ts");
    let text = file();
    if std::fs::read_to_string(&path).is_ok_and(|written| written == text) {
        return;
    }
    std::fs::write(&path, text).unwrap();
    panic!("widgets/js/src/state.ts was out of date and has been written anew; run make widgets");
}
