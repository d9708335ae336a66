//! Text -> tokens, and the token at which a value site is read.

use serde::Deserialize;
use serde_json::Value;
use tokenizers::Tokenizer;

use twincell_syntax::site::Site;

use crate::ModelError;

/// Tokens that the network sees at once, unless `truncation.max_length` in tokenizer.json says otherwise.
const WINDOW: usize = 512;

/// The maximum number of tokens that a network may ask to see at once.
const LONGEST_WINDOW: usize = 1 << 16;
/// How many bytes of a text the normalizers of a tokenizer may make of one. Sentences of SentencePiece become three times
/// as long at most, each replacement by itself.
const LARGEST_GROWTH: usize = 256;

/// The parts of tokenizer.json that may make texts longer.
#[derive(Deserialize)]
struct Outline {
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
}

/// The tokenizer. It cuts nothing off, and adds no padding and no special tokens to a text.
pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    window: usize,
}

/// One text's tokens, in order.
pub(crate) struct Encoded {
    pub(crate) ids: Vec<i64>,
    /// The byte offset in the text at which each token starts, ascending. The pieces of one character start together.
    starts: Vec<usize>,
}

impl Tokens {
    /// The tokenizer of a model. `origin` names the model in errors.
    pub(crate) fn of_model(origin: &str, json: &[u8]) -> Result<Self, ModelError> {
        Self::from_json(json)
            .map_err(|reason| ModelError::Tokenizer { path: format!("{origin}/tokenizer.json"), reason })
    }

    fn from_json(json: &[u8]) -> Result<Self, String> {
        let outline: Outline = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        if growth(&outline.normalizer).saturating_mul(growth(&outline.pre_tokenizer)) > LARGEST_GROWTH {
            return Err(format!("its normalizers may make a text more than {LARGEST_GROWTH} times as long"));
        }
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(|error| error.to_string())?;
        let window = tokenizer.get_truncation().map_or(WINDOW, |truncation| truncation.max_length);
        if !(1..=LONGEST_WINDOW).contains(&window) {
            return Err(format!("its truncation.max_length is {window}, and 1 to {LONGEST_WINDOW} are allowed"));
        }
        tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
        tokenizer.with_padding(None);
        Ok(Tokens { tokenizer, window })
    }

    /// Tokens that the network sees at once.
    pub(crate) fn window(&self) -> usize {
        self.window
    }

    /// The highest number of a token.
    pub(crate) fn last_id(&self) -> i64 {
        i64::from(self.tokenizer.get_vocab(true).into_values().max().unwrap_or(0))
    }

    /// The number of a token, if the vocabulary has it.
    pub(crate) fn id(&self, token: &str) -> Option<i64> {
        self.tokenizer.token_to_id(token).map(i64::from)
    }

    /// The numbers of a text's tokens.
    pub(crate) fn ids(&self, text: &str) -> Result<Vec<i64>, String> {
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|error| error.to_string())?;
        Ok(encoding.get_ids().iter().map(|&id| i64::from(id)).collect())
    }

    pub(crate) fn encode(&self, text: &str) -> Result<Encoded, String> {
        let encoding = self.tokenizer.encode(text, false).map_err(|error| error.to_string())?;
        Ok(Encoded {
            ids: encoding.get_ids().iter().map(|&id| i64::from(id)).collect(),
            starts: encoding.get_offsets().iter().map(|&(start, _)| start).collect(),
        })
    }
}

/// How many times as long a normalizer, or what splits texts, may make a text: all of its parts one after the other.
fn growth(part: &Value) -> usize {
    let inner = ["normalizers", "pretokenizers"].iter().filter_map(|name| part.get(name)?.as_array());
    inner.flatten().fold(own_growth(part), |growth_so_far, inner| growth_so_far.saturating_mul(growth(inner)))
}

/// The same for one part by itself. There is no bound for a type of part that is not known.
fn own_growth(part: &Value) -> usize {
    let length = |name: &str| part.get(name).and_then(Value::as_str).map_or(0, str::len);
    match part.get("type").and_then(Value::as_str) {
        None if part.is_null() => 1,
        // A regular expression may match the empty text between any two characters, which stay.
        Some("Replace") => length("content").saturating_add(1),
        Some("Prepend") => length("prepend").saturating_add(1),
        Some("Metaspace") => length("replacement").saturating_add(1),
        // A byte becomes a character of up to two bytes.
        Some("ByteLevel") => 2,
        Some("NFC" | "NFD") => 4,
        // A map of SentencePiece does the same.
        Some("NFKC" | "NFKD" | "Precompiled") => 12,
        Some("Lowercase") => 2,
        // It puts spaces around a character.
        Some("BertNormalizer") => 4,
        Some(
            "Sequence" | "Split" | "Whitespace" | "WhitespaceSplit" | "Punctuation" | "Digits" | "CharDelimiterSplit"
            | "BertPreTokenizer" | "FixedLength" | "UnicodeScripts" | "Strip" | "StripAccents",
        ) => 1,
        _ => usize::MAX,
    }
}

impl Encoded {
    /// The token that holds the site's last character, or the last piece if several tokens hold it.
    pub(crate) fn token_of(&self, site: &Site) -> Option<usize> {
        let end = site.end as usize;
        self.starts.partition_point(|&start| start < end).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::Weights;
    use twincell_syntax::site::SiteKind;

    fn tokens() -> Tokens {
        Tokens::from_json(&Weights::embedded().tokenizer).unwrap()
    }

    fn site(text: &str, expression: &str) -> Site {
        let start = text.find(expression).unwrap();
        Site {
            kind: SiteKind::Name,
            start: start as u32,
            end: (start + expression.len()) as u32,
            line: 1,
            identifier: expression.to_owned(),
            path: expression.to_owned(),
            catches: Vec::new(),
            discarded: false,
        }
    }

    #[test]
    fn a_site_is_read_at_the_token_of_its_last_character() {
        for (text, expression, last) in [
            ("def f(a):\n    return a.b(c)[0]", "a.b(c)[0]", "]"),
            ("def f(a):\n    return a.b(c)[0]", "a.b(c)", ")"),
            ("def f(a):\r\n    x = a.count\r\n    return x", "a.count", "count"),
            ("def f(a):\n    é = 'größe ☃'; return a.größe + é", "a.größe", "e"),
            ("x = '☃☃☃'\ny = data['k']", "data['k']", "]"),
        ] {
            let encoded = tokens().encode(text).unwrap();
            let site = site(text, expression);
            let token = encoded.token_of(&site).unwrap();
            let end = encoded.starts.get(token + 1).copied().unwrap_or(text.len());
            assert!(encoded.starts[token] < site.end as usize && site.end as usize <= end, "{text}");
            assert!(text[encoded.starts[token]..site.end as usize].ends_with(last), "{text}");
        }
    }

    #[test]
    fn a_character_in_several_tokens_is_read_at_its_last_piece() {
        let text = "x = 🜚";
        let encoded = tokens().encode(text).unwrap();
        assert!(encoded.starts.iter().filter(|&&start| start == 4).count() > 1, "{:?}", encoded.starts);
        assert_eq!(encoded.token_of(&site(text, "🜚")), Some(encoded.ids.len() - 1));
        assert!(encoded.token_of(&site(text, "x")) == Some(0));
    }

    #[test]
    fn every_byte_of_a_text_is_in_some_token() {
        let text = "def f(α, *args):\r\n\t# \u{1F40D} комментарий\r\n\treturn α['x']  \n\n\n    + f\"{α!r:>10}\"";
        let encoded = tokens().encode(text).unwrap();
        let pieces: Vec<String> =
            encoded.ids.iter().map(|&id| tokens().tokenizer.id_to_token(id as u32).unwrap()).collect();
        // Byte-level BPE writes one character for each byte.
        assert_eq!(pieces.iter().map(|piece| piece.chars().count()).sum::<usize>(), text.len());
    }

    #[test]
    fn the_window_is_512_unless_the_tokenizer_says_otherwise() {
        assert_eq!(tokens().window(), 512);
        let mut json: serde_json::Value = serde_json::from_slice(&Weights::embedded().tokenizer).unwrap();
        json["truncation"] = serde_json::json!(
            {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0});
        let short = Tokens::from_json(json.to_string().as_bytes()).unwrap();
        assert_eq!(short.window(), 128);
        assert!(short.encode(&"a + ".repeat(200)).unwrap().ids.len() > 128, "nothing is cut off");
    }

    #[test]
    fn a_tokenizer_that_asks_for_much_is_refused() {
        let with = |part: &str, value: serde_json::Value| {
            let mut json: serde_json::Value = serde_json::from_slice(&Weights::embedded().tokenizer).unwrap();
            json[part] = value;
            Tokens::from_json(json.to_string().as_bytes()).err().unwrap_or_default()
        };
        for length in [0u64, 1 << 17, 1 << 40, u64::MAX] {
            let truncation = serde_json::json!(
                {"direction": "Right", "max_length": length, "strategy": "LongestFirst", "stride": 0});
            assert!(with("truncation", truncation).contains("its truncation.max_length is"), "{length}");
        }
        let replace = |with: &str| serde_json::json!({"type": "Replace", "pattern": {"String": "a"}, "content": with});
        let doubling = serde_json::json!({"type": "Sequence", "normalizers": vec![replace("aa"); 40]});
        let nested = serde_json::json!({"type": "Sequence", "normalizers": [doubling.clone()]});
        let bytes =
            serde_json::json!({"type": "Sequence", "normalizers": vec![serde_json::json!({"type": "ByteLevel"}); 30]});
        let between = serde_json::json!({"type": "Replace", "pattern": {"Regex": "(?=.)"}, "content": "a"});
        let between = serde_json::json!({"type": "Sequence", "normalizers": vec![between; 30]});
        let unknown = serde_json::json!({"type": "Other"});
        for normalizer in [replace(&"a".repeat(1000)), doubling, nested, bytes, between, unknown] {
            assert!(with("normalizer", normalizer).contains("more than 256 times as long"));
        }
        assert_eq!(with("normalizer", replace("\u{2581}")), "");
        // What is never asked for takes nothing.
        let padding = serde_json::json!({"strategy": {"Fixed": 1u64 << 40}, "direction": "Right",
            "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "x"});
        assert_eq!(with("padding", padding), "");
    }
}
