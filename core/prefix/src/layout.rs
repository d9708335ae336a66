//! Python expressions as people lay them out: on one line where they fit, and otherwise an item a line.

/// The width of a line.
const WIDTH: usize = 88;
const INDENT: usize = 4;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Text(String),
    /// Something in brackets: `open`, items with what stands before each (`name=`, `'key': `, `*`), and `close`.
    Group {
        open: String,
        items: Vec<(String, Expression)>,
        close: &'static str,
    },
}

impl Expression {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A call of `function`.
    pub(crate) fn call(function: &str, items: Vec<(String, Expression)>) -> Self {
        Self::Group { open: format!("{function}("), items, close: ")" }
    }

    pub(crate) fn list(items: Vec<Expression>) -> Self {
        Self::Group { open: "[".into(), items: bare(items), close: "]" }
    }

    pub(crate) fn tuple(mut items: Vec<Expression>) -> Self {
        match items.len() {
            1 => Self::Group { open: "(".into(), items: bare(vec![items.remove(0)]), close: ",)" },
            _ => Self::Group { open: "(".into(), items: bare(items), close: ")" },
        }
    }

    pub(crate) fn set(items: Vec<Expression>) -> Self {
        match items.is_empty() {
            true => Self::text("set()"),
            false => Self::Group { open: "{".into(), items: bare(items), close: "}" },
        }
    }

    pub(crate) fn dict(entries: Vec<(String, Expression)>) -> Self {
        Self::Group { open: "{".into(), items: self::entries(entries), close: "}" }
    }

    /// The same with something before it that binds less.
    pub(crate) fn behind(self, before: &str) -> Self {
        match self {
            Self::Text(text) => Self::Text(format!("{before}{text}")),
            Self::Group { open, items, close } => Self::Group { open: format!("{before}{open}"), items, close },
        }
    }

    /// On one line.
    pub(crate) fn flat(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Group { open, items, close } => {
                let items: Vec<String> =
                    items.iter().map(|(before, item)| format!("{before}{}", item.flat())).collect();
                format!("{open}{}{close}", items.join(", "))
            }
        }
    }

    /// Behind `before` on a line that is indented by `depth` steps.
    pub(crate) fn written(&self, before: &str, depth: usize) -> String {
        let flat = self.flat();
        let taken = depth * INDENT + before.chars().count() + 1;
        match self {
            Self::Group { open, items, close } if taken + flat.chars().count() > WIDTH && !items.is_empty() => {
                let within = " ".repeat((depth + 1) * INDENT);
                let mut out = format!("{before}{open}\n");
                for (before, item) in items {
                    out += &within;
                    out += &item.written(before, depth + 1);
                    out += ",\n";
                }
                out += &" ".repeat(depth * INDENT);
                out += close.trim_start_matches(',');
                out
            }
            _ => format!("{before}{flat}"),
        }
    }
}

/// The items of a dictionary: keys as source, and their values.
pub(crate) fn entries(entries: Vec<(String, Expression)>) -> Vec<(String, Expression)> {
    entries.into_iter().map(|(key, value)| (key + ": ", value)).collect()
}

fn bare(items: Vec<Expression>) -> Vec<(String, Expression)> {
    items.into_iter().map(|item| (String::new(), item)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_has_an_item_a_line() {
        let short = Expression::call("f", vec![("a=".into(), Expression::list(vec![Expression::text("1")]))]);
        assert_eq!(short.written("x = ", 0), "x = f(a=[1])");
        let long = Expression::tuple(vec![Expression::text("'".to_owned() + &"b".repeat(90) + "'")]);
        let both = Expression::dict(vec![("1".into(), short), ("2".into(), long)]);
        let b = "b".repeat(90);
        assert_eq!(both.written("x = ", 0), format!("x = {{\n    1: f(a=[1]),\n    2: (\n        '{b}',\n    ),\n}}"));
    }
}
