//! What reaches a network, which a sandbox refuses and a person would not want: libraries that everybody knows.

/// What a call gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Response,
    Session,
}

impl Role {
    /// The name of a class for it.
    pub fn class(self) -> &'static str {
        match self {
            Role::Response => "Response",
            Role::Session => "Session",
        }
    }
}

const VERBS: &[&str] = &["get", "post", "put", "patch", "delete", "head", "options", "request", "stream", "send"];
const SESSIONS: &[&str] = &[
    "requests.Session",
    "requests.session",
    "requests.sessions.Session",
    "httpx.Client",
    "httpx.AsyncClient",
    "aiohttp.ClientSession",
];
const FUNCTIONS: &[&str] = &["urllib.request.urlopen", "urllib2.urlopen", "aiohttp.request"];

/// What a call of a dotted name gives, if it reaches a network. `()` behind a name is what a call of it gives.
pub fn role(called: &str) -> Option<Role> {
    if SESSIONS.contains(&called) {
        return Some(Role::Session);
    }
    if FUNCTIONS.contains(&called) {
        return Some(Role::Response);
    }
    let (holder, verb) = called.rsplit_once('.')?;
    let is_holder =
        matches!(holder, "requests" | "httpx") || holder.strip_suffix("()").is_some_and(|of| SESSIONS.contains(&of));
    (is_holder && VERBS.contains(&verb)).then_some(Role::Response)
}

/// Whether a value is what somebody answers.
pub fn is_answer(origin: &str) -> bool {
    origin.strip_suffix("()").is_some_and(|called| role(called) == Some(Role::Response))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_that_everybody_knows_reach_a_network() {
        assert_eq!(role("requests.get"), Some(Role::Response));
        assert_eq!(role("httpx.AsyncClient().post"), Some(Role::Response));
        assert_eq!(role("aiohttp.ClientSession"), Some(Role::Session));
        assert_eq!((role("requests.codes"), role("shop.get")), (None, None));
        assert!(is_answer("requests.get()") && !is_answer("requests.Session()"));
    }
}
