//! Text edits at byte ranges. The only Python rule here is what keeps two words apart.

use super::InstrumentError;

struct Edit {
    start: usize,
    end: usize,
    text: String,
}

/// The edits of one text. Edits at the same place apply in the order in which they were added.
#[derive(Default)]
pub(super) struct Edits(Vec<Edit>);

impl Edits {
    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at, at, text);
    }

    pub(super) fn replace(&mut self, start: usize, end: usize, text: impl Into<String>) {
        self.0.push(Edit { start, end, text: text.into() });
    }

    /// The text with all edits applied. A word never merges with the word before it.
    pub(super) fn apply(mut self, source: &str) -> Result<String, InstrumentError> {
        self.0.sort_by_key(|edit| edit.start);
        let added: usize = self.0.iter().map(|edit| edit.text.len()).sum();
        let mut out = String::with_capacity(source.len() + added);
        let mut from = 0;
        for edit in &self.0 {
            let kept = source.get(from..edit.start).ok_or_else(|| {
                InstrumentError(format!("two edits overlap at byte {}: this construct is not supported", edit.start))
            })?;
            out.push_str(kept);
            if edit.text.starts_with(is_word) && out.ends_with(is_word) {
                out.push(' ');
            }
            out.push_str(&edit.text);
            from = edit.end;
        }
        out.push_str(source.get(from..).unwrap_or(""));
        Ok(out)
    }
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}
