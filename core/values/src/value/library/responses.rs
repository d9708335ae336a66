//! What servers answer: responses of requests and httpx, made without a network.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::{Provider, made, text, with};
use crate::value::Recipe;

pub const OF_REQUESTS: &str = "requests.Response";
pub const OF_HTTPX: &str = "httpx.Response";

pub(super) const PROVIDERS: &[Provider] = &[
    Provider::new(OF_REQUESTS, || answers(OF_REQUESTS)).changeable(),
    Provider::new(OF_HTTPX, || answers(OF_HTTPX)).changeable(),
];

/// The statuses, the usual one first, with their reasons.
const STATUSES: [(i64, &str); 6] = [
    (200, "OK"),
    (404, "Not Found"),
    (500, "Internal Server Error"),
    (302, "Found"),
    (201, "Created"),
    (204, "No Content"),
];
/// How often a response has the usual status, and how often it holds what the code reads as JSON.
const USUAL: f64 = 0.6;
const JSON: f64 = 0.85;
const URL: &str = "https://example.com/items";
const TEXTS: [&str; 5] = ["ok", "", "one\ntwo\n", "<p>not found</p>", "caf\u{e9}"];

/// Whether a response is an object of this class.
pub fn is_answer(class: &str) -> bool {
    matches!(class, OF_REQUESTS | OF_HTTPX)
}

/// Whether a class takes no arguments, and its objects are filled instead.
pub fn is_filled(class: &str) -> bool {
    class == OF_REQUESTS
}

/// What a response holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    Json(Recipe),
    Text(String),
}

fn answers(class: &str) -> Vec<Recipe> {
    let entry = |key: &str, value: Recipe| Recipe::Dict(vec![(text(key), value)]);
    let (ok, not_found, failed, found) = (STATUSES[0], STATUSES[1], STATUSES[2], STATUSES[3]);
    vec![
        answer(class, ok, &Body::Json(entry("a", Recipe::Int(1)))),
        answer(class, not_found, &Body::Json(entry("error", text("not found")))),
        answer(class, failed, &Body::Text(String::new())),
        answer(class, found, &Body::Text(String::new())),
        answer(class, ok, &Body::Text("one\ntwo\n".into())),
        answer(class, ok, &Body::Json(Recipe::List(vec![]))),
    ]
}

/// A response. `json`: what the code may read from it.
pub fn drawn(class: &str, random: &mut Pcg64Mcg, json: Option<Recipe>) -> Recipe {
    let usual = random.random_bool(USUAL);
    let status = if usual { STATUSES[0] } else { STATUSES[random.random_range(0..STATUSES.len())] };
    let body = match json {
        Some(value) if random.random_bool(JSON) => Body::Json(value),
        _ => Body::Text(TEXTS[random.random_range(0..TEXTS.len())].to_owned()),
    };
    answer(class, status, &body)
}

fn answer(class: &str, (status, reason): (i64, &str), body: &Body) -> Recipe {
    let (content, kind) = match body {
        Body::Json(value) => (json(value), "application/json"),
        Body::Text(body) => (body.clone(), "text/plain; charset=utf-8"),
    };
    let content = Recipe::Bytes(content.into_bytes());
    let headers = Recipe::Dict(vec![(text("Content-Type"), text(kind))]);
    if class == OF_HTTPX {
        let request = made("httpx.Request", [text("GET"), text(URL)]);
        let response = with(with(made(class, [Recipe::Int(status)]), "headers", headers), "content", content);
        return with(response, "request", request);
    }
    let headers = made("requests.structures.CaseInsensitiveDict", [headers]);
    [
        ("status_code", Recipe::Int(status)),
        ("reason", text(reason)),
        ("url", text(URL)),
        ("headers", headers),
        ("encoding", text("utf-8")),
        ("_content", content),
        ("_content_consumed", Recipe::Bool(true)),
    ]
    .into_iter()
    .fold(made(class, []), |response, (name, value)| with(response, name, value))
}

/// A value as JSON. What JSON cannot say is a number.
fn json(value: &Recipe) -> String {
    let all = |items: &[Recipe]| items.iter().map(json).collect::<Vec<_>>().join(", ");
    match value {
        Recipe::None => "null".into(),
        Recipe::Bool(flag) => flag.to_string(),
        Recipe::Int(number) => number.to_string(),
        Recipe::Float(number) if number.is_finite() => format!("{number:?}"),
        Recipe::Str(text) => quoted(text),
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => format!("[{}]", all(items)),
        Recipe::Dict(entries) => {
            let entry = |(key, value): &(Recipe, Recipe)| {
                let key = if let Recipe::Str(text) = key { quoted(text) } else { quoted(&key.display()) };
                format!("{key}: {}", json(value))
            };
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        _ => "1".into(),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if letter.is_ascii_control() => out.push_str(&format!("\\u{:04x}", letter as u32)),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_response_holds_is_written_as_json() {
        let value = Recipe::Dict(vec![
            (text("a\"b"), Recipe::List(vec![Recipe::None, Recipe::Float(1.5), Recipe::Bool(true)])),
            (Recipe::Int(3), Recipe::Mock(crate::value::AbstractValue::Object)),
            (text("line"), text("x\ny\\")),
        ]);
        assert_eq!(json(&value), r#"{"a\"b": [null, 1.5, true], "3": 1, "line": "x\u000ay\\"}"#);
    }

    #[test]
    fn responses_are_made_as_their_libraries_make_them() {
        let shown = answers(OF_HTTPX)[0].display();
        assert!(
            shown.starts_with("httpx.Response(200, headers={'Content-Type': 'application/json'}, content="),
            "{shown}"
        );
        assert!(shown.ends_with("request=httpx.Request('GET', 'https://example.com/items'))"), "{shown}");
        assert!(answers(OF_REQUESTS)[1].display().starts_with("requests.Response(status_code=404, reason='Not Found'"));
    }
}
