//! `twincell impact`: which statements beyond the changed ones may see other values.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use twincell_driver::failure::Failure;
use twincell_driver::files::{self, TextKind};
use twincell_driver::impact::{ImpactError, impact_of};
use twincell_driver::options::Job;
use twincell_driver::selection::{SelectionRequest, select_tests};
use twincell_impact::LevelSummary;
use twincell_widgets::{
    ImpactState, ImpactStopped, impact_explained, impact_explanation, impact_level, impact_markdown, impact_page,
    impact_place, impact_progress, impact_sarif, impact_text, selection_report, selection_text,
};

use crate::arguments::{impact_versions, selection_request};
use crate::exports;
use crate::session::{Abort, CHANGED, INCONCLUSIVE, Session, UNCHANGED};
use crate::study::progress_bar;

/// How long nothing is shown of the levels, which are in the result as well.
const PATIENCE: Duration = Duration::from_secs(1);

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let options = session.read_options(matches, Job::Impact)?;
    if let Some(request) = selection_request(matches).map_err(Abort::Failed)? {
        return tests(&request, matches, session);
    }
    let versions = impact_versions(matches).map_err(Abort::Failed)?;
    exports::check_files(matches, &["sarif", "markdown", "html"], &[])?;
    let explain = matches.get_one::<String>("explain");
    let place = explain.map(|text| impact_place(text)).transpose().map_err(Abort::Failed)?;
    let bar = progress_bar(session.progress);
    let interrupted = &mut *session.interrupted;
    let (began, mut told) = (Instant::now(), 0);
    let mut watch = |levels: &[LevelSummary]| {
        if began.elapsed() >= PATIENCE {
            for level in &levels[told..] {
                bar.println(impact_progress(level));
            }
            told = levels.len();
            bar.set_message(impact_level(levels.last()));
        }
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let found = impact_of(&versions, &options, &mut watch);
    bar.finish_and_clear();
    let report = match found {
        Err(ImpactError::Ended(Failure::Stopped)) => return Err(Abort::Interrupted),
        other => other.map_err(Abort::new)?,
    };
    match place {
        Some((path, line)) if matches.get_flag("json") => {
            session.write_json(&impact_explained(&report, path, line).map_err(Abort::Failed)?)?;
        }
        Some((path, line)) => {
            write!(session.out, "{}", impact_explanation(&report, path, line).map_err(Abort::Failed)?)?;
        }
        None if matches.get_flag("json") => session.write_json(&report)?,
        None => write!(session.out, "{}", impact_text(&report))?,
    }
    let write = |name: &str, kind: TextKind, text: &dyn Fn() -> String| match matches.get_one::<PathBuf>(name) {
        Some(file) => files::write_text(file, &text(), kind).map_err(Abort::Failed),
        None => Ok(()),
    };
    write("sarif", TextKind::Json, &|| impact_sarif(&report, env!("CARGO_PKG_VERSION")))?;
    write("markdown", TextKind::People, &|| impact_markdown(&report))?;
    write("html", TextKind::Markup, &|| impact_page(&ImpactState::new(&report), "Impact of a change"))?;
    if report.stopped == Some(ImpactStopped::Interrupt) {
        return Err(Abort::Interrupted);
    }
    let (_, impacted, _) = report.counts();
    Ok(match impacted {
        1.. => CHANGED,
        0 if report.is_partial() => INCONCLUSIVE,
        0 => UNCHANGED,
    })
}

/// Prints the tests that may see a change.
fn tests(request: &SelectionRequest, matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    let found = match select_tests(request, session.interrupted) {
        Err(ImpactError::Ended(Failure::Stopped)) => return Err(Abort::Interrupted),
        other => other.map_err(Abort::new)?,
    };
    let report = selection_report(&found.selection);
    match matches.get_flag("json") {
        true => session.write_json(&report)?,
        false => write!(session.out, "{}", selection_text(&found.selection))?,
    }
    Ok(match report.tests.as_slice() {
        [] => INCONCLUSIVE,
        tests if tests.iter().any(|row| row.runs) => CHANGED,
        _ => UNCHANGED,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::tests::command;

    /// A change that impacts line 8 unless a proof says that it does the same.
    const REFACTORED: [&str; 2] = [
        "def rate(x):\n    if x is None:\n        return 0\n    return x.size\n\n\ndef show(x):\n    print(rate(x))\n",
        "def rate(x):\n    return 0 if x is None else x.size\n\n\ndef show(x):\n    print(rate(x))\n",
    ];

    const OLD: &str = "def net(price):\n    return price\n\n\ndef show(price):\n    print(net(price))\n";

    #[test]
    fn the_status_says_whether_there_is_impact_beyond_the_change() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let old = file("old.py", OLD);
        let new = file("new.py", &OLD.replace("return price", "return price * 2"));
        let printed = file("printed.py", &OLD.replace("print(net(price))", "print(net(price) + 1)"));
        let (status, out, err) = command(&["impact", &old, &new]);
        assert_eq!((status, err.as_str()), (1, ""), "{out}");
        assert!(
            out.starts_with("1 statement changed, and 1 other may see other values, in 1 function of 1 file\n"),
            "{out}"
        );
        assert_eq!(command(&["impact", &old, &printed]).0, 0);
        let (status, out, _) = command(&["impact", &old, &old]);
        assert_eq!((status, out.as_str()), (0, "no statement changed, and none may see other values\n"));
        let (status, out, _) = command(&["impact", &old, &new, "--explain", "6"]);
        assert_eq!(status, 1);
        assert!(out.starts_with("new.py:6 may see other values: print(net(price))\n  1. new.py:2 changed: "), "{out}");
        let (_, out, _) = command(&["impact", &old, &new, "--json"]);
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&json["version"], json["statements"].as_array().unwrap().len()), (&1.into(), 4));
    }

    #[test]
    fn results_are_written_where_the_user_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(path("old.py"), OLD).unwrap();
        fs::write(path("new.py"), OLD.replace("return price", "return price * 2")).unwrap();
        let (old, new) = (path("old.py"), path("new.py"));
        let (sarif, markdown, html) = (path("a.sarif"), path("a.md"), path("a.html"));
        let files = ["--sarif", &sarif, "--markdown", &markdown, "--html", &html];
        let (status, _, err) = command(&[&["impact", &old, &new][..], &files].concat());
        assert_eq!((status, err.as_str()), (1, ""));
        for (file, holds) in [(&sarif, "statement-impacted"), (&markdown, "| show |"), (&html, "<details")] {
            assert!(fs::read_to_string(file).unwrap().contains(holds), "{file}");
        }
        let none = path("none/a.html");
        let (status, out, err) = command(&["impact", &old, &new, "--html", &none]);
        assert_eq!((status, out.as_str()), (3, ""));
        assert!(err.starts_with("twincell: cannot write ") && err.lines().count() == 1, "{err}");
    }

    #[test]
    fn levels_end_with_the_depth_and_with_the_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(path("old.py"), REFACTORED[0]).unwrap();
        fs::write(path("new.py"), REFACTORED[1]).unwrap();
        let (old, new) = (path("old.py"), path("new.py"));
        let with = |options: &[&str]| {
            let (status, out, _) = command(&[&["impact", &old, &new, "--json"][..], options].concat());
            let json: serde_json::Value = serde_json::from_str(&out).unwrap();
            let left: Vec<u64> =
                json["levels"].as_array().unwrap().iter().map(|one| one["impacted"].as_u64().unwrap()).collect();
            (status, left, json["stopped"].clone(), json["is_partial"].clone())
        };
        assert_eq!(with(&[]), (0, vec![1, 0], serde_json::Value::Null, false.into()));
        assert_eq!(with(&["--depth", "0"]), with(&["--depth", "max"]));
        assert_eq!(with(&["--time", "0"]), (1, vec![1], "time".into(), true.into()));
        assert_eq!(with(&["--time", "1000000"]).1, [1, 0]);
    }

    #[test]
    fn wrong_arguments_are_answered_in_one_line() {
        for (arguments, expected) in [
            (&["impact"][..], "give two files or folders, OLD and NEW, or --git OLD..NEW"),
            (&["impact", "a.py"], "give two files or folders, OLD and NEW, or --git OLD..NEW"),
            (&["impact", "a.py", "b.py"], "cannot read a.py: No such file or directory"),
            (&["impact", "a.py", "b.py", "--explain", "b.py"], "b.py is no FILE:LINE"),
            (&["impact", "a.py", "b.py", "--entry", "f"], "f is no MODULE:FUNCTION"),
            (&["impact", "a.py", "b.py", "--outside", "maybe"], "--outside cannot be 'maybe': give follow or ignore"),
            (&["impact", "a.py", "b.py", "--depth", "deep"], "--depth cannot be 'deep': give a whole number"),
            (&["impact", "a.py", "b.py", "--time", "-1"], "--time cannot be -1: give a number from 0"),
            (&["impact", "a.py", "b.py", "--staged"], "--git"),
            (&["impact", "a.py", "b.py", "--tests"], "--tests works with --git only"),
            (&["impact", "--tests"], "--tests works with --git only"),
            (&["impact", ".", "missing"], "cannot read missing: No such file or directory"),
            (&["impact", "missing", "."], "cannot read missing: No such file or directory"),
        ] {
            let (status, out, err) = command(arguments);
            assert_eq!((status, out.as_str()), (3, ""), "{arguments:?}: {err}");
            assert!(err.contains(expected) && err.lines().count() == 1, "{arguments:?}: {err}");
        }
    }
}
