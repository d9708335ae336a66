//! Values that a person would have written: what a name promises, and the plainest value of a class.

use twincell_values::value::{AbstractValue, ConstructorCall, Recipe};

/// The last words of names, and what people keep under them.
const NAMES: &[(&[&str], Meaning)] = &[
    (&["args", "arguments"], Meaning::Tuple),
    (
        &["kwargs", "options", "opts", "params", "config", "settings", "headers", "environ", "env", "context", "meta"],
        Meaning::Dict,
    ),
    (&["debug", "verbose", "quiet", "force", "enabled", "disabled", "strict", "recursive", "flag"], Meaning::Flag),
    (&["encoding", "charset"], Meaning::Text("utf-8")),
    (&["mode"], Meaning::Text("r")),
    (&["url", "uri", "link", "href"], Meaning::Text("https://example.com")),
    (&["host", "hostname"], Meaning::Text("localhost")),
    (&["path", "filename", "file", "folder", "directory", "dirname"], Meaning::Own),
    (&["name", "key", "text", "title", "label", "message", "msg", "prefix", "suffix", "word", "string"], Meaning::Own),
    (
        &[
            "f",
            "fn",
            "func",
            "function",
            "callback",
            "callable",
            "handler",
            "hook",
            "processor",
            "errback",
            "decorator",
            "predicate",
        ],
        Meaning::Function,
    ),
    (&["exception", "exc", "error", "err"], Meaning::Exception),
    (&["port"], Meaning::Number(8080)),
    (&["year"], Meaning::Number(2024)),
    (
        &["count", "size", "length", "index", "number", "num", "n", "i", "j", "limit", "timeout", "width", "height"],
        Meaning::Number(1),
    ),
];

#[derive(Clone, Copy)]
enum Meaning {
    Flag,
    Tuple,
    Dict,
    Text(&'static str),
    /// The word itself, as a text.
    Own,
    Function,
    Exception,
    Number(i64),
}

/// The maximum number of entries of a dictionary that are tried to be left out.
const ENTRIES: usize = 6;

/// The maximum number of characters of an odd text that are tried to be left out one by one.
const ODD: usize = 40;

/// The length of the longest text that a person writes as a mere value.
const LONG: usize = 60;

/// Values to try in place of another one that stands under a name, the most natural first.
pub fn instead_of(value: Option<&Recipe>, name: &str) -> Vec<Recipe> {
    let mut found: Vec<Recipe> = promised(name).into_iter().collect();
    if is_object(name) {
        found.push(Recipe::Mock(AbstractValue::Object));
    }
    let is_collection = matches!(value, Some(Recipe::List(_) | Recipe::Tuple(_) | Recipe::Set(_) | Recipe::Dict(_)));
    if is_collection && found.is_empty() && name.len() > 1 && !is_plural(name) {
        found.push(Recipe::Str(text(name)));
    }
    let is_promised = !found.is_empty();
    match value {
        Some(Recipe::Str(odd)) if !is_natural(odd) => {
            found.extend((!name.is_empty()).then(|| Recipe::Str(name.to_owned())));
            // Shorter ones.
            let characters: Vec<char> = odd.chars().collect();
            if (2..=ODD).contains(&characters.len()) {
                let shorter = [&characters[..characters.len() - 1], &characters[1..]];
                found.extend(shorter.map(|shorter| Recipe::Str(shorter.iter().collect())));
            }
        }
        Some(Recipe::Str(_)) if !name.is_empty() => found.push(Recipe::Str(name.to_owned())),
        Some(Recipe::Bytes(_)) if !name.is_empty() => found.push(Recipe::Bytes(name.as_bytes().to_vec())),
        Some(Recipe::Int(number)) if !(0..=1).contains(number) => found.push(Recipe::Int(1)),
        Some(Recipe::Float(number)) if *number != 1.0 => found.push(Recipe::Float(1.0)),
        Some(Recipe::List(items)) if !items.is_empty() => {
            found.extend([Recipe::List(vec![]), Recipe::List(first(items))])
        }
        Some(Recipe::Tuple(items)) if !items.is_empty() => {
            found.extend([Recipe::Tuple(vec![]), Recipe::Tuple(first(items))]);
        }
        Some(Recipe::Set(items)) if !items.is_empty() => found.push(Recipe::Set(vec![])),
        Some(Recipe::Dict(entries)) if !entries.is_empty() => {
            found.push(Recipe::Dict(vec![]));
            found.extend((0..entries.len().min(ENTRIES)).rev().map(|left_out| {
                let rest = entries.iter().enumerate().filter(|(at, _)| *at != left_out);
                Recipe::Dict(rest.map(|(_, entry)| entry.clone()).collect())
            }));
        }
        Some(Recipe::Mock(AbstractValue::Callable | AbstractValue::Resource)) if !is_promised => {
            found.push(Recipe::Mock(AbstractValue::Object));
        }
        // Nothing is known of it.
        None => found.extend([Recipe::None, Recipe::Mock(AbstractValue::Object)]),
        _ => {}
    }
    found.retain(|other| Some(other) != value);
    found.dedup();
    found
}

/// Whether a value is a text that no person would have written.
pub fn is_odd_text(value: &Recipe) -> bool {
    matches!(value, Recipe::Str(text) if !is_natural(text))
}

/// Whether a person might have written a text: words, and what stands in paths, addresses and dates.
fn is_natural(text: &str) -> bool {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || " _-./:@,".contains(c);
    text.len() <= LONG && text.contains(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_usual)
}

/// Parts of a value that no person would have written, outermost first.
pub fn odd_parts<'r>(value: &'r Recipe, parts: &mut Vec<&'r Recipe>) {
    let is_odd = match value {
        Recipe::Str(text) => !is_natural(text),
        Recipe::Float(number) => *number != number.round() || number.abs() > 10.0,
        Recipe::Int(number) => !(-1..=1000).contains(number),
        Recipe::Tuple(items) => !items.is_empty() && items.iter().all(|item| matches!(item, Recipe::Float(_))),
        _ => false,
    };
    if is_odd {
        parts.push(value);
        return;
    }
    match value {
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => {
            items.iter().for_each(|item| odd_parts(item, parts));
        }
        Recipe::Dict(entries) => entries.iter().flat_map(|(key, item)| [key, item]).for_each(|part| {
            odd_parts(part, parts);
        }),
        _ => {}
    }
}

/// A value with one part in place of another, wherever it stands.
pub fn with_part(value: &Recipe, part: &Recipe, other: &Recipe) -> Recipe {
    let inner = |value: &Recipe| with_part(value, part, other);
    match value {
        value if value == part => other.clone(),
        Recipe::Str(text) => match (part, other) {
            (Recipe::Str(part), Recipe::Str(other)) if part.len() > 1 => Recipe::Str(text.replacen(part, other, 1)),
            _ => value.clone(),
        },
        Recipe::List(items) => Recipe::List(items.iter().map(inner).collect()),
        Recipe::Tuple(items) => Recipe::Tuple(items.iter().map(inner).collect()),
        Recipe::Set(items) => Recipe::Set(items.iter().map(inner).collect()),
        Recipe::Dict(entries) => Recipe::Dict(entries.iter().map(|(key, value)| (inner(key), inner(value))).collect()),
        value => value.clone(),
    }
}

/// Words with which names of functions begin, and with which those of what they give do not.
const VERBS: &[&str] = &[
    "apply", "build", "call", "collect", "compute", "convert", "create", "decode", "do", "download", "encode",
    "ensure", "execute", "extract", "fetch", "find", "format", "get", "getall", "getlist", "handle", "invoke", "iter",
    "list", "load", "loads", "lookup", "make", "new", "open", "parse", "prepare", "process", "query", "read", "render",
    "resolve", "run", "search", "select", "send", "to",
];

/// Names of functions that say of which type their result is, without `get` or `to`, and what to call it.
const TYPES: &[(&[&str], &str)] = &[
    (&["int", "integer", "float", "long", "double", "decimal"], "number"),
    (&["bool", "boolean"], "flag"),
    (&["str", "string", "dumps", "decode"], "text"),
    (&["bytes", "tobytes"], "content"),
    (&["dict"], "options"),
    (&["list"], "items"),
];

/// What a function gives: `pages` of `list_pages`, and a result of what is only a verb.
pub fn result(function: &str) -> String {
    let name = snake(function);
    let plain = name.trim_matches('_');
    let asked =
        ["get_", "get", "as_", "to_", "read_"].iter().find_map(|verb| plain.strip_prefix(verb)).unwrap_or(plain);
    if let Some((_, noun)) = TYPES.iter().find(|(types, _)| types.contains(&asked)) {
        return (*noun).to_owned();
    }
    let words = plain.split_once('_');
    match words {
        Some((verb, noun)) if VERBS.contains(&verb) => noun.to_owned(),
        // What a handler gives is none.
        _ if matches!(promised(function), Some(Recipe::Mock(_))) => "result".to_owned(),
        None if promised(function).is_none() && !is_plural(function) => "result".to_owned(),
        _ => function.to_owned(),
    }
}

/// A name in lower case, with `_` between its words: `live_refs` of `liveRefs`.
pub fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut is_after_lower = false;
    for character in name.chars() {
        if character.is_uppercase() && is_after_lower {
            out.push('_');
        }
        is_after_lower = character.is_lowercase() || character.is_ascii_digit();
        out.extend(character.to_lowercase());
    }
    out
}

/// A text that stands for what has this name.
pub fn text(name: &str) -> String {
    let name = snake(name);
    let inner = name.trim_matches('_');
    if inner.is_empty() { name.clone() } else { inner.to_owned() }
}

/// Words that end in `s` and are of one thing.
const ONE: &[&str] = &[
    "alias",
    "analysis",
    "args",
    "axis",
    "basis",
    "bias",
    "bonus",
    "campus",
    "canvas",
    "census",
    "chaos",
    "consensus",
    "corpus",
    "cosmos",
    "cursus",
    "focus",
    "gas",
    "genus",
    "https",
    "kwargs",
    "lens",
    "locus",
    "modulus",
    "news",
    "nexus",
    "plus",
    "radius",
    "redis",
    "series",
    "status",
    "stimulus",
    "synopsis",
    "syllabus",
    "thesis",
    "virus",
];

/// Whether a name is one of several things: `pages`.
pub fn is_plural(name: &str) -> bool {
    let word = snake(name);
    let word = word.rsplit('_').next().unwrap_or_default();
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !promises_class(word) && !ONE.contains(&word)
}

/// Whether what has this name is no text, number or collection, as far as names tell.
pub fn is_object(name: &str) -> bool {
    const OBJECTS: &[&str] = &[
        "app",
        "application",
        "backend",
        "client",
        "conn",
        "connection",
        "controller",
        "db",
        "driver",
        "engine",
        "instance",
        "logger",
        "loop",
        "manager",
        "model",
        "obj",
        "object",
        "owner",
        "parent",
        "parser",
        "request",
        "response",
        "self",
        "server",
        "session",
        "socket",
        "sock",
        "stream",
        "thread",
        "widget",
        "window",
    ];
    let word = snake(name);
    OBJECTS.contains(&word.rsplit('_').next().unwrap_or_default()) || promises_class(name)
}

/// Whether what has this name and these attributes is a function: `f.__name__`.
pub fn is_function<'n>(mut attributes: impl Iterator<Item = &'n str>, name: &str) -> bool {
    const OF_FUNCTIONS: &[&str] = &["__name__", "__qualname__", "__wrapped__"];
    let is_other = is_of_class(name) || ["class", "cls", "mod", "module"].iter().any(|end| name.ends_with(end));
    let mut are_some = false;
    !is_other
        && attributes.all(|attribute| {
            are_some |= OF_FUNCTIONS.contains(&attribute);
            OF_FUNCTIONS.contains(&attribute) || matches!(attribute, "__module__" | "__doc__")
        })
        && are_some
}

/// What one of several is called.
pub fn singular(name: &str) -> String {
    const SIBILANTS: [&str; 6] = ["ches", "shes", "sses", "xes", "zzes", "tzes"];
    // Those whose one ends in `e`.
    const PLAIN: [&str; 7] = ["caches", "cookies", "dies", "lies", "movies", "pies", "ties"];
    let word = name.rsplit('_').next().unwrap_or_default();
    if word == "series" {
        return name.to_owned();
    }
    if PLAIN.contains(&word) {
        return name[..name.len() - 1].to_owned();
    }
    if let Some(stem) = name.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    if SIBILANTS.iter().any(|end| name.ends_with(end)) || word.strip_suffix("es").is_some_and(|one| ONE.contains(&one))
    {
        return name[..name.len() - 2].to_owned();
    }
    match name.strip_suffix('s') {
        Some(one) if one.len() > 1 && !one.ends_with('s') => one.to_owned(),
        _ => name.to_owned(),
    }
}

fn first(items: &[Recipe]) -> Vec<Recipe> {
    items.first().cloned().into_iter().collect()
}

/// What the last word of a name promises.
pub fn promised(name: &str) -> Option<Recipe> {
    const FLAGS: &[&str] = &["is_", "has_", "should_", "can_", "use_", "allow_", "enable_", "disable_", "with_", "no_"];
    const NUMBERS: &[&str] = &["max_", "min_", "num_", "total_"];
    const ACTING: &[&str] =
        &["build_", "compute_", "create_", "ensure_", "fetch_", "get_", "handle_", "make_", "on_", "set_", "validate_"];
    let lower = snake(name);
    if FLAGS.iter().any(|start| lower.trim_start_matches('_').starts_with(start)) {
        return Some(Recipe::Bool(true));
    }
    let word = lower.rsplit('_').next().unwrap_or(&lower);
    // `maxlength`
    let word = ["max", "min", "num"]
        .iter()
        .find_map(|start| word.strip_prefix(start))
        .filter(|rest| {
            NAMES
                .iter()
                .any(|(words, meaning)| matches!(meaning, Meaning::Number(_)) && words.contains(rest) && rest.len() > 3)
        })
        .unwrap_or(word);
    let Some((_, meaning)) = NAMES.iter().find(|(words, _)| words.contains(&word)) else {
        if ACTING.iter().any(|start| lower.trim_start_matches('_').starts_with(start)) {
            return Some(Recipe::Mock(AbstractValue::Callable));
        }
        return NUMBERS.iter().any(|start| lower.starts_with(start)).then_some(Recipe::Int(1));
    };
    Some(match meaning {
        Meaning::Flag => Recipe::Bool(true),
        Meaning::Tuple => Recipe::Tuple(vec![]),
        Meaning::Dict => Recipe::Dict(vec![]),
        Meaning::Text(text) => Recipe::Str((*text).to_owned()),
        Meaning::Own => Recipe::Str(word.to_owned()),
        Meaning::Function => Recipe::Mock(AbstractValue::Callable),
        Meaning::Exception => {
            let arguments = vec![Recipe::Str("failure".to_owned())];
            ConstructorCall { class: "builtins.Exception".into(), arguments, keywords: vec![] }.into()
        }
        Meaning::Number(number) => Recipe::Int(*number),
    })
}

/// Whether a name says that it is of a class: `response_class`, but not `css_class`.
pub fn promises_class(name: &str) -> bool {
    let of_pages = ["css", "html"].iter().any(|start| name.starts_with(start));
    !of_pages && ["class", "cls", "klass"].iter().any(|end| name.ends_with(end))
}

/// Whether a name is written as those of classes are: `Response`, and not `RESPONSE`.
pub fn is_of_class(name: &str) -> bool {
    name == "cls" || name.trim_start_matches('_').starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_parts_of_values_are_found_and_replaced_wherever_they_stand() {
        let text = |text: &str| Recipe::Str(text.into());
        let pair = Recipe::Tuple(vec![Recipe::Float(-10.0), Recipe::Float(-0.5)]);
        let value = Recipe::List(vec![text("page"), pair.clone(), Recipe::Dict(vec![(pair.clone(), text("²"))])]);
        let mut parts = Vec::new();
        odd_parts(&value, &mut parts);
        assert_eq!(parts, [&pair, &pair, &text("²")]);
        let expected = Recipe::List(vec![text("page"), text("a"), Recipe::Dict(vec![(text("a"), text("²"))])]);
        assert_eq!(with_part(&value, &pair, &text("a")), expected);
    }

    #[test]
    fn names_tell_what_is_several_and_what_is_an_object() {
        assert_eq!(
            ["pages", "boxes", "entries", "flashes", "class", "statuses", "aliases", "lenses"].map(singular),
            ["page", "box", "entry", "flash", "class", "status", "alias", "lens"]
        );
        assert_eq!(
            ["cookies", "movies", "series", "caches", "http_caches", "sizes"].map(singular),
            ["cookie", "movie", "series", "cache", "http_cache", "size"]
        );
        assert!(["photos", "videos", "repos", "objs", "apis", "menus", "draws"].iter().all(|name| is_plural(name)));
        assert!(!["bus", "axis", "analysis", "http_status", "tls", "kwargs"].iter().any(|name| is_plural(name)));
        assert!(is_plural("all_rows") && is_plural("liveRefs") && !is_plural("status") && !is_plural("smtp_tls"));
        assert!(is_function(["__name__", "__doc__"].into_iter(), "f") && !is_function(["__name__"].into_iter(), "cls"));
        assert!(!is_function(["__doc__"].into_iter(), "f") && !is_function(["__name__", "a"].into_iter(), "f"));
        assert!(promises_class("response_class") && promises_class("klass") && !promises_class("css_class"));
        assert!(is_object("self") && is_object("http_response") && !is_object("name"));
        assert_eq!((text("__APP_ROOT"), text("connectionDone")), ("app_root".into(), "connection_done".into()));
    }

    #[test]
    fn odd_texts_become_shorter_and_those_in_them_natural() {
        let text = |text: &str| Recipe::Str(text.into());
        assert_eq!(instead_of(Some(&text("{}}")), "tag"), [text("tag"), text("{}"), text("}}")]);
        assert_eq!(with_part(&text("{}}x"), &text("}}"), &text("space")), text("{spacex"));
    }

    #[test]
    fn names_promise_values_and_odd_values_have_plain_ones_in_their_place() {
        let text = |text: &str| Recipe::Str(text.into());
        assert_eq!(instead_of(Some(&Recipe::Tuple(vec![Recipe::None])), "args")[0], Recipe::Tuple(vec![]));
        assert_eq!(instead_of(Some(&text("")), "charset"), [text("utf-8"), text("charset")]);
        assert_eq!(instead_of(Some(&text("")), "body"), [text("body")]);
        assert_eq!(instead_of(Some(&text("²")), "host")[0], text("localhost"));
        assert_eq!(instead_of(Some(&text("$")), "body"), [text("body")]);
        assert_eq!(instead_of(Some(&text("body")), "body"), []);
        assert_eq!(instead_of(Some(&Recipe::Int(-100)), "failure"), [Recipe::Int(1)]);
        assert_eq!(instead_of(Some(&Recipe::Int(0)), "price"), []);
        assert_eq!(instead_of(Some(&Recipe::Bool(true)), "is_open"), []);
        assert_eq!(instead_of(None, "f_name")[0], text("name"));
        assert_eq!((promised("maxlength"), promised("maximum")), (Some(Recipe::Int(1)), None));
        let results = ["list_pages", "invoke", "getAllRows", "_total_price", "callback"].map(result);
        assert_eq!(results, ["pages", "result", "all_rows", "_total_price", "result"]);
        let typed = ["getint", "get_boolean", "toString", "dumps", "get_print"].map(result);
        assert_eq!(typed, ["number", "flag", "text", "text", "print"]);
        assert_eq!(instead_of(Some(&Recipe::Set(vec![])), "answer"), [text("answer")]);
        assert_eq!(instead_of(Some(&Recipe::Int(1)), "request"), [Recipe::Mock(AbstractValue::Object)]);
        let function = Recipe::Mock(AbstractValue::Callable);
        assert_eq!(instead_of(Some(&function), "follow"), [Recipe::Mock(AbstractValue::Object)]);
        assert_eq!(instead_of(Some(&function), "callback"), []);
        assert_eq!(instead_of(Some(&Recipe::None), "callback"), [function]);
        assert!(is_of_class("Response") && is_of_class("_Page") && !is_of_class("BASE") && !is_of_class("page"));
    }
}
