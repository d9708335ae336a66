//! The query about one site: its name, its kind, and the code around it.

use twincell_syntax::site::{Site, SiteKind};

use crate::tokens::Tokens;

/// How the tokenizer writes tokens that are not code.
pub(super) struct Special {
    /// The first input of the decoder. T5 uses the padding token.
    pub(super) start: i64,
    pub(super) begin: i64,
    pub(super) end: i64,
    pub(super) mask: i64,
    separator: i64,
    name: i64,
    call: i64,
    attribute: i64,
}

impl Special {
    pub(super) fn of(tokens: &Tokens) -> Result<Self, String> {
        let id = |token: &str| {
            tokens.id(token).ok_or_else(|| format!("it has no token `{token}`, which queries about sites need"))
        };
        Ok(Special {
            start: id("<pad>")?,
            begin: id("<s>")?,
            end: id("</s>")?,
            mask: id("<mask>")?,
            separator: id("<extra_id_5>")?,
            name: id("<extra_id_2>")?,
            call: id("<extra_id_3>")?,
            attribute: id("<extra_id_4>")?,
        })
    }

    fn kind(&self, kind: SiteKind) -> i64 {
        match kind {
            SiteKind::Name => self.name,
            SiteKind::Call => self.call,
            SiteKind::Attribute | SiteKind::Subscript => self.attribute,
        }
    }
}

/// The number of tokens of a query that are neither name nor code: two ends, two separators, the kind, the mask.
const AROUND: usize = 6;

/// Half of it is room for the name.
pub(super) const SHORTEST_WINDOW: usize = 2 * AROUND;

/// The text that replaces the expression.
const MASK: &str = "<mask>";

/// The queries about the sites of one function.
pub(super) struct Queries<'a> {
    text: &'a str,
    tokens: &'a Tokens,
    special: &'a Special,
    /// Where each line begins, and its tokens.
    lines: Vec<(usize, Vec<i64>)>,
}

impl<'a> Queries<'a> {
    pub(super) fn of(text: &'a str, tokens: &'a Tokens, special: &'a Special) -> Result<Self, String> {
        let mut begins = 0;
        let lines = text.split_inclusive('\n').map(|line| {
            let read = (begins, tokens.ids(line)?);
            begins += line.len();
            Ok(read)
        });
        Ok(Queries { lines: lines.collect::<Result<_, String>>()?, text, tokens, special })
    }

    pub(super) fn about(&self, site: &Site) -> Result<Vec<i64>, String> {
        let (start, end) = (site.start as usize, site.end as usize);
        let outside = || format!("the site {start}..{end} (`{}`) is not in the text", site.path);
        let line_of = |byte: usize| self.lines.partition_point(|(begins, _)| *begins <= byte).checked_sub(1);
        let first = line_of(start).ok_or_else(outside)?;
        let last = line_of(end.saturating_sub(1)).ok_or_else(outside)?;
        let begins = |line: usize| self.lines.get(line).map_or(self.text.len(), |(begins, _)| *begins);
        let before = self.text.get(begins(first)..start).filter(|_| start < end).ok_or_else(outside)?;
        let after = self.text.get(end..begins(last + 1)).ok_or_else(outside)?;

        let masked = self.tokens.ids(&format!("{before}{MASK}{after}"))?;
        // The code itself may contain the word.
        let earlier = before.matches(MASK).count();
        let mask = masked
            .iter()
            .enumerate()
            .filter(|(_, token)| **token == self.special.mask)
            .nth(earlier)
            .map(|(place, _)| place)
            .ok_or_else(|| format!("the tokenizer does not keep `{MASK}` whole"))?;
        let (left, right) = masked.split_at(mask);
        let tokens_of = |(_, tokens): &(usize, Vec<i64>)| tokens.clone();
        let mut before: Vec<i64> = self.lines.iter().take(first).flat_map(tokens_of).collect();
        before.extend(left);
        let mut after: Vec<i64> = right.iter().skip(1).copied().collect();
        after.extend(self.lines.iter().skip(last + 1).flat_map(tokens_of));
        self.written(site, &before, &after)
    }

    /// As much code on both sides as fits. Room that one side does not need goes to the other.
    fn written(&self, site: &Site, before: &[i64], after: &[i64]) -> Result<Vec<i64>, String> {
        let (window, special) = (self.tokens.window(), self.special);
        let mut name = self.tokens.ids(&site.identifier)?;
        name.truncate(window / 2);
        let room = window.saturating_sub(name.len() + AROUND);
        let left = before.len().min((room / 2).max(room.saturating_sub(after.len())));
        let right = after.len().min(room - left);
        let mut query = vec![special.begin];
        query.extend(name);
        query.extend([special.separator, special.kind(site.kind), special.separator]);
        query.extend(before.iter().skip(before.len() - left));
        query.push(special.mask);
        query.extend(after.iter().take(right));
        query.push(special.end);
        Ok(query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENIZER: &[u8] = include_bytes!("../../tests/predictors/seq2seq/tokenizer.json");

    #[derive(serde::Deserialize)]
    struct Expected {
        text: String,
        sites: Vec<ExpectedSite>,
    }

    #[derive(serde::Deserialize)]
    struct ExpectedSite {
        kind: SiteKind,
        identifier: String,
        start: u32,
        end: u32,
        input_ids: Vec<i64>,
    }

    fn site(kind: SiteKind, identifier: &str, start: u32, end: u32) -> Site {
        Site {
            kind,
            start,
            end,
            line: 1,
            identifier: identifier.to_owned(),
            path: identifier.to_owned(),
            catches: Vec::new(),
            discarded: false,
        }
    }

    #[test]
    fn queries_are_written_as_the_other_implementation_writes_them() {
        let expected: Expected =
            serde_json::from_slice(include_bytes!("../../tests/predictors/seq2seq/expected.json")).unwrap();
        let tokens = Tokens::of_model("", TOKENIZER).unwrap();
        let special = Special::of(&tokens).unwrap();
        let queries = Queries::of(&expected.text, &tokens, &special).unwrap();
        for one in expected.sites {
            let query = queries.about(&site(one.kind, &one.identifier, one.start, one.end)).unwrap();
            assert_eq!(query, one.input_ids, "{}", one.identifier);
        }
    }

    #[test]
    fn a_query_fits_the_window_and_has_one_mask_of_ours() {
        let tokens = Tokens::of_model("", TOKENIZER).unwrap();
        let special = Special::of(&tokens).unwrap();
        let long = "x".repeat(300);
        for (text, expression) in [
            ("a = '<mask>' + b(\n    c,\n)  # <mask>\n", "b(\n    c,\n)"),
            ("b", "b"),
            (&format!("{long} = b\r\n{long}\r\n"), "b"),
            (&format!("f({long})"), &format!("f({long})")),
        ] {
            let start = text.find(expression).unwrap();
            let queries = Queries::of(text, &tokens, &special).unwrap();
            let about = site(SiteKind::Call, expression, start as u32, (start + expression.len()) as u32);
            let query = queries.about(&about).unwrap();
            assert!(query.len() <= tokens.window(), "{text}: {}", query.len());
            assert_eq!(query.first(), Some(&special.begin));
            assert_eq!(query.last(), Some(&special.end));
            assert!(query.contains(&special.mask), "{text}");
        }
        for (start, end) in [(0, 9), (9, 10), (1, 1), (1, 2)] {
            assert!(Queries::of("é", &tokens, &special).unwrap().about(&site(SiteKind::Name, "", start, end)).is_err());
        }
    }
}
