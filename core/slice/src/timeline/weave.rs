//! The lines of one text through its history, as a weave (Rochkind, *The Source Code Control System*, 1975): all lines that any
//! version has, in one order, each with who made it and who hid or showed it again. Any set of makers gives a text at once, and
//! none conflicts.

use std::collections::VecDeque;
use std::hash::Hash;
use std::sync::Arc;

use imara_diff::{Algorithm, Diff, Token};
use rustc_hash::{FxHashMap, FxHashSet};

use super::makers::Maker;

/// The contents of lines, each once for all texts. A content has its line end; the last line of a text may have none.
#[derive(Debug, Default)]
pub(super) struct Contents {
    numbers: FxHashMap<Arc<[u8]>, u32>,
    lines: Vec<Content>,
    /// The bytes of all of them.
    size: usize,
}

#[derive(Debug)]
struct Content {
    bytes: Arc<[u8]>,
    /// Columns before its first character. A blank line has none.
    indent: Option<u32>,
}

impl Contents {
    /// The numbers of a text's lines.
    pub fn lines(&mut self, text: &[u8]) -> Vec<u32> {
        text.split_inclusive(|byte| *byte == b'\n').map(|line| self.number(line)).collect()
    }

    fn number(&mut self, line: &[u8]) -> u32 {
        if let Some(known) = self.numbers.get(line) {
            return *known;
        }
        let bytes: Arc<[u8]> = line.into();
        let number = self.lines.len() as u32;
        let start = line.iter().position(|byte| !byte.is_ascii_whitespace());
        let columns = |start: usize| line[..start].iter().map(|byte| if *byte == b'\t' { 8 } else { 1 }).sum();
        self.size += bytes.len();
        self.numbers.insert(bytes.clone(), number);
        self.lines.push(Content { bytes, indent: start.map(columns) });
        number
    }

    /// How many bytes the different lines have.
    pub fn size(&self) -> usize {
        self.size
    }

    pub fn bytes(&self, line: u32) -> &[u8] {
        self.lines.get(line as usize).map_or(&[], |line| &line.bytes)
    }

    fn indent(&self, line: u32) -> Option<u32> {
        self.lines.get(line as usize)?.indent
    }

    /// What is written, without spaces around it.
    fn words(&self, line: u32) -> &[u8] {
        self.bytes(line).trim_ascii()
    }

    /// Whether a line says so much that two equal ones are hardly equal by chance.
    fn is_telling(&self, line: u32) -> bool {
        self.words(line).iter().filter(|byte| byte.is_ascii_alphanumeric()).count() >= 8
    }

    /// What two lines share if one is a later form of the other: the columns before it, and its first word, or two of a
    /// definition.
    fn head(&self, line: u32) -> (Option<u32>, &[u8]) {
        let words = self.words(line);
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        let word =
            |from: usize| words[from..].iter().position(|byte| !is_name(byte)).map_or(words.len(), |end| from + end);
        let mut end = word(0);
        while matches!(words[..end].rsplit(|byte| *byte == b' ').next(), Some(b"def" | b"class" | b"async"))
            && words.get(end) == Some(&b' ')
        {
            end = word(end + 1);
        }
        (self.indent(line), &words[..end])
    }
}

/// A line of a text's history.
#[derive(Debug)]
struct Line {
    content: u32,
    made: Maker,
    /// The maker of the first line that this one is a later form of.
    root: Maker,
    /// Who hid it and who showed it again, in their order. The last one in a view counts.
    later: Vec<(Maker, bool)>,
}

impl Line {
    fn is_visible(&self, view: &dyn Fn(Maker) -> bool) -> bool {
        let last = self.later.iter().rev().find(|(maker, _)| view(*maker));
        last.map_or_else(|| view(self.made), |(_, shown)| *shown)
    }

    /// Who made it visible first in a view.
    fn shown_by(&self, view: &dyn Fn(Maker) -> bool) -> Maker {
        let again = || self.later.iter().find(|(maker, shown)| *shown && view(*maker)).map(|(maker, _)| *maker);
        if view(self.made) { self.made } else { again().unwrap_or(self.made) }
    }

    /// The last one in a view that did something with it.
    fn last(&self, view: &dyn Fn(Maker) -> bool) -> Option<Maker> {
        let later = self.later.iter().rev().map(|(maker, _)| *maker);
        later.chain([self.made]).find(|maker| view(*maker))
    }
}

/// A change of a text at one place: lines that go, and lines that come. All numbers are those of lines in the version before
/// and in the version after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    pub old: std::ops::Range<usize>,
    pub new: std::ops::Range<usize>,
}

/// A hunk whose lines have makers: one for those that go and one for each that comes.
#[derive(Debug, Clone)]
pub(super) struct MadeHunk {
    pub hunk: Hunk,
    pub remover: Maker,
    pub makers: Vec<Maker>,
}

/// Whom a maker needs, so that its text stands where it belongs.
pub(super) type Needs = Vec<(Maker, Maker)>;

/// All lines of one text's history.
#[derive(Debug, Default)]
pub(super) struct Weave {
    lines: Vec<Line>,
}

/// How far around a place the lines are looked for that say where it belongs.
const NEIGHBORHOOD: usize = 2000;
/// A returning block of this many lines may be a part of what comes.
const LEAST_BLOCK: usize = 3;

impl Weave {
    pub fn new(lines: Vec<u32>, made: Maker) -> Self {
        let line = |content| Line { content, made, root: made, later: Vec::new() };
        Self { lines: lines.into_iter().map(line).collect() }
    }

    /// Who made each line of a view.
    pub fn line_makers(&self, view: &dyn Fn(Maker) -> bool) -> Vec<Maker> {
        self.lines.iter().filter(|line| line.is_visible(view)).map(|line| line.made).collect()
    }

    pub fn visible(&self, view: &dyn Fn(Maker) -> bool) -> Vec<usize> {
        (0..self.lines.len()).filter(|place| self.lines[*place].is_visible(view)).collect()
    }

    /// The text of a view. A line without an end gets one if others follow it.
    pub fn text(&self, contents: &Contents, view: &dyn Fn(Maker) -> bool) -> Vec<u8> {
        let mut text: Vec<u8> = Vec::new();
        for line in self.lines.iter().filter(|line| line.is_visible(view)) {
            if text.last().is_some_and(|byte| *byte != b'\n') {
                let is_windows =
                    text.iter().position(|byte| *byte == b'\n').is_some_and(|end| text[..end].ends_with(b"\r"));
                text.extend_from_slice(if is_windows { b"\r\n" } else { b"\n" });
            }
            text.extend_from_slice(contents.bytes(line.content));
        }
        text
    }

    /// The numbers of a view's lines.
    pub fn numbers(&self, view: &dyn Fn(Maker) -> bool) -> Vec<u32> {
        self.lines.iter().filter(|line| line.is_visible(view)).map(|line| line.content).collect()
    }

    /// Makes changes of a view, which are in order. The answer is what their makers need.
    pub fn apply(
        &mut self,
        contents: &Contents,
        view: &dyn Fn(Maker) -> bool,
        hunks: &[MadeHunk],
        new: &[u32],
        needs: &mut Needs,
    ) {
        let visible = self.visible(view);
        let mut coming: Vec<(usize, Line)> = Vec::new();
        for MadeHunk { hunk, remover, makers } in hunks {
            let before = hunk.old.start.checked_sub(1).and_then(|last| visible.get(last)).map_or(0, |place| place + 1);
            let after = visible.get(hunk.old.end).copied().unwrap_or(self.lines.len());
            let going = visible.get(hunk.old.clone()).unwrap_or_default();
            let run = new.get(hunk.new.clone()).unwrap_or_default();
            let dead: Vec<usize> = (before..after).filter(|place| going.binary_search(place).is_err()).collect();
            // Hidden lines in the middle of those that go would stand in the middle of what comes.
            if let (Some(first), Some(last)) = (going.first(), going.last()) {
                let inside = dead.iter().filter(|place| (first..last).contains(place));
                let hiders: FxHashSet<Maker> = inside.filter_map(|place| self.lines[*place].last(view)).collect();
                needs.extend(hiders.into_iter().map(|hider| (*remover, hider)));
            }
            let block = self.returning(contents, view, &dead, run);
            let (at, shown) = match &block {
                Some((start, count, from)) => {
                    for (place, maker) in (*start..start + count).zip(makers.iter().skip(*from)) {
                        self.lines[place].later.push((*maker, true));
                    }
                    (*start, *from..from + count)
                }
                None => (going.last().map_or(before, |last| last + 1), 0..0),
            };
            let behind =
                block.map_or(at, |(start, count, _)| going.last().map_or(0, |last| last + 1).max(start + count));
            let mut hidden_by: FxHashMap<u32, FxHashSet<Maker>> = FxHashMap::default();
            for place in dead {
                let line = &self.lines[place];
                hidden_by.entry(line.content).or_default().extend(line.last(view));
            }
            let mut forms: FxHashMap<_, VecDeque<usize>> = FxHashMap::default();
            for place in going {
                forms.entry(contents.head(self.lines[*place].content)).or_default().push_back(*place);
            }
            for (offset, (content, maker)) in run.iter().zip(makers).enumerate() {
                if shown.contains(&offset) {
                    continue;
                }
                if contents.is_telling(*content) {
                    needs.extend(hidden_by.get(content).into_iter().flatten().map(|hider| (*maker, *hider)));
                }
                let form = forms.get_mut(&contents.head(*content)).and_then(VecDeque::pop_front);
                let root = form.map_or(*maker, |form| self.lines[form].root);
                let line = Line { content: *content, made: *maker, root, later: Vec::new() };
                coming.push((if offset < shown.start { at } else { behind }, line));
            }
            for place in going {
                needs.push((*remover, self.lines[*place].shown_by(view)));
                self.lines[*place].later.push((*remover, false));
            }
        }
        let mut coming = coming.into_iter().peekable();
        let old = std::mem::take(&mut self.lines);
        self.lines.reserve(old.len() + coming.len());
        for (place, line) in old.into_iter().enumerate() {
            while let Some((_, line)) = coming.next_if(|(at, _)| *at <= place) {
                self.lines.push(line);
            }
            self.lines.push(line);
        }
        self.lines.extend(coming.map(|(_, line)| line));
    }

    /// A block of hidden lines that comes again: its place, its length, and where it stands in what comes. Only a whole block
    /// counts, as one maker hid it, so that what comes before and after it stays around it in every view.
    fn returning(
        &self,
        contents: &Contents,
        view: &dyn Fn(Maker) -> bool,
        dead: &[usize],
        run: &[u32],
    ) -> Option<(usize, usize, usize)> {
        let hider = |place: usize| self.lines[place].last(view);
        let mut starts: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (offset, content) in run.iter().enumerate() {
            starts.entry(*content).or_default().push(offset);
        }
        let mut best: Option<(usize, usize, usize)> = None;
        let mut rest = dead;
        while let Some(first) = rest.first() {
            let by = hider(*first);
            let is_next = |(offset, place): &(usize, &usize)| **place == first + offset && hider(**place) == by;
            let count = rest.iter().enumerate().take_while(is_next).count();
            let block: Vec<u32> = rest[..count].iter().map(|place| self.lines[*place].content).collect();
            let is_large = count == run.len() || count >= LEAST_BLOCK && count * 2 >= run.len();
            if is_large
                && count <= run.len()
                && block.iter().any(|content| contents.indent(*content).is_some())
                && best.is_none_or(|(_, length, _)| length < count)
                && let Some(from) =
                    starts.get(&block[0]).into_iter().flatten().find(|from| run[**from..].starts_with(&block))
            {
                best = Some((*first, count, *from));
            }
            rest = &rest[count..];
        }
        best
    }

    /// Adds what the lines that came need around them: the head of the block that they stand in, the clause before one that
    /// continues it, the definition below a decorator, and the text that they were put into the middle of.
    pub fn add_surroundings(
        &self,
        contents: &Contents,
        view: &dyn Fn(Maker) -> bool,
        hunks: &[MadeHunk],
        is_python: bool,
        needs: &mut Needs,
    ) {
        let visible = self.visible(view);
        let at = |number: usize| visible.get(number).map(|place| &self.lines[*place]);
        let indent = |number: usize| at(number).and_then(|line| contents.indent(line.content));
        for MadeHunk { hunk, makers, .. } in hunks {
            for (number, maker) in hunk.new.clone().zip(makers) {
                let (Some(line), Some(column)) = (at(number), indent(number)) else { continue };
                if line.made != *maker {
                    continue;
                }
                let words = contents.words(line.content);
                let lowest = number.saturating_sub(NEIGHBORHOOD);
                let above = |wanted: &dyn Fn(u32) -> bool| {
                    (lowest..number).rev().find(|other| indent(*other).is_some_and(wanted))
                };
                let holder = (column > 0).then(|| above(&|other| other < column)).flatten();
                let same = above(&|other| other <= column).filter(|other| indent(*other) == Some(column));
                let clause = if continues(words) { same } else { None };
                let decorated = words.starts_with(b"@").then(|| {
                    let is_definition = |other: &usize| {
                        let words = at(*other).map(|line| contents.words(line.content)).unwrap_or_default();
                        indent(*other) == Some(column) && !words.starts_with(b"@") && !words.starts_with(b"#")
                    };
                    (number + 1..number + NEIGHBORHOOD).take_while(|other| *other < visible.len()).find(is_definition)
                });
                for other in [holder, clause, decorated.flatten()].into_iter().flatten() {
                    needs.extend(at(other).map(|other| (*maker, other.root)));
                }
            }
            let (Some(last), Some(first)) = (hunk.new.start.checked_sub(1).and_then(at), at(hunk.new.end)) else {
                continue;
            };
            // Python's blocks say where a line belongs.
            if !is_python && hunk.old.is_empty() && last.shown_by(view) == first.shown_by(view) {
                needs.extend(makers.iter().map(|maker| (*maker, last.shown_by(view))));
            }
        }
    }
}

/// Whether a line goes on with what stands above it in the same column.
fn continues(words: &[u8]) -> bool {
    let word = words.split(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or_default();
    matches!(word, b"else" | b"elif" | b"except" | b"finally") || matches!(words.first(), Some(b')' | b']' | b'}'))
}

/// What differs between two sequences of lines: what stands between those that stay, in order. Between two hunks stands at least
/// one line.
pub(super) fn diff<T: Hash + Eq>(old: &[T], new: &[T]) -> Vec<Hunk> {
    let mut known: FxHashMap<&T, Token> = FxHashMap::default();
    let mut tokens = |line| {
        let next = Token(known.len() as u32);
        *known.entry(line).or_insert(next)
    };
    let before: Vec<Token> = old.iter().map(&mut tokens).collect();
    let after: Vec<Token> = new.iter().map(&mut tokens).collect();
    let mut found = Diff::default();
    found.compute_with(Algorithm::Histogram, &before, &after, known.len() as u32);
    let range = |range: std::ops::Range<u32>| range.start as usize..range.end as usize;
    found.hunks().map(|hunk| Hunk { old: range(hunk.before), new: range(hunk.after) }).collect()
}
