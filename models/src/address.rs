//! Addresses of endpoints: what a request goes to, and what people may see of it.
//!
//! An address may have a name, a password and a query, and all three may be credentials. None of them is ever printed, nor
//! the key: [`Secrets`] takes them out of whatever others say.

use ureq::http::Uri;

/// What stands where a secret was.
const HIDDEN: &str = "...";
/// Shorter texts are in every sentence, and are taken out of none.
const SHORTEST: usize = 4;

/// What is wrong with an address. Nothing of the address is said if it may have credentials.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BadAddress {
    /// It is not one of http or https. What is shown of it.
    Scheme(String),
    /// It has a scheme, and the rest cannot be read.
    Unreadable,
}

/// The address of an endpoint.
#[derive(Debug)]
pub(crate) struct Address {
    /// Where requests go.
    pub(crate) url: String,
    /// Scheme, host, port and path.
    pub(crate) shown: String,
    pub(crate) is_tls: bool,
    secrets: Vec<String>,
}

impl Address {
    /// The address of `path` below a base that the user has given.
    pub(crate) fn below(base: &str, path: &str) -> Result<Self, BadAddress> {
        let base = base.trim();
        let (scheme, rest) = base.split_once("://").unwrap_or_default();
        let is_tls = scheme.eq_ignore_ascii_case("https");
        if !is_tls && !scheme.eq_ignore_ascii_case("http") {
            let is_plain = !base.contains(['@', '?', '#']);
            return Err(BadAddress::Scheme(if is_plain { base.to_owned() } else { HIDDEN.to_owned() }));
        }
        let uri: Uri = base.parse().map_err(|_| BadAddress::Unreadable)?;
        let authority = uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        // A password with a slash or a question mark ends the authority early, and a part of it would be taken for the host.
        let is_torn = rest.strip_prefix(authority).is_none_or(|rest| rest.contains('@')) || base.contains('#');
        if host.is_empty() || user.contains('@') || is_torn {
            return Err(BadAddress::Unreadable);
        }
        let folder = uri.path().trim_end_matches('/');
        let query = uri.query().unwrap_or_default();
        let scheme = scheme.to_ascii_lowercase();
        let shown = format!("{scheme}://{host}{folder}{path}");
        let url = if query.is_empty() { shown.clone() } else { format!("{shown}?{query}") };
        let url = if user.is_empty() { url } else { url.replacen("://", &format!("://{user}@"), 1) };
        let of_query = query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
        let secrets = [user, query].into_iter().chain(user.split(':')).chain(of_query);
        Ok(Self { secrets: secrets.map(str::to_owned).collect(), url, shown, is_tls })
    }

    /// What may not be printed: the parts of the address, and the key.
    pub(crate) fn secrets(&self, key: Option<&str>) -> Secrets {
        let plain = self.secrets.iter().map(String::as_str).chain(key);
        let mut texts: Vec<String> = plain.flat_map(|text| [text.to_owned(), decoded(text)]).collect();
        texts.retain(|text| text.len() >= SHORTEST);
        // A part of a secret must not hide the whole.
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Secrets(texts)
    }
}

/// Texts that are never printed.
#[derive(Debug, Clone)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// A text of others without them.
    pub(crate) fn taken_out(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
    }
}

/// A part of an address without `%40` and the like.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| first == b'%').and_then(|digits| str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_sent_and_not_shown() {
        for (base, url, shown) in [
            ("http://localhost:1/v1/", "http://localhost:1/v1/chat", "http://localhost:1/v1/chat"),
            ("https://ann:s3cret@h.example/v1", "https://ann:s3cret@h.example/v1/chat", "https://h.example/v1/chat"),
            ("HTTP://h/v1?key=s3cret", "http://h/v1/chat?key=s3cret", "http://h/v1/chat"),
            ("http://[::1]:8/", "http://[::1]:8/chat", "http://[::1]:8/chat"),
        ] {
            let address = Address::below(base, "/chat").unwrap();
            assert_eq!((address.url.as_str(), address.shown.as_str()), (url, shown));
        }
    }

    #[test]
    fn nothing_is_shown_of_an_address_that_cannot_be_read() {
        for base in
            ["http://ann:s3/cret@h/v1", "http://ann:7?cret@h/v1", "http://ann:s3#cret@h", "http://a b@h", "http://@@h"]
        {
            assert_eq!(Address::below(base, "").unwrap_err(), BadAddress::Unreadable, "{base}");
        }
        let scheme = |base| match Address::below(base, "") {
            Err(BadAddress::Scheme(shown)) => shown,
            other => panic!("{other:?}"),
        };
        assert_eq!(scheme("localhost:8080"), "localhost:8080");
        assert_eq!(scheme("ftp://ann:s3cret@h"), HIDDEN);
    }

    #[test]
    fn what_others_say_loses_its_secrets() {
        let address = Address::below("http://ann%40x:p%2Fw0rd@h/v1?key=abcd&x=1", "").unwrap();
        let secrets = address.secrets(Some("the-key"));
        for said in ["ann@x:p/w0rd", "p%2Fw0rd", "p/w0rd", "key=abcd", "abcd", "the-key"] {
            let left = secrets.taken_out(&format!("no {said}!"));
            assert!(!["w0rd", "abcd", "the-key"].iter().any(|secret| left.contains(secret)), "{left}");
        }
        assert_eq!(secrets.taken_out("x=1"), "x=1");
    }
}
