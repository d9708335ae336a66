//! What a language model is: a conversation goes in, texts come out. Who answers, and over which network, is not known here.

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
}

/// A part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub role: Role,
    pub text: String,
}

/// An answer with less room says nothing.
pub const SHORTEST_ANSWER: u64 = 64;

/// About how many tokens these texts have: one for four characters.
pub fn tokens_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    texts.into_iter().map(|text| text.len() as u64).sum::<u64>().div_ceil(4)
}

/// What a model is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub conversation: &'a [Message],
    /// The number of different answers.
    pub count: u32,
    /// The maximum number of tokens of one answer.
    pub length: u64,
    /// The maximum number of tokens of all requests together, with what they send.
    pub left: u64,
    pub seed: u64,
}

/// What a model answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers {
    pub texts: Vec<String>,
    /// The number of tokens of all requests and their answers, also where they failed.
    pub tokens: u64,
    /// Why there are no more answers, if one failed.
    pub ended: Option<NoAnswer>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAnswer {
    /// Nobody waits for it any more.
    Stopped,
    /// One line for people.
    Failed(String),
}

/// A language model. Nothing in its answers is trusted.
pub trait LanguageModel: Send + Sync {
    /// Answers a conversation. `goes_on` is asked often, and says whether somebody still waits.
    fn answer(&self, question: &Question<'_>, goes_on: &mut dyn FnMut() -> bool) -> Answers;
}
