//! Any bytes, as a text and as a program of the grammar: see `core/syntax/tests/check`, which the property tests share.

#![no_main]

#[path = "../../tests/it/check/mod.rs"]
mod check;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check::check(&String::from_utf8_lossy(bytes));
    check::check(&check::grammar::program(bytes));
});
