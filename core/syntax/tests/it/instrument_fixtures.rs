//! What instrumenting does to every construct: one fixture a construct, its result a snapshot. The meaning of the
//! results is tested beside this, in `instrument_meaning.rs`.

use std::fmt::Write;
use std::path::Path;

use twincell_syntax::functions;
use twincell_syntax::instrument::instrument;

#[test]
fn every_construct_is_instrumented_as_its_snapshot_says() {
    insta::glob!("..", "fixtures/instrument/*.py", |path| {
        let text = std::fs::read_to_string(path).expect("the fixture can be read");
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(show(path, &text));
        });
    });
}

/// Instrumented text and tables of all outermost functions of a fixture.
fn show(path: &Path, text: &str) -> String {
    let (functions, errors) = functions(text);
    assert_eq!(errors, [], "{}", path.display());
    let mut out = String::new();
    for function in functions.iter().filter(|function| function.parent.is_none()) {
        let result = instrument(function).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(result.code.lines().count(), function.text.lines().count(), "{}: lines moved", path.display());
        writeln!(out, "{}", result.code.trim_end()).expect("writing to a string");
        writeln!(out, "--- lines {:?}", result.sites.lines).expect("writing to a string");
        for (number, site) in result.sites.sites.iter().enumerate() {
            let kind = format!("{:?}", site.kind).to_lowercase();
            write!(out, "{number:>3} {kind:<9} line {} {:?} {}", site.line, site.identifier, site.path)
                .expect("writing to a string");
            if !site.catches.is_empty() {
                write!(out, " catches {}", site.catches.join(" ")).expect("writing to a string");
            }
            writeln!(out, "{}", if site.discarded { " discarded" } else { "" }).expect("writing to a string");
            assert!(!site.path.contains('\n'), "{}: {:?}", path.display(), site.path);
        }
        for (number, branch) in result.sites.branches.iter().enumerate() {
            let condition = &function.text[branch.start as usize..branch.end as usize];
            writeln!(out, "{number:>3} {:?} line {} {}", branch.kind, branch.line, condition.replace('\n', " "))
                .expect("writing to a string");
        }
    }
    out
}
