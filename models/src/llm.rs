//! A language model behind an endpoint that speaks OpenAI's protocol for chats: a server on this machine or a service.
//!
//! Only the conversation is sent. Nothing in a reply is trusted: its size is bounded, and what is not as agreed is an error
//! of one line.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use twincell_prefix::{Answers, LanguageModel, Message, NoAnswer, Question, Role};
use ureq::Agent;

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
    Url(String),
    #[error("{0} needs TLS, which this build has not: `pip install .` or `make build` makes one that has")]
    NoTls(String),
    #[error("{MODEL} is not set: give the name of a model that {URL} has")]
    NoModel,
}

/// A language model behind an endpoint.
pub struct Endpoint {
    url: String,
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
    usage: Option<Usage>,
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

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    total_tokens: Option<u64>,
}

/// How one request ended.
enum Sent {
    Reply(Reply),
    /// It may help to try again.
    Busy(String),
    Refused(String),
}

impl Endpoint {
    /// The endpoint that the variables of the environment name.
    pub fn from_environment() -> Result<Self, EndpointError> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let url = variable(URL).ok_or(EndpointError::NoUrl)?;
        Self::new(&url, &variable(MODEL).ok_or(EndpointError::NoModel)?, variable(KEY))
    }

    /// Which endpoint and which model the environment names, for people and for keys of rows.
    pub fn named() -> String {
        [URL, MODEL].map(|name| std::env::var(name).unwrap_or_default()).join(" ")
    }

    pub fn new(url: &str, model: &str, key: Option<String>) -> Result<Self, EndpointError> {
        let url = url.trim().trim_end_matches('/');
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(EndpointError::Url(url.to_owned()));
        }
        if cfg!(not(feature = "tls")) && url.starts_with("https://") {
            return Err(EndpointError::NoTls(url.to_owned()));
        }
        let agent = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            // Neither the code nor the key goes to another address.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .build()
            .new_agent();
        Ok(Self { url: format!("{url}/chat/completions"), model: model.trim().to_owned(), key, agent })
    }

    /// Sends a request from a thread of its own, as long as somebody waits.
    fn send(&self, body: String, goes_on: &mut dyn FnMut() -> bool) -> Result<Sent, NoAnswer> {
        let (agent, url, key) = (self.agent.clone(), self.url.clone(), self.key.clone());
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

    /// A reply, after several attempts if need be.
    fn reply(&self, request: &Request<'_>, goes_on: &mut dyn FnMut() -> bool) -> Result<Reply, NoAnswer> {
        let body = serde_json::to_string(request).map_err(|error| NoAnswer::Failed(error.to_string()))?;
        let mut pause = PAUSE;
        let mut attempt = 1;
        loop {
            match self.send(body.clone(), goes_on)? {
                Sent::Reply(reply) => return Ok(reply),
                Sent::Busy(_) if attempt < ATTEMPTS => {
                    wait(pause, goes_on)?;
                    pause *= 2;
                    attempt += 1;
                }
                Sent::Busy(reason) | Sent::Refused(reason) => {
                    return Err(NoAnswer::Failed(format!("the language model at {} {reason}", self.url)));
                }
            }
        }
    }
}

impl LanguageModel for Endpoint {
    fn answer(&self, question: &Question<'_>, goes_on: &mut dyn FnMut() -> bool) -> Result<Answers, NoAnswer> {
        let said = |message: &Message| -> usize { message.text.len() / 4 };
        let asked: usize = question.conversation.iter().map(said).sum();
        let mut answers = Answers::default();
        // Not every server gives several answers at once.
        for attempt in 0..question.count {
            let messages = question.conversation.iter().map(|message| Said {
                role: match message.role {
                    Role::User => "user",
                    Role::Assistant => "assistant",
                },
                content: &message.text,
            });
            let request = Request {
                model: &self.model,
                messages: messages.collect(),
                n: question.count - answers.texts.len() as u32,
                max_tokens: question.length,
                seed: question.seed.wrapping_add(u64::from(attempt)) & u64::from(u32::MAX >> 1),
            };
            let reply = match self.reply(&request, goes_on) {
                // The earlier answers count.
                Err(NoAnswer::Failed(_)) if !answers.texts.is_empty() => break,
                reply => reply?,
            };
            let texts: Vec<String> = reply.choices.into_iter().filter_map(|choice| choice.message.content).collect();
            // Where a server does not count, four characters are about a token.
            let estimate = (asked + texts.iter().map(|text| text.len() / 4).sum::<usize>()) as u64;
            let used = reply.usage.and_then(|usage| usage.total_tokens).unwrap_or(estimate);
            answers.tokens = answers.tokens.saturating_add(used);
            answers.texts.extend(texts);
            answers.texts.truncate(question.count as usize);
            if answers.texts.len() as u32 == question.count {
                break;
            }
        }
        Ok(answers)
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
    let mut response = match request.send(body) {
        Ok(response) => response,
        // Who took that long once would take it again.
        Err(ureq::Error::Timeout(_)) => {
            return Sent::Refused(format!("does not answer within {} seconds", TIMEOUT.as_secs()));
        }
        Err(error @ (ureq::Error::Io(_) | ureq::Error::HostNotFound | ureq::Error::ConnectionFailed)) => {
            return Sent::Busy(format!("cannot be reached: {error}"));
        }
        // The key is in the request, so that an error of the request may quote it.
        Err(ureq::Error::Http(_)) => return Sent::Refused(format!("cannot be asked: check {URL} and {KEY}")),
        Err(error) => return Sent::Refused(format!("cannot be asked: {error}")),
    };
    let status = response.status();
    let text = match response.body_mut().with_config().limit(LARGEST).read_to_string() {
        Ok(text) => text,
        Err(ureq::Error::Timeout(_)) => {
            return Sent::Refused(format!("does not end its answer within {} seconds", TIMEOUT.as_secs()));
        }
        Err(ureq::Error::Io(error)) => return Sent::Busy(format!("breaks off: {error}")),
        Err(error) => return Sent::Refused(format!("gives an answer that cannot be read: {error}")),
    };
    // A server may say which key it refuses.
    let text = key.map_or(text.clone(), |key| text.replace(key, "..."));
    if status.is_success() {
        return match serde_json::from_str(&text) {
            Ok(reply) => Sent::Reply(reply),
            Err(_) => Sent::Refused(format!("gives no chat completion but {:?}", quoted(&text))),
        };
    }
    let reason = format!("refuses with status {}: {:?}", status.as_u16(), quoted(&text));
    if status.as_u16() == 429 || status.is_server_error() { Sent::Busy(reason) } else { Sent::Refused(reason) }
}

/// The beginning of a text.
fn quoted(text: &str) -> String {
    text.trim().chars().take(QUOTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_none_is_refused() {
        let problem = |url: &str| Endpoint::new(url, "m", None).err().map(|error| error.to_string());
        assert_eq!(problem("http://localhost:1/v1/"), None);
        assert_eq!(problem("https://example.com"), None);
        assert!(problem("file:///etc/passwd").is_some_and(|problem| problem.contains("http://")));
        assert!(problem("localhost:8080").is_some());
    }
}
