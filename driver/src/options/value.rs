//! Types, ranges and error messages of options. The parent module has the options themselves.

use std::path::PathBuf;

/// An option's value, before or after it was checked.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    Path(PathBuf),
    Integer(i128),
    Number(f64),
    /// One of the texts that the option allows.
    Choice(&'static str),
    Flag(bool),
    /// Some of the texts that the option allows.
    Words(Vec<&'static str>),
    /// Any texts.
    Texts(Vec<String>),
}

/// What an option accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Text {
        placeholder: &'static str,
    },
    Path {
        placeholder: &'static str,
    },
    Integer {
        minimum: i128,
        maximum: i128,
    },
    /// A whole number, or a word for no bound.
    IntegerOr {
        minimum: i128,
        maximum: i128,
        word: &'static str,
    },
    Number {
        minimum: f64,
        maximum: f64,
    },
    Choice {
        allowed: &'static [&'static str],
    },
    /// On or off. On the command line, the name alone turns it on.
    Flag,
    /// Any of these, separated by commas.
    Words {
        allowed: &'static [&'static str],
    },
    /// Any texts, separated by commas.
    Texts {
        placeholder: &'static str,
    },
    /// Any techniques of an analysis, separated by commas. Each has a name and says what it does.
    Techniques {
        all: &'static [(&'static str, &'static str)],
    },
}

/// What is wrong with an option, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    #[error("there is no option {name}; there are: {known}")]
    Unknown { name: String, known: String },
    #[error("{job} has no option {name}: it has {known}")]
    OfOtherJob { job: &'static str, name: String, known: String },
    #[error("{old} is the old spelling of {new}: give only one of them")]
    Twice { old: &'static str, new: &'static str },
    #[error("{name} cannot be {given}: give {wanted}")]
    Value { name: &'static str, given: String, wanted: String },
}

impl Kind {
    /// The placeholder for the value in help.
    pub fn placeholder(&self) -> &'static str {
        match self {
            Kind::Text { placeholder } | Kind::Path { placeholder } | Kind::Texts { placeholder } => placeholder,
            Kind::Integer { .. } | Kind::IntegerOr { .. } => "N",
            Kind::Number { .. } => "X",
            Kind::Choice { .. } => "WORD",
            Kind::Flag => "",
            Kind::Words { .. } => "WORDS",
            Kind::Techniques { .. } => "TECHNIQUES",
        }
    }

    /// The allowed values, in short. `None` if anything is allowed.
    pub fn allowed(&self) -> Option<String> {
        match self {
            Kind::Text { .. } | Kind::Path { .. } | Kind::Texts { .. } | Kind::Flag | Kind::Techniques { .. } => None,
            Kind::Integer { minimum, maximum } => Some(format!("{minimum} to {maximum}")),
            Kind::IntegerOr { minimum, maximum, word } => Some(format!("{minimum} to {maximum}, or {word}")),
            Kind::Number { minimum, maximum } => Some(format!("{minimum} to {maximum}")),
            Kind::Choice { allowed } => Some(listed(allowed)),
            Kind::Words { allowed } => Some(allowed.join(", ")),
        }
    }

    /// The techniques that can be given: their names, and what each does.
    pub fn techniques(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Kind::Techniques { all } => all,
            _ => &[],
        }
    }

    /// Whether several may be given, separated by commas or one after the other.
    pub fn is_list(&self) -> bool {
        matches!(self, Kind::Words { .. } | Kind::Techniques { .. } | Kind::Texts { .. })
    }

    /// The words of a list that can be given.
    fn words(&self) -> Vec<&'static str> {
        match self {
            Kind::Words { allowed } => allowed.to_vec(),
            _ => self.techniques().iter().map(|(name, _)| *name).collect(),
        }
    }

    /// Reads what a user typed.
    pub(crate) fn parse(&self, name: &'static str, text: &str) -> Result<Value, OptionError> {
        let value = match self {
            Kind::Integer { .. } | Kind::IntegerOr { .. } => text.trim().parse().map(Value::Integer).ok(),
            Kind::Number { .. } => text.trim().parse().map(Value::Number).ok(),
            _ => None,
        };
        self.check(name, value.unwrap_or_else(|| Value::Text(text.to_owned())))
    }

    /// The value in the option's own type, if it is allowed.
    pub(crate) fn check(&self, name: &'static str, value: Value) -> Result<Value, OptionError> {
        let checked = match (self, &value) {
            (Kind::Text { .. }, Value::Text(text)) if !text.is_empty() => Some(value.clone()),
            (Kind::Path { .. }, Value::Text(text)) if !text.is_empty() => Some(Value::Path(text.into())),
            (Kind::Path { .. }, Value::Path(path)) if !path.as_os_str().is_empty() => Some(value.clone()),
            (Kind::Texts { .. }, Value::Text(text)) => {
                let texts: Vec<String> = text.split(',').map(|one| one.trim().to_owned()).collect();
                texts.iter().all(|one| !one.is_empty()).then_some(Value::Texts(texts))
            }
            // An empty list is given as words.
            (Kind::Texts { .. }, Value::Words(words)) if words.is_empty() => Some(Value::Texts(vec![])),
            (Kind::Texts { .. }, Value::Texts(_)) => Some(value.clone()),
            (Kind::Integer { minimum, maximum } | Kind::IntegerOr { minimum, maximum, .. }, Value::Integer(given)) => {
                (minimum <= given && given <= maximum).then_some(Value::Integer(*given))
            }
            (Kind::IntegerOr { word, .. }, Value::Text(text)) => (text == word).then_some(Value::Choice(word)),
            (Kind::IntegerOr { word, .. }, Value::Choice(given)) if given == word => Some(value.clone()),
            (Kind::Number { minimum, maximum }, Value::Integer(_) | Value::Number(_)) => {
                let given = value.number();
                (*minimum <= given && given <= *maximum).then_some(Value::Number(given))
            }
            (Kind::Choice { allowed }, Value::Text(text)) => {
                allowed.iter().find(|choice| *choice == text).map(|choice| Value::Choice(choice))
            }
            (Kind::Choice { allowed }, Value::Choice(given)) if allowed.contains(given) => Some(value.clone()),
            (Kind::Flag, Value::Text(text)) => match text.to_ascii_lowercase().as_str() {
                "on" | "true" => Some(Value::Flag(true)),
                "off" | "false" => Some(Value::Flag(false)),
                _ => None,
            },
            (Kind::Flag, Value::Flag(_)) => Some(value.clone()),
            (Kind::Words { .. } | Kind::Techniques { .. }, Value::Text(text)) => {
                let words = self.words();
                let word = |given: &str| words.iter().find(|own| **own == given.trim()).copied();
                text.split(',').map(word).collect::<Option<Vec<_>>>().map(Value::Words)
            }
            (Kind::Words { .. } | Kind::Techniques { .. }, Value::Words(words)) => {
                let allowed = self.words();
                words.iter().all(|word| allowed.contains(word)).then(|| value.clone())
            }
            _ => None,
        };
        checked.ok_or_else(|| OptionError::Value { name, given: value.to_string(), wanted: self.wanted() })
    }

    fn wanted(&self) -> String {
        match self {
            Kind::Text { .. } => "a text that is not empty".to_owned(),
            Kind::Texts { .. } => "texts that are not empty, with commas".to_owned(),
            Kind::Path { .. } => "a path".to_owned(),
            Kind::Integer { minimum, maximum } => format!("a whole number from {minimum} to {maximum}"),
            Kind::IntegerOr { minimum, maximum, word } => {
                format!("a whole number from {minimum} to {maximum}, or {word}")
            }
            Kind::Number { minimum, maximum } => format!("a number from {minimum} to {maximum}"),
            Kind::Choice { allowed } => listed(allowed),
            Kind::Flag => "on or off".to_owned(),
            Kind::Words { .. } | Kind::Techniques { .. } => match self.words().as_slice() {
                [only] => (*only).to_owned(),
                words => format!("some of {}, with commas", words.join(", ")),
            },
        }
    }
}

impl Value {
    /// A list of words that is not checked. An empty one has none.
    pub fn listed<T: AsRef<str>>(words: Vec<T>) -> Self {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        if words.is_empty() { Value::Words(vec![]) } else { Value::Text(words.join(",")) }
    }
}

/// The readers below are for values that passed [`Kind::check`]. Each answers for its own type.
impl Value {
    pub(crate) fn text(self) -> Option<String> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn path(self) -> Option<PathBuf> {
        match self {
            Value::Path(path) => Some(path),
            _ => None,
        }
    }

    pub(crate) fn integer(&self) -> i128 {
        match self {
            Value::Integer(number) => *number,
            _ => 0,
        }
    }

    /// `None` for the word that stands for no bound.
    pub(crate) fn bound(&self) -> Option<i128> {
        match self {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn number(&self) -> f64 {
        match self {
            Value::Number(number) => *number,
            Value::Integer(number) => *number as f64,
            _ => f64::NAN,
        }
    }

    pub(crate) fn flag(&self) -> bool {
        matches!(self, Value::Flag(true))
    }

    pub(crate) fn words(&self) -> &[&'static str] {
        match self {
            Value::Words(words) => words,
            _ => &[],
        }
    }

    pub(crate) fn texts(self) -> Vec<String> {
        match self {
            Value::Texts(texts) => texts,
            _ => vec![],
        }
    }

    pub(crate) fn choice(&self) -> &'static str {
        match self {
            Value::Choice(choice) => choice,
            _ => "",
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Text(text) => write!(formatter, "'{text}'"),
            Value::Path(path) => write!(formatter, "'{}'", path.display()),
            Value::Integer(number) => write!(formatter, "{number}"),
            Value::Number(number) => write!(formatter, "{number}"),
            Value::Choice(choice) => formatter.write_str(choice),
            Value::Flag(flag) => formatter.write_str(if *flag { "on" } else { "off" }),
            Value::Words(words) => formatter.write_str(&words.join(",")),
            Value::Texts(texts) => formatter.write_str(&texts.join(",")),
        }
    }
}

/// `a, b or c`.
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
