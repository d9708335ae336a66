//! A language model behind an endpoint that speaks OpenAI's protocol for chats: a server on this machine or a service.
//!
//! Only the conversation is sent. Nothing in a reply is trusted: its size is bounded, and what is not as agreed is an error
//! of one line.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use twincell_values::language_model::{Answers, LanguageModel, NoAnswer, Question, Role, SHORTEST_ANSWER, tokens_of};
use ureq::Agent;

use crate::address::{Address, BadAddress, Secrets};

const URL: &str = "TWINCELL_LLM_URL";
const MODEL: &str = "TWINCELL_LLM_MODEL";
const KEY: &str = "TWINCELL_LLM_KEY";

/// The time limit of one request.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How often a request is tried, and how long the first pause between two of them is. Each further one is twice as long.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);
/// How often the caller is asked whether it still waits.
const INTERVAL: Duration = Duration::from_millis(20);
/// The maximum size of a reply in bytes, and of what an error quotes of one in characters.
const LARGEST: u64 = 16 << 20;
const QUOTED: usize = 200;

/// Why there is no endpoint, in one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error(
        "{URL} is not set: give the address of an OpenAI-compatible endpoint, e.g. http://localhost:8080/v1, and {MODEL}, or \
         use --generator local"
    )]
    NoUrl,
    #[error("{URL} cannot be {0:?}: give an address that begins with http:// or https://")]
    Scheme(String),
    #[error(
        "{URL} is not an address: write /, ?, #, @ and spaces in a name or a password as %2F, %3F, %23, %40 and %20"
    )]
    Unreadable,
    #[error("{0} needs TLS, which this build has not: `pip install .` or `make build` makes one that has")]
    NoTls(String),
    #[error("{MODEL} is not set: give the name of a model that {URL} has")]
    NoModel,
}

/// A language model behind an endpoint.
pub struct Endpoint {
    address: Address,
    secrets: Secrets,
    model: String,
    key: Option<String>,
    agent: Agent,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: Vec<Said<'a>>,
    n: u32,
    max_tokens: u64,
    seed: u64,
}

#[derive(Serialize)]
struct Said<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Deserialize)]
struct Reply {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Choice {
    message: Content,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    content: Option<String>,
}

/// How many tokens a server reports. What is no number says nothing.
fn reported(usage: &Value) -> u64 {
    let number = |name: &str| usage[name].as_u64().unwrap_or(0);
    number("total_tokens").max(number("prompt_tokens").saturating_add(number("completion_tokens")))
}

/// How one request ended.
enum Sent {
    Reply(Reply),
    /// It may help to try again.
    Busy(Problem),
    Refused(Problem),
}

/// What is wrong, and in which words others say so.
struct Problem {
    what: String,
    said: Option<String>,
}

impl Problem {
    fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), said: None }
    }

    fn quoting(what: impl Into<String>, said: impl Into<String>) -> Self {
        Self { what: what.into(), said: Some(said.into()) }
    }

    /// One line about an endpoint. A server may repeat the key that it refuses, and an error of a request what is in it.
    fn text(&self, shown: &str, secrets: &Secrets) -> String {
        let said = self.said.as_ref().map(|said| {
            let quoted: String = secrets.taken_out(said).trim().chars().take(QUOTED).collect();
            format!(": {quoted:?}")
        });
        format!("the language model at {shown} {}{}", self.what, said.unwrap_or_default())
    }
}

impl Endpoint {
    /// The endpoint that the variables of the environment name.
    pub fn from_environment() -> Result<Self, EndpointError> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let url = variable(URL).ok_or(EndpointError::NoUrl)?;
        Self::new(&url, &variable(MODEL).ok_or(EndpointError::NoModel)?, variable(KEY))
    }

    /// Which endpoint and which model the environment names, without credentials, for keys of rows.
    pub fn named() -> String {
        let [url, model] = [URL, MODEL].map(|name| std::env::var(name).unwrap_or_default());
        format!("{} {model}", Address::below(&url, "").map(|address| address.shown).unwrap_or_default())
    }

    pub fn new(url: &str, model: &str, key: Option<String>) -> Result<Self, EndpointError> {
        let address = Address::below(url, "/chat/completions").map_err(|bad| match bad {
            BadAddress::Scheme(shown) => EndpointError::Scheme(shown),
            BadAddress::Unreadable => EndpointError::Unreadable,
        })?;
        if cfg!(not(feature = "tls")) && address.is_tls {
            return Err(EndpointError::NoTls(address.shown));
        }
        let agent = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            // Neither the code nor the key goes to another address.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .build()
            .new_agent();
        let secrets = address.secrets(key.as_deref());
        Ok(Self { address, secrets, model: model.trim().to_owned(), key, agent })
    }

    /// Sends a request from a thread of its own, as long as somebody waits.
    fn send(&self, body: String, goes_on: &mut dyn FnMut() -> bool) -> Result<Sent, NoAnswer> {
        let (agent, url, key) = (self.agent.clone(), self.address.url.clone(), self.key.clone());
        let (sender, receiver) = mpsc::channel();
        // It ends by its time limit where nobody waits for it.
        std::thread::spawn(move || sender.send(post(&agent, &url, key.as_deref(), &body)));
        loop {
            match receiver.recv_timeout(INTERVAL) {
                Ok(sent) => return Ok(sent),
                Err(RecvTimeoutError::Timeout) if goes_on() => {}
                Err(RecvTimeoutError::Timeout) => return Err(NoAnswer::Stopped),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(NoAnswer::Failed(
                        "this is a bug in twincell, please report it: a request failed".into(),
                    ));
                }
            }
        }
    }

    /// A reply, after several attempts if need be. Each of them counts as sent.
    fn reply(
        &self,
        request: &Request<'_>,
        spent: &mut Spent,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Reply, NoAnswer> {
        let body = serde_json::to_string(request).map_err(|error| NoAnswer::Failed(error.to_string()))?;
        let mut pause = PAUSE;
        let mut attempt = 1;
        loop {
            spent.ask();
            match self.send(body.clone(), goes_on)? {
                Sent::Reply(reply) => {
                    spent.hear(&reply);
                    return Ok(reply);
                }
                Sent::Busy(_) if attempt < ATTEMPTS && spent.room(request.n) >= SHORTEST_ANSWER => {
                    wait(pause, goes_on)?;
                    pause *= 2;
                    attempt += 1;
                }
                Sent::Busy(problem) | Sent::Refused(problem) => {
                    return Err(NoAnswer::Failed(problem.text(&self.address.shown, &self.secrets)));
                }
            }
        }
    }

    /// Asks until all answers are there. Not every server gives several at once.
    fn ask(
        &self,
        question: &Question<'_>,
        (texts, spent): (&mut Vec<String>, &mut Spent),
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), NoAnswer> {
        let wanted = question.count as usize;
        for attempt in 0..question.count {
            let messages = question.conversation.iter().map(|message| Said {
                role: match message.role {
                    Role::User => "user",
                    Role::Assistant => "assistant",
                },
                content: &message.text,
            });
            let n = question.count - texts.len() as u32;
            let max_tokens = question.length.min(spent.room(n));
            if max_tokens < SHORTEST_ANSWER.min(question.length) {
                break;
            }
            let seed = question.seed.wrapping_add(u64::from(attempt)) & u64::from(u32::MAX >> 1);
            let request = Request { model: &self.model, messages: messages.collect(), n, max_tokens, seed };
            let reply = self.reply(&request, spent, goes_on)?;
            texts.extend(reply.choices.into_iter().filter_map(|choice| choice.message.content));
            texts.truncate(wanted);
            if texts.len() == wanted {
                break;
            }
        }
        Ok(())
    }
}

impl LanguageModel for Endpoint {
    fn answer(&self, question: &Question<'_>, goes_on: &mut dyn FnMut() -> bool) -> Answers {
        let mut spent = Spent::new(question);
        let mut texts = Vec::new();
        let ended = self.ask(question, (&mut texts, &mut spent), goes_on).err();
        Answers { texts, tokens: spent.total, ended }
    }
}

/// What a question costs: for each request, the larger of what the server reports and what went over the line.
struct Spent {
    /// The tokens of the conversation.
    asked: u64,
    /// The tokens that may be spent.
    left: u64,
    total: u64,
}

impl Spent {
    fn new(question: &Question<'_>) -> Self {
        let asked = tokens_of(question.conversation.iter().map(|message| message.text.as_str()));
        Self { asked, left: question.left, total: 0 }
    }

    /// A request goes out.
    fn ask(&mut self) {
        self.total = self.total.saturating_add(self.asked);
    }

    /// Its reply is here.
    fn hear(&mut self, reply: &Reply) {
        let heard = tokens_of(reply.choices.iter().filter_map(|choice| choice.message.content.as_deref()));
        let reported = reported(&reply.usage).saturating_sub(self.asked);
        self.total = self.total.saturating_add(heard.max(reported));
    }

    /// How long each of so many answers to another request may be.
    fn room(&self, answers: u32) -> u64 {
        self.left.saturating_sub(self.total).saturating_sub(self.asked) / u64::from(answers.max(1))
    }
}

fn wait(pause: Duration, goes_on: &mut dyn FnMut() -> bool) -> Result<(), NoAnswer> {
    let mut left = pause;
    while !left.is_zero() {
        if !goes_on() {
            return Err(NoAnswer::Stopped);
        }
        let step = left.min(INTERVAL);
        std::thread::sleep(step);
        left -= step;
    }
    Ok(())
}

fn post(agent: &Agent, url: &str, key: Option<&str>, body: &str) -> Sent {
    let mut request = agent.post(url).header("Content-Type", "application/json");
    if let Some(key) = key {
        request = request.header("Authorization", format!("Bearer {key}"));
    }
    let late = |what| Sent::Refused(Problem::new(format!("does not {what} within {} seconds", TIMEOUT.as_secs())));
    let mut response = match request.send(body) {
        Ok(response) => response,
        // Who took that long once would take it again.
        Err(ureq::Error::Timeout(_)) => return late("answer"),
        Err(error @ (ureq::Error::Io(_) | ureq::Error::HostNotFound | ureq::Error::ConnectionFailed)) => {
            return Sent::Busy(Problem::quoting("cannot be reached", error.to_string()));
        }
        // The key is in the request, so that an error of the request may quote it.
        Err(ureq::Error::Http(_)) => {
            return Sent::Refused(Problem::new(format!("cannot be asked: check {URL} and {KEY}")));
        }
        Err(error) => return Sent::Refused(Problem::quoting("cannot be asked", error.to_string())),
    };
    let status = response.status();
    let text = match response.body_mut().with_config().limit(LARGEST).read_to_string() {
        Ok(text) => text,
        Err(ureq::Error::Timeout(_)) => return late("end its answer"),
        Err(ureq::Error::Io(error)) => return Sent::Busy(Problem::quoting("breaks off", error.to_string())),
        Err(error) => return Sent::Refused(Problem::quoting("gives an answer that cannot be read", error.to_string())),
    };
    if status.is_success() {
        return match serde_json::from_str(&text) {
            Ok(reply) => Sent::Reply(reply),
            Err(_) => Sent::Refused(Problem::quoting("gives no chat completion", text)),
        };
    }
    let problem = Problem::quoting(format!("refuses with status {}", status.as_u16()), text);
    if status.as_u16() == 429 || status.is_server_error() { Sent::Busy(problem) } else { Sent::Refused(problem) }
}

#[cfg(test)]
mod tests {
    use twincell_values::language_model::Message;

    use super::*;

    #[test]
    fn an_address_that_is_none_is_refused() {
        let problem = |url: &str| Endpoint::new(url, "m", None).err().map(|error| error.to_string());
        assert_eq!(problem("http://localhost:1/v1/"), None);
        assert_eq!(problem("https://example.com"), None);
        assert!(problem("file:///etc/passwd").is_some_and(|problem| problem.contains("http://")));
        assert!(problem("localhost:8080").is_some());
    }

    #[test]
    fn a_request_counts_by_the_larger_of_what_is_reported_and_what_was_sent() {
        let conversation = [Message { role: Role::User, text: "x".repeat(400) }];
        let question = Question { conversation: &conversation, count: 1, length: 10, left: 1000, seed: 0 };
        let spent = |usage: &str, answer: usize| {
            let reply =
                format!(r#"{{"choices": [{{"message": {{"content": "{}"}}}}], "usage": {usage}}}"#, "y".repeat(answer));
            let mut spent = Spent::new(&question);
            spent.ask();
            spent.hear(&serde_json::from_str(&reply).unwrap());
            spent.total
        };
        for (usage, answer, expected) in [
            ("null", 40, 110),
            ("7", 40, 110),
            (r#"{"total_tokens": 0}"#, 40, 110),
            (r#"{"total_tokens": -5}"#, 40, 110),
            (r#"{"total_tokens": "9"}"#, 41, 111),
            (r#"{"total_tokens": 500}"#, 40, 500),
            (r#"{"total_tokens": 1, "prompt_tokens": 100, "completion_tokens": 90}"#, 40, 190),
            (r#"{"total_tokens": 18446744073709551615}"#, 40, u64::MAX),
        ] {
            assert_eq!(spent(usage, answer), expected, "{usage}");
        }
    }
}
