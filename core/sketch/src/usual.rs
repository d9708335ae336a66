//! What Python and libraries ask values to be: moments, texts of a form, numbers and arrays.

use ruff_python_ast::{Expr, ExprAttribute, ExprCall};

use twincell_values::reading::parsed;
use twincell_values::value::{ConstructorCall, Recipe};

use super::walk::Walk;
use super::{Id, Kind};

/// Functions of which all arguments are numbers, or tuples of such.
const TAKING_NUMBERS: &[&str] = &[
    "asyncio.BoundedSemaphore",
    "asyncio.Semaphore",
    "datetime.timedelta",
    "math.ceil",
    "math.cos",
    "math.exp",
    "math.floor",
    "math.log",
    "math.pow",
    "math.sin",
    "math.sqrt",
    "numpy.arange",
    "numpy.empty",
    "numpy.eye",
    "numpy.identity",
    "numpy.linspace",
    "numpy.logspace",
    "numpy.ones",
    "numpy.random.normal",
    "numpy.random.rand",
    "numpy.random.randint",
    "numpy.random.randn",
    "numpy.random.uniform",
    "numpy.zeros",
    "random.randint",
    "random.randrange",
    "random.uniform",
    "time.sleep",
];

/// Functions that ask for arrays.
const TAKING_ARRAYS: &[&str] = &[
    "numpy.argmax",
    "numpy.argmin",
    "numpy.argsort",
    "numpy.average",
    "numpy.corrcoef",
    "numpy.cov",
    "numpy.cumsum",
    "numpy.diff",
    "numpy.dot",
    "numpy.fill_diagonal",
    "numpy.flip",
    "numpy.hstack",
    "numpy.linalg.det",
    "numpy.linalg.eig",
    "numpy.linalg.eigh",
    "numpy.linalg.inv",
    "numpy.linalg.norm",
    "numpy.linalg.svd",
    "numpy.matmul",
    "numpy.median",
    "numpy.percentile",
    "numpy.ravel",
    "numpy.reshape",
    "numpy.shape",
    "numpy.size",
    "numpy.trace",
    "numpy.transpose",
    "numpy.vstack",
];

/// Attributes of arrays that little else has.
const OF_ARRAYS: &[&str] = &["T", "argmax", "argmin", "argsort", "astype", "ndim", "ravel", "reshape", "shape"];

/// Methods of moments that little else has.
const OF_MOMENTS: &[&str] = &["astimezone", "isoformat", "isoweekday", "strftime", "toordinal", "weekday"];

/// What arrays have.
const ALL_OF_ARRAYS: &[&str] = &[
    "T",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "astype",
    "base",
    "byteswap",
    "choose",
    "clip",
    "compress",
    "conj",
    "copy",
    "cumprod",
    "cumsum",
    "data",
    "diagonal",
    "dot",
    "dtype",
    "fill",
    "flat",
    "flatten",
    "imag",
    "item",
    "itemsize",
    "max",
    "mean",
    "min",
    "nbytes",
    "ndim",
    "nonzero",
    "partition",
    "prod",
    "ravel",
    "real",
    "repeat",
    "reshape",
    "resize",
    "round",
    "searchsorted",
    "shape",
    "size",
    "sort",
    "squeeze",
    "std",
    "strides",
    "sum",
    "swapaxes",
    "take",
    "tobytes",
    "tofile",
    "tolist",
    "trace",
    "transpose",
    "var",
];

/// What moments have.
const ALL_OF_MOMENTS: &[&str] = &[
    "astimezone",
    "combine",
    "ctime",
    "date",
    "day",
    "dst",
    "fold",
    "fromisocalendar",
    "fromisoformat",
    "fromordinal",
    "fromtimestamp",
    "hour",
    "isocalendar",
    "isoformat",
    "isoweekday",
    "max",
    "microsecond",
    "min",
    "minute",
    "month",
    "now",
    "replace",
    "resolution",
    "second",
    "strftime",
    "strptime",
    "time",
    "timestamp",
    "timetuple",
    "timetz",
    "today",
    "toordinal",
    "tzinfo",
    "tzname",
    "utcfromtimestamp",
    "utcnow",
    "utcoffset",
    "utctimetuple",
    "weekday",
    "year",
];

/// Words of names of times between moments.
const OF_DURATIONS: &[&str] = &["age", "delay", "delta", "duration", "interval", "offset", "period", "timeout", "ttl"];

/// The years of a moment before now, of one that stands for now, and of one after it.
const YEARS: [i64; 3] = [2000, 2050, 2100];

/// A moment of a class of `datetime`, by its place among the years.
fn moment(class: &str, year: i64) -> Recipe {
    let arguments = [year, 1, 1].map(Recipe::Int).to_vec();
    ConstructorCall { class: class.to_owned(), arguments, keywords: vec![] }.into()
}

/// What stands for the moment at which a snippet runs.
pub(crate) fn now(class: &str) -> Recipe {
    moment(class, YEARS[1])
}

fn array() -> Recipe {
    let row = |row: [f64; 2]| Recipe::List(row.map(Recipe::Float).to_vec());
    let rows = Recipe::List(vec![row([1.0, 2.0]), row([3.0, 4.0])]);
    ConstructorCall { class: "numpy.array".to_owned(), arguments: vec![rows], keywords: vec![] }.into()
}

pub(crate) fn is_array(value: &Recipe) -> bool {
    matches!(value, Recipe::Made(made) if made.class == "numpy.array")
}

/// The class of a moment and its year, if it is one.
pub fn of_moment(value: &Recipe) -> Option<(&str, i64)> {
    let Recipe::Made(made) = value else { return None };
    match (made.class.as_str(), made.arguments.first()) {
        (class @ ("datetime.datetime" | "datetime.date"), Some(Recipe::Int(year))) => Some((class, *year)),
        _ => None,
    }
}

/// Whether what a class makes has an attribute.
pub(crate) fn has(class: &str, attribute: &str) -> bool {
    match class {
        "numpy.array" => ALL_OF_ARRAYS.contains(&attribute),
        _ => ALL_OF_MOMENTS.contains(&attribute),
    }
}

/// Moments before and after now.
pub(crate) fn around_now(class: &str) -> Vec<Recipe> {
    [YEARS[0], YEARS[2]].map(|year| moment(class, year)).to_vec()
}

/// The class of the moment that a call gives.
fn class_of_call(origin: &str) -> Option<&'static str> {
    const GIVING: &[&str] = &[
        "combine",
        "fromisoformat",
        "fromordinal",
        "fromtimestamp",
        "now",
        "strptime",
        "today",
        "utcfromtimestamp",
        "utcnow",
    ];
    let (class, call) = [("datetime.datetime", "datetime.datetime"), ("datetime.date", "datetime.date")]
        .into_iter()
        .find_map(|(class, start)| Some((class, origin.strip_prefix(start)?)))
        .filter(|(_, rest)| rest.is_empty() || rest.starts_with('.'))?;
    (call.is_empty() || GIVING.contains(&&call[1..])).then_some(class)
}

impl Walk<'_> {
    /// Notes what a value is if nothing else is known.
    fn is_usually(&mut self, id: Id, usual: Recipe) {
        let value = self.sketch.value_mut(id);
        if !value.is_made && value.known.is_none() && value.kind.is_none() && value.usual.is_none() {
            value.usual = Some(usual);
        }
    }

    /// Notes what a call of something imported asks of its arguments, and what it gives.
    pub(super) fn note_usual(
        &mut self,
        origin: &str,
        node: &ExprCall,
        given: &[Id],
        named: &[(String, Id)],
        result: Id,
    ) {
        if let Some(class) = class_of_call(origin) {
            self.sketch.value_mut(result).moment = Some(class);
        }
        if let Some((subject, texts)) = parsed(node)
            && let (Some(at), Some(text)) =
                (node.arguments.args.iter().position(|argument| std::ptr::eq(argument, subject)), texts.first())
            && let Some(&id) = given.get(at)
        {
            self.is_usually(id, Recipe::Str(text.clone()));
        }
        if TAKING_NUMBERS.contains(&origin) {
            for &id in given.iter().chain(named.iter().map(|(_, id)| id)) {
                let parts = self.sketch.value(id).parts.clone();
                for id in std::iter::once(id).chain(parts) {
                    let value = self.sketch.value(id);
                    if !value.is_made && value.known.is_none() {
                        self.is_kind(id, Kind::Number);
                    }
                }
            }
        }
        let is_by_axis = origin.starts_with("numpy.") && named.iter().any(|(name, _)| name == "axis");
        if TAKING_ARRAYS.contains(&origin) || is_by_axis {
            let count = if matches!(origin, "numpy.dot" | "numpy.matmul") { 2 } else { 1 };
            given.iter().take(count).for_each(|&id| self.is_usually(id, array()));
        }
    }

    /// Notes what an attribute tells of the value that it is asked of.
    pub(super) fn note_usual_of(&mut self, of: Id, attribute: &str) {
        let value = self.sketch.value(of);
        let is_open = value.origin.is_none() && value.function.is_none() && value.items.is_empty();
        match attribute {
            _ if !is_open => {}
            name if OF_MOMENTS.contains(&name) => self.is_usually(of, moment("datetime.datetime", YEARS[0])),
            name if OF_ARRAYS.contains(&name) && self.sketch.has_numpy => self.is_usually(of, array()),
            _ => {}
        }
    }

    /// Notes what a value is whose place `default` takes where it is missing.
    pub(super) fn note_default(&mut self, id: Id, default: &Recipe) {
        match default {
            Recipe::Bool(_) => self.is_usually(id, Recipe::Bool(true)),
            Recipe::Int(_) | Recipe::Float(_) => self.is_kind(id, Kind::Number),
            Recipe::Str(_) => self.is_kind(id, Kind::Text),
            Recipe::Bytes(_) => self.is_kind(id, Kind::Bytes),
            _ => {}
        }
    }

    /// Notes what is asked of a column of a frame: `orders['day'].dt`.
    pub(super) fn note_column(&mut self, node: &ExprAttribute) {
        if let (Expr::Subscript(column), "dt") = (node.value.as_ref(), node.attr.as_str()) {
            let frame = self.expression(&column.value);
            self.is_kind(frame, Kind::Frame);
            let column = self.expression(&node.value);
            self.is_usually(column, moment("datetime.datetime", YEARS[0]));
        }
    }

    /// Notes what a call of a method asks of its object: `rows.mean(axis=0)`.
    pub(super) fn note_usual_method(&mut self, of: Id, node: &ExprCall) {
        let is_by_axis = node.arguments.find_keyword("axis").is_some();
        if is_by_axis && self.sketch.has_numpy && self.sketch.value(of).origin.is_none() {
            self.is_usually(of, array());
        }
    }

    /// Notes that what is compared with a moment is one.
    pub(super) fn note_moments(&mut self, one: Id, other: Id) {
        for (of, by) in [(one, other), (other, one)] {
            if let Some(class) = self.sketch.value(by).moment {
                self.is_usually(of, moment(class, YEARS[0]));
            }
        }
    }

    /// What adding or subtracting gives, if one of both is a moment.
    pub(super) fn of_moments(&mut self, is_sum: bool, one: (Id, &Expr), other: (Id, &Expr)) -> Option<Id> {
        let class = |walk: &Self, id: Id| walk.sketch.value(id).moment;
        let is_duration = |expression: &Expr| {
            let name = match expression {
                Expr::Name(name) => name.id.to_lowercase(),
                Expr::Attribute(node) => node.attr.to_lowercase(),
                _ => return false,
            };
            name.split('_')
                .any(|word| OF_DURATIONS.iter().any(|known| word.strip_suffix('s').unwrap_or(word) == *known))
        };
        let (of, by, written) = match (class(self, one.0), class(self, other.0)) {
            (Some(class), None) => (class, other.0, other.1),
            (None, Some(class)) if is_sum => (class, one.0, one.1),
            (None, Some(class)) => {
                self.is_usually(one.0, moment(class, YEARS[2]));
                return Some(self.made());
            }
            (Some(_), Some(_)) | (None, None) => return None,
        };
        let result = self.made();
        if is_sum || is_duration(written) || self.sketch.value(by).is_made {
            if !self.sketch.value(by).is_made {
                self.is_kind(by, Kind::Duration);
            }
            self.sketch.value_mut(result).moment = Some(of);
        } else {
            self.is_usually(by, moment(of, YEARS[0]));
        }
        Some(result)
    }
}
