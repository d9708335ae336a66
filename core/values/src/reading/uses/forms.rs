//! Texts of the forms that parsing functions read: addresses, dates, paths, JSON, encodings. Each form has texts with
//! and without each of its parts.

use ruff_python_ast::{Expr, ExprCall};

use super::Uses;
use crate::reading::written::{literal, named};
use crate::value::Recipe;

const ADDRESSES: &[&str] = &[
    "http://user:pw@example.com:8080/a/b.txt?q=1&r=#top",
    "http://example.com",
    "https://example.com/",
    "https://Example.com:443/a?q=1",
    "//example.com/a",
    "/a/b?q=1&q=2",
    "?q=&r=a%20b",
    "#top",
    "mailto:user@example.com",
    "example.com:80",
    "http://[::1]:80/",
    "file:///a/b",
];
/// Those that a request may have.
const REQUESTED: &[&str] =
    &["https://example.com/", "http://example.com/a", "https://example.com/a/b?q=1", "http://localhost:8080"];
const QUERIES: &[&str] = &["q=1", "q=1&q=2", "q=&r=1", "q", "a%20b=c+d", "q=1;r=2", "&"];
const ESCAPED: &[&str] = &["a%20b", "a+b", "%C3%A9", "%", "a%2Fb", "%zz"];
const DATES: &[&str] = &[
    "2024-02-29",
    "1999-12-31T23:59:59",
    "2000-01-01T00:00:00+00:00",
    "2023-06-15 12:30:00.123456",
    "2023-06-15T12:30",
    "1970-01-01",
];
const MAIL_DATES: &[&str] =
    &["Thu, 29 Feb 2024 23:59:59 GMT", "Mon, 1 Jan 2024 00:00:00 +0100", "15 Jun 2023 12:30:00 -0000"];
const PATHS: &[&str] =
    &["a.txt", "a/b.txt", "/a/b/c.tar.gz", "a/", "/", ".hidden", "a.b/c", "../a", "a//b", "~/a", "a", "./A.TXT"];
const OPENED: &[&str] = &["a.txt", "a/b.txt", "data", ".hidden", "a/b/c.csv"];
const NAMES: &[&str] = &["a.txt", "a.tar.gz", "a.html", "a", "a.png", "A.JSON"];
const BASE64: &[&str] = &["YQ==", "YWI=", "YWJj", "YWJjZA==", "_-8=", "YQ"];
const HEXADECIMAL: &[&str] = &["00ff", "ff", "0", "FF00", "zz"];
const LITERALS: &[&str] =
    &["1", "'a'", "[1, 2]", "(1,)", "{'a': 1}", "None", "True", "1.5", "{1}", "a", "b'a'", "[]", "0"];
const MACHINES: &[&str] = &["127.0.0.1", "8.8.8.8", "10.0.0.1", "::1", "2001:db8::1", "0.0.0.0", "256.0.0.1"];
const NETWORKS: &[&str] = &["10.0.0.0/8", "192.168.0.1/24", "::/0", "127.0.0.1"];
const WORDS: &[&str] = &["a b", "a 'b c'", "a \"b c\" d", "a\\ b", "a #b", "'a"];
const DECIMALS: &[&str] = &["1.5", "-0", "0", "1E+3", "NaN", "Infinity", "-1.50", "100"];
const IDENTIFIERS: &[&str] = &["12345678-1234-5678-1234-567812345678", "{12345678123456781234567812345678}", "1234"];
const ZONES: &[&str] = &["Europe/Berlin", "UTC", "America/New_York", "Asia/Kolkata"];
const RELEASES: &[&str] = &["1.0", "1.0.1", "2.0rc1", "1.0.dev1", "1!2.0", "1.0+local", "1.10"];

/// The last names of functions whose first argument is a text of a form, and texts of this form. A name with a dot is
/// that of a function in a module.
const FORMS: [(&[&str], &[&str]); 21] = [
    (&["urlparse", "urlsplit", "urldefrag"], ADDRESSES),
    (
        &["requests.get", "requests.post", "requests.put", "requests.patch", "requests.delete", "requests.head"],
        REQUESTED,
    ),
    (&["urlopen", "Request", "requests.options"], REQUESTED),
    (&["parse_qs", "parse_qsl"], QUERIES),
    (&["unquote", "unquote_plus"], ESCAPED),
    (&["fromisoformat"], DATES),
    (&["parsedate", "parsedate_tz", "parsedate_to_datetime"], MAIL_DATES),
    (&["splitext", "basename", "dirname", "path.split", "normpath"], PATHS),
    (
        &[
            "open",
            "os.makedirs",
            "os.mkdir",
            "os.listdir",
            "os.scandir",
            "os.remove",
            "os.unlink",
            "os.stat",
            "path.exists",
            "path.isfile",
            "path.isdir",
            "path.getsize",
            "path.getmtime",
            "os.chdir",
            "os.rmdir",
            "os.rename",
            "os.replace",
            "shutil.rmtree",
            "shutil.copy",
            "shutil.copyfile",
            "shutil.move",
        ],
        OPENED,
    ),
    (&["PurePath", "PurePosixPath", "Path", "PosixPath"], PATHS),
    (&["guess_type", "guess_extension"], NAMES),
    (&["b64decode", "urlsafe_b64decode", "standard_b64decode"], BASE64),
    (&["unhexlify", "fromhex"], HEXADECIMAL),
    (&["literal_eval"], LITERALS),
    (&["ip_address"], MACHINES),
    (&["ip_network", "ip_interface"], NETWORKS),
    (&["shlex.split"], WORDS),
    (&["Decimal", "Fraction"], DECIMALS),
    (&["UUID"], IDENTIFIERS),
    (&["ZoneInfo", "pytz.timezone", "gettz"], ZONES),
    (&["LooseVersion", "StrictVersion", "parse_version"], RELEASES),
];

/// The builtin among them. Methods of other objects have its name, too.
const BUILTIN: &str = "open";

/// Digits of numbers of other bases than ten.
const BASES: [(i64, &[&str]); 4] = [
    (16, &["ff", "0xff", "100", "FE", "7f", "0", "g"]),
    (8, &["17", "0o17", "777", "0", "8"]),
    (2, &["101", "0b11", "0", "1", "2"]),
    (0, &["0xff", "0b11", "0o17", "12", "0", "012"]),
];

/// The value that a call parses, with texts of the form that it reads.
pub fn parsed(call: &ExprCall) -> Option<(&Expr, Vec<String>)> {
    let name = named(&call.func)?;
    let first = call.arguments.find_positional(0)?;
    let second = || call.arguments.find_positional(1).and_then(literal);
    let last = name.rsplit('.').next().unwrap_or(&name);
    let texts: Vec<String> = match last {
        "strptime" => match second()? {
            Recipe::Str(format) => dated(&format),
            _ => return None,
        },
        "int" => match call.arguments.find_argument_value("base", 1).and_then(literal)? {
            Recipe::Int(base) => BASES.iter().find(|(own, _)| *own == base).map(|(_, texts)| owned(texts))?,
            _ => return None,
        },
        _ => {
            let is_it = |own: &&str| match own.split_once('.') {
                Some(_) => name == *own || name.ends_with(&format!(".{own}")),
                None => *own == last && (last != BUILTIN || name == BUILTIN),
            };
            FORMS.iter().find(|(names, _)| names.iter().any(&is_it)).map(|(_, texts)| owned(texts))?
        }
    };
    (!texts.is_empty()).then_some((first, texts))
}

/// Whether a call reads JSON.
pub(super) fn is_json(call: &ExprCall) -> bool {
    const MODULES: [&str; 5] = ["json", "simplejson", "ujson", "orjson", "rapidjson"];
    let name = named(&call.func).unwrap_or_default();
    name == "loads" || name.rsplit_once('.').is_some_and(|(module, own)| own == "loads" && MODULES.contains(&module))
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_string()).collect()
}

/// A moment as `strptime` reads its parts.
struct Moment {
    year: u32,
    month: usize,
    day: u32,
    /// Of the week, from Monday.
    weekday: usize,
    /// Of the year.
    number: u32,
    time: (u32, u32, u32),
    zone: &'static str,
}

const MOMENTS: [Moment; 5] = [
    Moment { year: 2024, month: 2, day: 29, weekday: 3, number: 60, time: (23, 59, 58), zone: "+0000" },
    Moment { year: 1999, month: 12, day: 31, weekday: 4, number: 365, time: (0, 0, 0), zone: "-0530" },
    Moment { year: 2000, month: 1, day: 1, weekday: 5, number: 1, time: (12, 30, 0), zone: "+0100" },
    Moment { year: 2023, month: 6, day: 15, weekday: 3, number: 166, time: (9, 5, 7), zone: "+0000" },
    Moment { year: 2010, month: 11, day: 3, weekday: 2, number: 307, time: (18, 0, 1), zone: "+0000" },
];
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Texts that `strptime` reads with this format. Empty if the format has a directive that is not known here.
fn dated(format: &str) -> Vec<String> {
    MOMENTS.iter().map_while(|moment| moment.written(format)).collect()
}

impl Moment {
    fn written(&self, format: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = format.chars();
        while let Some(character) = rest.next() {
            if character == '%' { out.push_str(&self.part(rest.next()?)?) } else { out.push(character) }
        }
        Some(out)
    }

    fn part(&self, directive: char) -> Option<String> {
        let Self { year, month, day, weekday, number, time: (hour, minute, second), zone } = *self;
        let (name, month_name) = (WEEKDAYS[weekday], MONTHS[month - 1]);
        Some(match directive {
            'Y' => year.to_string(),
            'y' => format!("{:02}", year % 100),
            'm' => format!("{month:02}"),
            'd' | 'e' => format!("{day:02}"),
            'H' => format!("{hour:02}"),
            'I' => format!("{:02}", (hour + 11) % 12 + 1),
            'p' => if hour < 12 { "AM" } else { "PM" }.to_string(),
            'M' => format!("{minute:02}"),
            'S' => format!("{second:02}"),
            'f' => format!("{:06}", second * 1000),
            'j' => format!("{number:03}"),
            'a' => name[..3].to_string(),
            'A' => name.to_string(),
            'b' | 'h' => month_name[..3].to_string(),
            'B' => month_name.to_string(),
            'z' => zone.to_string(),
            'Z' => "UTC".to_string(),
            'T' | 'X' => format!("{hour:02}:{minute:02}:{second:02}"),
            'x' | 'D' => format!("{month:02}/{day:02}/{:02}", year % 100),
            'F' => format!("{year}-{month:02}-{day:02}"),
            '%' => "%".to_string(),
            _ => return None,
        })
    }
}

/// Plain values as JSON writes them.
const PLAIN: [&str; 4] = ["\"a\"", "1", "null", "true"];
/// The maximum number of keys of an object, and of texts.
const MOST_KEYS: usize = 6;
const MOST_TEXTS: usize = 24;

/// JSON for a value that the code uses in this way: with all keys that it looks up, and without each of them.
pub(super) fn json(uses: &Uses) -> Vec<String> {
    let mut texts = Vec::new();
    let keys: Vec<&str> = uses
        .key_candidates
        .iter()
        .filter_map(|key| if let Recipe::Str(key) = key { Some(key.as_str()) } else { None })
        .take(MOST_KEYS)
        .collect();
    if !keys.is_empty() {
        let object = |value: &dyn Fn(usize) -> &'static str, without: Option<usize>| {
            let kept = keys.iter().enumerate().filter(|(index, _)| Some(*index) != without);
            let entries: Vec<String> = kept.map(|(index, key)| format!("{}: {}", quoted(key), value(index))).collect();
            format!("{{{}}}", entries.join(", "))
        };
        for value in PLAIN {
            texts.push(object(&|_| value, None));
        }
        for without in 0..keys.len() {
            texts.push(object(&|_| PLAIN[0], Some(without)));
            texts.push(object(&|index| PLAIN[index % 2], Some(without)));
        }
    }
    if let Some(element) = uses.element.as_deref().filter(|_| uses.iterated) {
        let items: Vec<String> = json(element).into_iter().take(MOST_TEXTS / 3).collect();
        texts.extend(items.iter().map(|item| format!("[{item}]")));
        texts.extend(items.windows(2).map(|pair| format!("[{}]", pair.join(", "))));
    }
    // One that is no JSON, which code may expect.
    texts.extend(owned(&["{", "{}", "[]", "[1, 2]", "{\"a\": 1}", "\"a\"", "1", "null"]));
    texts.dedup();
    texts.truncate(MOST_TEXTS);
    texts
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_the_form_of_their_format() {
        assert_eq!(dated("%d/%m/%Y %H:%M")[0], "29/02/2024 23:59");
        assert_eq!(dated("%a, %d %b %y %I %p %%")[2], "Sat, 01 Jan 00 12 PM %");
        assert!(dated("%Q").is_empty() && dated("%").is_empty());
    }

    #[test]
    fn json_has_the_keys_that_are_looked_up_and_lacks_each() {
        let keys = ["name", "size"].map(|key| Recipe::Str(key.into()));
        let object = Uses { key_candidates: keys.to_vec(), ..Uses::default() };
        let texts = json(&object);
        for wanted in [r#"{"name": "a", "size": "a"}"#, r#"{"size": "a"}"#, r#"{"name": "a"}"#, "{}"] {
            assert!(texts.iter().any(|text| text == wanted), "{wanted} is not in {texts:?}");
        }
        let list = json(&Uses { iterated: true, element: Some(Box::new(object)), ..Uses::default() });
        assert!(list.contains(&r#"[{"name": "a", "size": "a"}]"#.to_string()), "{list:?}");
    }
}
