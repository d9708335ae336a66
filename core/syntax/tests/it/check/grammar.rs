//! Programs made from bytes by the grammar of Python: the same bytes give the same program, and every byte decides
//! something. Most programs are valid; all are of constructs that the instrumentation has to know.

/// A program for some bytes.
pub fn program(bytes: &[u8]) -> String {
    let mut maker = Maker { bytes, at: 0, out: String::new(), nodes: 0 };
    let statements = 1 + maker.below(4);
    for _ in 0..statements {
        maker.definition(0);
    }
    maker.out
}

struct Maker<'bytes> {
    bytes: &'bytes [u8],
    at: usize,
    out: String,
    nodes: u32,
}

const NAMES: [&str; 14] =
    ["a", "b", "self", "x", "match", "case", "type", "_", "__private", "été", "print", "super", "i", "rows"];
const OPERATORS: [&str; 16] =
    ["+", "-", "*", "/", "//", "%", "@", "**", "<<", ">>", "&", "|", "^", "<", "==", "not in"];
const LITERALS: [&str; 18] = [
    "1",
    "0xff",
    "1.5e3",
    "2j",
    "'a'",
    "\"b\"",
    "r'\\d'",
    "b'c'",
    "'''d\ne'''",
    "'f' 'g'",
    "None",
    "True",
    "...",
    "()",
    "[]",
    "{}",
    "__debug__",
    "1_000",
];
/// More nodes than this are not made.
const MOST_NODES: u32 = 400;

impl Maker<'_> {
    fn below(&mut self, limit: u8) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte % limit
    }

    fn one_of<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[usize::from(self.below(items.len() as u8))]
    }

    fn name(&mut self) -> &'static str {
        self.one_of(&NAMES)
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.out.push_str(&"    ".repeat(depth));
        self.out.push_str(text);
    }

    /// More may be made; else something small stands in.
    fn may_grow(&mut self, depth: usize) -> bool {
        self.nodes += 1;
        self.nodes < MOST_NODES && self.at < self.bytes.len() && depth < 7
    }

    fn definition(&mut self, depth: usize) {
        if self.below(6) == 0 {
            self.line(depth, "@");
            self.expression(4);
            self.put("\n");
        }
        if self.below(5) == 0 {
            self.line(depth, "class ");
            let name = self.name();
            self.put(name);
            if self.below(2) == 0 {
                self.put("(");
                self.expression(4);
                self.put(")");
            }
            self.put(":\n");
            self.block(depth + 1);
            return;
        }
        let start = self.one_of(&["def ", "def ", "async def "]);
        self.line(depth, start);
        let name = self.name();
        self.put(name);
        self.parameters();
        if self.below(4) == 0 {
            self.put(" -> ");
            self.expression(4);
        }
        self.put(":");
        if self.below(8) == 0 {
            self.put(" # remark");
        }
        self.put("\n");
        if self.below(5) == 0 {
            self.line(depth + 1, "'''what it\n    does'''\n");
        }
        self.block(depth + 1);
    }

    fn parameters(&mut self) {
        let form = self.one_of(&[
            "()",
            "(a)",
            "(self, x, *rows, **b)",
            "(a, /, b: int = 1, *, x=None)",
            "(a: 'T', *, __private: list[int] = [])",
            "(a=(1,\n      2), # why\n  b=3)",
        ]);
        self.put(form);
    }

    fn block(&mut self, depth: usize) {
        let count = 1 + self.below(3);
        for _ in 0..count {
            self.statement(depth);
        }
    }

    fn suite(&mut self, depth: usize) {
        if self.below(5) == 0 {
            self.put(": ");
            self.simple();
            while self.below(4) == 0 && self.at < self.bytes.len() {
                self.put("; ");
                self.simple();
            }
            self.put("\n");
        } else {
            self.put(":\n");
            self.block(depth + 1);
        }
    }

    fn statement(&mut self, depth: usize) {
        if !self.may_grow(depth) {
            return self.line(depth, "pass\n");
        }
        match self.below(16) {
            0 => self.definition(depth),
            1 => {
                self.line(depth, "if ");
                self.expression(1);
                self.suite(depth);
                if self.below(2) == 0 {
                    self.line(depth, "elif ");
                    self.expression(1);
                    self.suite(depth);
                    self.line(depth, "else");
                    self.suite(depth);
                }
            }
            2 => {
                self.line(depth, "while ");
                self.expression(1);
                self.suite(depth);
            }
            3 => {
                let form = self.one_of(&["for i in ", "for a, *b in ", "async for x.a in ", "for rows[0], in "]);
                self.line(depth, form);
                self.expression(1);
                self.suite(depth);
                if self.below(3) == 0 {
                    self.line(depth, "else");
                    self.suite(depth);
                }
            }
            4 => self.attempt(depth),
            5 => {
                let form = self.one_of(&["with ", "async with ", "with (x) as a, "]);
                self.line(depth, form);
                self.expression(2);
                let target = self.one_of(&["", " as a", " as a.b", " as (a, b)"]);
                self.put(target);
                self.suite(depth);
            }
            6 => self.choice(depth),
            _ => {
                self.line(depth, "");
                self.simple();
                while self.below(6) == 0 && self.at < self.bytes.len() {
                    self.put("; ");
                    self.simple();
                }
                self.put("\n");
            }
        }
    }

    fn attempt(&mut self, depth: usize) {
        self.line(depth, "try");
        self.suite(depth);
        let form = self.below(3);
        if form < 2 {
            let start = if self.below(5) == 0 { "except* " } else { "except " };
            self.line(depth, start);
            let caught = self.one_of(&["ValueError", "(A, b.C)", "x.Error", "f()"]);
            self.put(caught);
            let name = self.one_of(&["", " as error", " as __private"]);
            self.put(name);
            self.suite(depth);
        }
        if form > 0 {
            self.line(depth, "finally");
            self.suite(depth);
        }
    }

    fn choice(&mut self, depth: usize) {
        self.line(depth, "match ");
        self.expression(1);
        self.put(":\n");
        for _ in 0..1 + self.below(2) {
            self.line(depth + 1, "case ");
            let pattern = self.one_of(&[
                "0 | 'a'",
                "[a, *_]",
                "{'k': x, **rest}",
                "Point(x=0, y=b)",
                "str() as a",
                "x.y",
                "-1.5",
                "(a, b)",
                "None",
            ]);
            self.put(pattern);
            if self.below(2) == 0 {
                self.put(" if ");
                self.expression(2);
            }
            self.suite(depth + 1);
        }
    }

    fn simple(&mut self) {
        match self.below(18) {
            0 => self.put("pass"),
            1 => {
                self.put("return ");
                self.expression(0);
            }
            2 => {
                self.put("raise ");
                self.expression(2);
                if self.below(3) == 0 {
                    self.put(" from ");
                    self.expression(2);
                }
            }
            3 => {
                self.put("assert ");
                self.expression(1);
                self.put(", ");
                self.expression(2);
            }
            4 => {
                let form = self.one_of(&[
                    "global a",
                    "nonlocal x",
                    "import a.b as c",
                    "from . import x as y",
                    "del a[0], b.c",
                ]);
                self.put(form);
            }
            5 => {
                let target = self.one_of(&["a: int = ", "a.b: 'T' = ", "(x): list[int] = ", "a[0]: T = "]);
                self.put(target);
                self.expression(1);
            }
            6 => self.put("a: int"),
            7 => {
                let target = self.one_of(&["a += ", "a.b -= ", "rows[i] **= ", "a[1:2] //= "]);
                self.put(target);
                self.expression(1);
            }
            8 => self.put("yield a, *b"),
            9 => {
                self.put("a = yield ");
                self.expression(2);
            }
            10 => {
                self.put("await ");
                self.expression(5);
            }
            11 => {
                self.put("break");
            }
            12 => {
                self.put("type(");
                self.expression(2);
                self.put(")");
            }
            _ => {
                let target = self.one_of(&["", "a = ", "a, b = ", "a.b[0] = c = ", "[a, *b] = ", "match = ", "match."]);
                self.put(target);
                if target.ends_with('.') {
                    self.put("a = ");
                }
                self.expression(0);
            }
        }
    }

    /// An expression; `level` grows with the depth and with how tightly it must bind.
    fn expression(&mut self, level: usize) {
        if !self.may_grow(level) {
            return self.atom();
        }
        match self.below(24) {
            0..=2 => self.atom(),
            3 | 4 => {
                self.primary(level);
                self.put(".");
                let name = self.name();
                self.put(name);
            }
            5..=7 => {
                self.primary(level);
                self.arguments(level);
            }
            8 | 9 => {
                self.primary(level);
                self.put("[");
                self.key(level);
                self.put("]");
            }
            18 => self.f_string(),
            21 => self.put("super().a"),
            number => self.enclosed(number, level),
        }
    }

    /// An expression in brackets, of the kind with this number.
    fn enclosed(&mut self, number: u8, level: usize) {
        match number {
            10 => self.between(level, "(", ")", |maker, level| {
                maker.expression(level);
                let operator = maker.one_of(&OPERATORS);
                maker.put(" ");
                maker.put(operator);
                maker.put(" ");
                maker.primary(level);
            }),
            11 => self.between(level, "(", ")", |maker, level| {
                maker.expression(level);
                let form = maker.one_of(&[" if ", "\n  if ", " if not "]);
                maker.put(form);
                maker.expression(level);
                maker.put(" else ");
                maker.expression(level);
            }),
            12 => self.between(level, "(", ")", |maker, level| {
                let start = maker.one_of(&["lambda: ", "lambda x, *a, b=1: ", "lambda __private, /: "]);
                maker.put(start);
                maker.expression(level);
            }),
            13 => self.between(level, "[", "]", Self::comprehension),
            14 => self.between(level, "{", "}", Self::comprehension),
            15 => self.between(level, "(", ")", Self::comprehension),
            16 => self.between(level, "{", "}", |maker, level| {
                maker.expression(level);
                maker.put(": ");
                maker.expression(level);
                maker.put(", **");
                maker.primary(level);
            }),
            17 => self.between(level, "(", ")", |maker, level| {
                maker.put("a := ");
                maker.expression(level);
            }),
            19 => self.between(level, "(", ")", |maker, level| {
                let start = maker.one_of(&["yield ", "await ", "yield from ", "not ", "-", "~"]);
                maker.put(start);
                maker.primary(level);
            }),
            20 => self.between(level, "(", ")", |maker, level| {
                maker.put("# remark\n  ");
                maker.expression(level);
                maker.put(",\n *");
                maker.primary(level);
            }),
            22 => self.between(level, "(", ")", |maker, level| {
                maker.expression(level);
                let operator = maker.one_of(&[" and ", " or ", " < a < ", " is not ", " == \\\n "]);
                maker.put(operator);
                maker.primary(level);
            }),
            _ => self.between(level, "[", "]", |maker, level| {
                maker.expression(level);
                maker.put(", *");
                maker.primary(level);
            }),
        }
    }

    fn f_string(&mut self) {
        let start = self.one_of(&["f'{", "f\"a{{{", "f'''{", "rf'\\d{"]);
        self.put(start);
        let inner =
            self.one_of(&["a", "a.b", "f(x)", "a[0]", "x=", "a.b =", "a if b else c", "a!r", "a:>{b.c}", "a[1:2]"]);
        self.put(inner);
        self.put("}");
        let end = if start.contains("'''") {
            "\n'''"
        } else if start.contains('"') {
            "}}\""
        } else {
            "'"
        };
        self.put(end);
    }

    fn between(&mut self, level: usize, open: &str, close: &str, inner: impl FnOnce(&mut Self, usize)) {
        self.put(open);
        inner(self, level + 1);
        self.put(close);
    }

    /// What may stand before a dot or a bracket.
    fn primary(&mut self, level: usize) {
        if self.below(3) == 0 {
            self.between(level, "(", ")", Self::expression);
        } else {
            let name = self.name();
            self.put(name);
        }
    }

    fn atom(&mut self) {
        if self.below(3) == 0 {
            let literal = self.one_of(&LITERALS);
            self.put(literal);
        } else {
            let name = self.name();
            self.put(name);
        }
    }

    fn arguments(&mut self, level: usize) {
        match self.below(7) {
            0 => self.put("()"),
            1 => self.between(level, "(", ")", Self::comprehension),
            2 => self.between(level, "(", ",)", Self::expression),
            3 => self.between(level, "(*", ", x=1, **b)", Self::primary),
            4 => self.between(level, "(a, # why\n  ", ")", Self::expression),
            5 => self.between(level, "(a := ", ")", Self::expression),
            _ => self.between(level, "(", ")", |maker, level| {
                maker.expression(level);
                maker.put(", x=");
                maker.expression(level);
            }),
        }
    }

    fn key(&mut self, level: usize) {
        match self.below(8) {
            0 => self.put(":"),
            1 => self.put("::-1"),
            2 => self.put("a:, ..., :b"),
            3 => self.put("*a, 1"),
            4 => self.put("*a"),
            5 => {
                self.expression(level + 1);
                self.put(":");
                self.expression(level + 1);
                self.put(":");
            }
            6 => self.put("(a, b)"),
            _ => self.expression(level + 1),
        }
    }

    fn comprehension(&mut self, level: usize) {
        self.expression(level);
        let start = self.one_of(&[" for i in ", " for a, b in ", " async for x in ", "\n for x.a in "]);
        self.put(start);
        self.primary(level);
        if self.below(2) == 0 {
            self.put(" if ");
            self.primary(level);
        }
    }
}
