//! What every rendering must keep: snapshots of text and HTML, nothing from user code that acts, plots that are XML.

use crate::samples;
use crate::samples::HOSTILE;
use crate::tree::tree;
use scraper::{Html, Node};
use serde_json::from_value;
use unicode_width::UnicodeWidthStr;

use twincell_behavior::EvidencePlace;
use twincell_compare::notice::Notice;
use twincell_compare::report::{
    CallSite, Comparison, Condition, Contrast, DecidedBy, Headline, PairReport, VersionReport, Witness,
};
use twincell_compare::verdict::Verdict;
use twincell_engine::observed::{Observed, Slot};
use twincell_samples::notices::notices;
use twincell_syntax::{PerSide, Side};
use twincell_values::value::{Choice, Decision, Recipe};
use twincell_widgets::{
    Advice, COMPARISON_MIME, Label, MODULE, Notices, STATE_FORMAT, StudyState, SummaryFile, TextOptions, html_fragment,
    html_page, mime_bundle, notice_lines, state, study_fragment, study_page, summary, text, wording,
};

const PLAIN: TextOptions = TextOptions { color: false, width: 100 };

/// Elements and attributes that the views themselves write.
const ELEMENTS: &str = "html head meta title style body main div span p pre strong code b details summary dl dt dd table \
    caption colgroup col thead tbody tr th td ul li svg g path text script";
const ATTRIBUTES: &str = "lang charset name content http-equiv class aria-hidden aria-label role tabindex scope colspan \
    open style width height viewBox xmlns d fill fill-opacity stroke stroke-opacity stroke-width stroke-linecap x y dy \
    text-anchor font-family font-size font-weight transform type data-twincell-page data-twincell-state";

#[test]
fn html_of_every_sample() {
    for (name, comparison) in samples::all() {
        if !["long_values", "many_executions"].contains(&name) {
            insta::assert_snapshot!(format!("html_{name}"), tree(&html_fragment(&comparison)));
        }
    }
}

#[test]
fn html_of_a_study() {
    let mut study = samples::study();
    study.rows.truncate(12);
    study.rows[3].function = Some(HOSTILE.into());
    study.rows[4].file = Some(HOSTILE.into());
    let shown = tree(&study_fragment(&study));
    assert_eq!(shown.matches("<svg").count(), 9);
    insta::assert_snapshot!(shown);
}

#[test]
fn text_of_every_sample() {
    for (name, comparison) in samples::all() {
        insta::assert_snapshot!(format!("text_{name}"), text(&comparison, &PLAIN));
    }
}

#[test]
fn wide_text_has_both_versions_side_by_side() {
    insta::assert_snapshot!(text(&samples::changing(), &TextOptions { width: 140, color: false }));
}

#[test]
fn older_results_without_places_as_data_show_the_same_rows_as_different() {
    let comparison = samples::changing();
    let mut older = comparison.clone();
    for one in older.pairs.iter_mut().flat_map(|pair| &mut pair.evidence) {
        one.at = None;
    }
    assert_eq!(html_fragment(&older), html_fragment(&comparison));
    let stream = |comparison| {
        let state = serde_json::to_value(state(comparison)).unwrap();
        state["pairs"][0]["evidence"][2]["at"].clone()
    };
    assert_eq!(stream(&older), stream(&comparison));
    assert_eq!(stream(&older)["stream"], "stdout");
}

fn decided_by(name: &str) -> DecidedBy {
    DecidedBy::Pairs { names: vec![name.into()], verdict: Verdict::Changing }
}

#[test]
fn a_pair_that_others_decide_on_does_not_look_like_a_change() {
    let mut judged = samples::changing_pair();
    (judged.new.qualname, judged.old.qualname) = ("_help".into(), "_help".into());
    judged.decided_by = decided_by("f");
    let mut whole = samples::preserving();
    whole.pairs.push(judged);
    let shown = text(&whole, &PLAIN);
    assert!(shown.contains("~ covered by others  _help\n"), "{shown}");
    assert!(!shown.contains("≠ changing"), "{shown}");
    let html = tree(&html_fragment(&whole));
    assert!(html.contains("covered by others") && !html.contains("tc-changing"), "{html}");
}

#[test]
fn the_interactive_view_says_what_the_others_say() {
    let mut whole = samples::changing();
    whole.seed = u64::MAX;
    let witness = whole.pairs[0].witness.as_mut().unwrap();
    let final_value = |slot: Slot| (slot, Observed::Int("2".into()));
    let total = || Slot::Use { step: 1, member: "total".into() };
    witness.old.arguments = vec![final_value(Slot::Argument("request".into())), final_value(total())];
    witness.new.arguments = vec![final_value(total())];
    whole.pairs[0].decided_by = decided_by("f");
    let state = serde_json::to_value(state(&whole)).unwrap();
    assert_eq!(state["seed"], u64::MAX.to_string());
    let pair = &state["pairs"][0];
    assert_eq!(pair["mark"], serde_json::json!(["~", "covered by others"]));
    assert_eq!((&pair["rank"], &pair["reason"]), (&3.into(), &serde_json::Value::Null));
    assert_eq!(pair["role"], "Inputs that show it");
    let shown = pair["shown"]["final_values"].as_array().unwrap();
    let texts = |index: usize| ["name", "old", "new"].map(|key| shown[index][key].as_str().unwrap());
    assert_eq!(texts(0), ["request afterwards", "2", "unchanged"]);
    assert_eq!(texts(1), ["use 1, total", "2", "2"]);
    let html = html_fragment(&whole);
    assert!(html.contains("unchanged") && html.contains("use 1, total"), "{html}");
}

#[test]
fn a_label_that_nobody_knows_is_none() {
    assert_eq!(Label::ALL.map(|label| Label::of_name(label.name())), Label::ALL.map(Some));
    assert_eq!(Label::of_name("<b>"), None);
    let row = samples::study_row("a", Verdict::Identical, Some(Label::Unclear));
    assert_eq!(serde_json::to_value(row).unwrap()["label"], "unclear");
}

#[test]
fn members_used_are_shown_by_name_and_not_by_number() {
    let mut whole = samples::changing();
    let witness = whole.pairs[0].witness.as_mut().unwrap();
    witness.uses = vec!["add()".into(), "total".into()];
    for (path, number) in [("members used", 1), ("member 1", 7), ("member 2", 8)] {
        witness.choices.push(Choice { path: path.into(), decision: Decision::Value(Recipe::Int(number)) });
    }
    for shown in [text(&whole, &PLAIN), html_fragment(&whole)] {
        assert!(shown.contains("add(), total") && !shown.contains("member 1"), "{shown}");
    }
}

#[test]
fn decisions_are_told_in_words() {
    let mut whole = samples::changing();
    let witness = whole.pairs[0].witness.as_mut().unwrap();
    for (path, recipe) in [
        ("again for key (2)", Recipe::Int(0)),
        ("again for key (3)", Recipe::Int(1)),
        ("again for key (4)", Recipe::Int(3)),
        ("zero(key)", Recipe::Str("str".into())),
        ("order(a, b)", Recipe::Int(2)),
        ("raise loads('')", Recipe::None),
        ("succeeds loads('')", Recipe::Bool(false)),
        ("injected(store)", Recipe::Bool(true)),
        ("injected(cache)", Recipe::Bool(false)),
        ("injected(*)", Recipe::Bool(true)),
        ("find(year=N~4533fb69074c8c0f).name", Recipe::Bool(true)),
    ] {
        witness.choices.push(Choice { path: path.into(), decision: Decision::Value(recipe) });
    }
    let shown = text(&whole, &PLAIN);
    assert!(shown.contains("key (3): the same as key\n"), "{shown}");
    assert!(shown.contains("key (4): the same as key (3)\n") && shown.contains("key equals: ''\n"), "{shown}");
    assert!(!shown.contains("again for") && !shown.contains("key (2)"), "{shown}");
    assert!(shown.contains("a: greater than b\n") && shown.contains("loads(''): fails\n"), "{shown}");
    assert!(!shown.contains("order(") && !shown.contains("raise loads"), "{shown}");
    assert!(shown.contains("store: replaced, though the code has it\n"), "{shown}");
    assert!(shown.contains("the module: left out\n") && !shown.contains("cache"), "{shown}");
    assert!(shown.contains("find(year=N…).name: True\n"), "{shown}");
}

#[test]
fn a_sentence_that_only_goes_on_is_not_said_twice() {
    let mut whole = samples::identical();
    let own = wording::pair(&whole.pairs[0]);
    whole.removed = vec!["g".into()];
    assert_eq!(wording::comparison(&whole), format!("{own} Only in old: g."));
    assert_eq!(text(&whole, &PLAIN).matches(&own[..20]).count(), 1);
}

#[test]
fn no_element_and_no_attribute_comes_from_user_code() {
    for (name, comparison) in samples::all() {
        let page = html_page(&comparison, HOSTILE);
        let parsed = Html::parse_document(&page);
        for node in parsed.tree.nodes() {
            match node.value() {
                Node::Element(element) => {
                    assert!(ELEMENTS.split_whitespace().any(|known| known == element.name()), "<{}>", element.name());
                    for (attribute, value) in element.attrs() {
                        assert!(ATTRIBUTES.split_whitespace().any(|known| known == attribute), "{attribute}={value}");
                        assert!(!value.contains("alert"), "{attribute}={value}");
                    }
                }
                Node::Comment(comment) => panic!("{name} has a comment: {comment:?}"),
                _ => {}
            }
        }
    }
}

#[test]
fn hostile_text_stays_readable() {
    let page = Html::parse_document(&html_page(&samples::hostile(), HOSTILE));
    let shown: String = page.root_element().text().collect();
    assert!(shown.contains("<script>alert(1)</script><img src=x onerror=alert(2)>"));
    assert!(shown.contains("&lt;b&gt;\\u202edrow\\u2066\\x00\\x1b[31mred\\x1b]0;title\\x07\\x9b2J\\u200b"));
}

#[test]
fn nothing_invisible_or_reordering_reaches_the_output() {
    let invisible = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}\u{200b}".contains(c);
    for (name, comparison) in samples::all() {
        let page = html_page(&comparison, HOSTILE).replace(MODULE, "");
        for shown in [page, text(&comparison, &PLAIN)] {
            let found = shown.chars().find(|&c| invisible(c));
            assert_eq!(found, None, "{name}");
        }
    }
}

#[test]
fn color_adds_only_our_own_escapes_and_changes_no_word() {
    for (name, comparison) in samples::all() {
        let plain = text(&comparison, &PLAIN);
        let mut colored = text(&comparison, &TextOptions { color: true, ..PLAIN });
        for code in ["0", "1", "2", "31", "32", "33", "34", "36"] {
            colored = colored.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert!(!colored.contains('\u{1b}'), "{name}");
        let lines = |text: &str| text.lines().map(|line| line.trim_end().to_string()).collect::<Vec<_>>();
        assert_eq!(lines(&colored), lines(&plain), "{name}");
    }
}

#[test]
fn text_fits_its_width() {
    for (name, comparison) in samples::all() {
        for width in [40, 80, 100, 130, 200] {
            for line in text(&comparison, &TextOptions { color: false, width }).lines() {
                assert!(line.width() <= width, "{name}, {width} columns: {line}");
            }
        }
    }
}

#[test]
fn output_is_bounded_whatever_the_values_are() {
    let comparison = samples::long_values();
    let (html, text) = (html_fragment(&comparison), text(&comparison, &PLAIN));
    assert!(html.len() < 250_000, "{}", html.len());
    assert!(text.len() < 40_000, "{}", text.len());
    assert!(html.contains("… and 155 more, not shown") && html.contains("(50000 characters)"));
}

#[test]
fn the_first_executions_and_those_that_differ_are_listed() {
    let html = html_fragment(&samples::many_executions());
    assert!(html.contains("… and 279 more, not shown"));
    assert!(html.contains("<th class=\"tc-num\" scope=\"row\">272</th>"));
}

#[test]
fn a_page_runs_our_script_and_no_other() {
    assert!(!MODULE.contains("</script") && !MODULE.contains("<!--") && !MODULE.contains('\r'), "it would end early");
    for (name, comparison) in samples::all() {
        let page = html_page(&comparison, HOSTILE);
        let parsed = Html::parse_document(&page);
        let select = |css: &str| scraper::Selector::parse(css).unwrap();
        let scripts: Vec<_> = parsed.select(&select("script")).collect();
        let [data, script] = scripts.as_slice() else { panic!("{name} has {} scripts", scripts.len()) };
        assert_eq!(data.value().attr("type"), Some("application/json"));
        assert_eq!(script.text().collect::<String>(), MODULE);
        let state: serde_json::Value = serde_json::from_str(&data.text().collect::<String>()).unwrap();
        assert_eq!(state["pairs"].as_array().unwrap().len(), comparison.pairs.len());
        assert_eq!(state["sentence"], wording::comparison(&comparison));
        for (shown, pair) in state["pairs"].as_array().unwrap().iter().zip(&comparison.pairs) {
            let texts = shown["new"]["lines"].as_array().unwrap().iter().map(|line| line["text"].as_str().unwrap());
            assert!(texts.eq(pair.new.lines.iter().map(|line| line.text.as_str())), "{name}");
        }
        let policy = parsed.select(&select("meta[http-equiv]")).next().unwrap().value().attr("content").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("'unsafe-eval'"), "{policy}");
        assert!(!policy.split("script-src").nth(1).unwrap().contains("unsafe"), "{policy}");
    }
}

#[test]
fn a_study_is_a_table_without_scripts_and_a_view_with_them() {
    let row = |id: &str, verdict| samples::study_row(id, verdict, Some(Label::Changing));
    let rows = vec![row(HOSTILE, Verdict::Changing), row("b", Verdict::Inconclusive)];
    let without_sandbox = Some(HOSTILE.into());
    let state = StudyState {
        format: STATE_FORMAT,
        title: HOSTILE.into(),
        unfinished: Some(HOSTILE.into()),
        without_sandbox,
        notices: notice_lines(Notices { all: &notices(HOSTILE), allows_changes: false }),
        rows,
    };
    let page = study_page(&state, HOSTILE);
    let parsed = Html::parse_document(&page);
    assert_eq!(parsed.select(&scraper::Selector::parse("tbody tr").unwrap()).count(), 1 + 2);
    assert_eq!(parsed.select(&scraper::Selector::parse("script").unwrap()).count(), 2);
}

#[test]
fn two_outputs_on_one_page_share_no_id_and_run_no_script() {
    for (_, comparison) in samples::all() {
        let html = html_fragment(&comparison);
        assert!(!html.contains(" id=\"") && !html.contains("<script"));
    }
}

#[test]
fn every_table_has_a_caption_and_every_header_a_scope() {
    let html = Html::parse_fragment(&html_fragment(&samples::several_pairs()));
    let select = |css: &str| scraper::Selector::parse(css).unwrap();
    assert_eq!(html.select(&select("table")).count(), html.select(&select("table > caption")).count());
    assert_eq!(html.select(&select("th:not([scope])")).count(), 0);
}

#[test]
fn the_bundle_has_text_html_and_the_report() {
    let comparison = samples::several_pairs();
    let bundle = mime_bundle(&comparison);
    let keys: Vec<&str> = bundle.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["text/plain", "text/html", COMPARISON_MIME]);
    let report = &bundle[COMPARISON_MIME];
    assert_eq!(report["sentence"], wording::comparison(&comparison));
    for (shown, pair) in report["pairs"].as_array().unwrap().iter().zip(&comparison.pairs) {
        assert_eq!(
            (&shown["sentence"], &shown["reason"]),
            (&wording::pair(pair).into(), &wording::reason(pair).into())
        );
        // Probabilities are f32 and go through JSON's doubles unharmed.
        assert_eq!(from_value::<Option<Witness>>(shown["witness"].clone()).unwrap(), pair.witness);
        assert_eq!(from_value::<VersionReport>(shown["new"].clone()).unwrap(), pair.new);
    }
}

fn file<'a>(path: &'a str, comparison: &'a Comparison) -> SummaryFile<'a> {
    SummaryFile { path, is_test: false, result: Ok(comparison) }
}

/// The example of a change, without conditions.
fn example(call: &str, old: &str, new: &str) -> Headline {
    let shown = PerSide::new(old, new).map(|shown| Some(shown.to_owned()));
    let contrast = Contrast { place: String::new(), shown };
    Headline { call: call.into(), contrast, conditions: vec![], unlikely: false }
}

fn condition(path: &str, value: Recipe) -> Condition {
    let choice = Choice { path: path.into(), decision: Decision::Value(value) };
    Condition { choice, call: CallSite::Unknown }
}

/// A pair that changed, with a headline of this many words.
fn changing(name: &str, words: usize) -> PairReport {
    let mut pair = samples::changing_pair();
    (pair.old.qualname, pair.new.qualname) = (name.into(), name.into());
    pair.headline = Some(example(&format!("{name}(x=0)"), "", &vec!["value"; words].join(" ")));
    pair
}

fn of(pairs: Vec<PairReport>) -> Comparison {
    Comparison { pairs, added: vec![], removed: vec![], ..samples::several_pairs() }
}

fn one_sided(file: &str) -> Notice {
    Notice::OneSided { file: file.into(), side: Side::New }
}

#[test]
fn a_change_is_told_in_few_lines() {
    let several = samples::several_pairs();
    let tests = of(vec![changing("test_retry", 3)]);
    let files = [
        SummaryFile { is_test: true, ..file("tests/test_retry.py", &tests) },
        file("src/retry.py", &several),
        SummaryFile { path: "src/old.py", is_test: false, result: Err("line 3: not Python") },
    ];
    insta::assert_snapshot!(summary(
        &files,
        Notices { all: &[one_sided("src/new.py")], allows_changes: false },
        Advice { amplify: Some("twincell amplify v1..v2"), recorded: true },
        &PLAIN
    ));
}

#[test]
fn where_no_file_was_compared_nothing_is_counted() {
    let failed = SummaryFile { path: "a.py", is_test: false, result: Err("line 3: not Python") };
    let notices = Notices { all: &[one_sided("b.py")], allows_changes: false };
    let shown = summary(&[failed], notices, Advice::default(), &PLAIN);
    let expected = "a.py not compared: line 3: not Python\nb.py: only in the new revision, not compared\n";
    assert_eq!(shown, expected);
}

#[test]
fn a_class_is_told_by_its_methods() {
    let whole = of(vec![changing("Cart", 1), changing("Cart.add", 1), changing("Carts", 1)]);
    let shown = summary(&[file("a.py", &whole)], Notices::default(), Advice::default(), &PLAIN);
    assert!(shown.contains("Cart.add(x=0)") && shown.contains("Carts(x=0)"), "{shown}");
    assert!(!shown.contains("Cart(x=0)") && shown.contains("Behavior changed in 2 of 2"), "{shown}");
}

#[test]
fn a_method_that_needs_a_state_is_shown_by_its_class() {
    let with_state = |name: &str| {
        let mut pair = changing(name, 1);
        let conditions = vec![condition("self.size", Recipe::Int(-1))];
        pair.headline = Some(Headline { conditions, ..example(&format!("{name}()"), "1", "2") });
        pair
    };
    let mut class = changing("Cart", 1);
    class.headline = Some(example("Cart(size=1), using add()", "1", "2"));
    let witness = class.witness.get_or_insert_with(|| samples::several_pairs().pairs[0].witness.clone().unwrap());
    witness.methods = vec!["Cart.add".into()];
    let whole = of(vec![class.clone(), with_state("Cart.add"), with_state("Cart.take")]);
    let shown = summary(&[file("a.py", &whole)], Notices::default(), Advice::default(), &PLAIN);
    // It runs one of them.
    assert!(shown.contains("Cart(size=1), using add(): 1 -> 2") && !shown.contains("Cart.add()"), "{shown}");
    assert!(shown.contains("Cart.take(): 1 -> 2") && shown.contains("Behavior changed in 2 of 2"), "{shown}");
    // Methods that only one version has are compared with nothing.
    let with_new = |method: &str| {
        let mut class = class.clone();
        class.witness.as_mut().unwrap().methods.push(method.into());
        let whole = of(vec![class, with_state("Cart.add"), with_state("Cart.take")]);
        summary(&[file("a.py", &whole)], Notices::default(), Advice::default(), &PLAIN)
    };
    assert!(with_new("Cart._put").contains("using add()") && !with_new("Cart.take").contains("using add()"));
    // One on real objects is told, even if it scores less than one that replaces them.
    let less = |replaced: &[&str]| {
        let (mut class, mut method) = (class.clone(), with_state("Cart.add"));
        class.evidence.iter_mut().for_each(|one| one.score = 0.6);
        class.witness.as_mut().unwrap().replaced = vec![];
        let mut witness = class.witness.clone().unwrap();
        witness.replaced = replaced.iter().map(|one| (*one).to_owned()).collect();
        method.witness = Some(witness);
        summary(&[file("a.py", &of(vec![class, method]))], Notices::default(), Advice::default(), &PLAIN)
    };
    assert!(less(&["Level"]).contains("using add()") && !less(&[]).contains("using add()"));
    // An attribute of the class itself is no method's doing, and told beside it.
    let mut own = class.clone();
    own.evidence[0].at = Some(EvidencePlace::Left { slot: Slot::ClassAttributes });
    let whole = of(vec![own, with_state("Cart.add")]);
    let shown = summary(&[file("a.py", &whole)], Notices::default(), Advice::default(), &PLAIN);
    assert!(shown.contains("using add()") && shown.contains("Cart.add(): 1 -> 2"), "{shown}");
    // What is plain needs no class.
    let plain = of(vec![class, changing("Cart.add", 1)]);
    let shown = summary(&[file("a.py", &plain)], Notices::default(), Advice::default(), &PLAIN);
    assert!(shown.contains("Cart.add(x=0)") && !shown.contains("using add()"), "{shown}");
}

#[test]
fn a_class_that_shows_less_than_a_method_is_not_told() {
    let class = PairReport { verdict: Verdict::LikelyPreserving, ..changing("Cart", 1) };
    let whole = of(vec![class, changing("Cart.add", 1)]);
    let shown = summary(&[file("a.py", &whole)], Notices::default(), Advice::default(), &PLAIN);
    assert!(shown.contains("Behavior changed in 1 of 1") && !shown.contains("likely preserving"), "{shown}");
}

#[test]
fn a_long_headline_is_told_in_parts() {
    let mut pair = changing("Session.send", 1);
    let headline = |conditions: &[&str], old: &str, new: &str| Headline {
        conditions: conditions.iter().map(|one| condition(one, Recipe::None)).collect(),
        unlikely: true,
        ..example("Session.send(request)", old, new)
    };
    let (old, new) = (format!("raises OSError: {}", "a".repeat(60)), format!("{}{}", "b".repeat(60), "\u{1b}[31m"));
    let long = format!("self.adapters.{}", "c".repeat(51));
    let shown = |pair: &PairReport| {
        let whole = of(vec![pair.clone()]);
        summary(
            &[file("src/session.py", &whole)],
            Notices::default(),
            Advice::default(),
            &TextOptions { width: 80, ..PLAIN },
        )
    };
    let mut bound = Headline { call: String::new(), ..headline(&[], &old, &new) };
    bound.contrast.place = "PROXY:".into();
    for one in [headline(&["self.proxy", &long, &long], &old, &new), headline(&[], "1", "2"), bound] {
        pair.headline = Some(one);
        insta::assert_snapshot!(shown(&pair));
    }
}

#[test]
fn any_change_fits_a_screen() {
    let many = (0..500).map(|number| changing(&format!("f{number}"), number % 100));
    let users = (0..40).map(|number| user(&format!("g{number}")));
    let (whole, notes) = (of(many.chain(users).collect()), vec![one_sided("b.py"); 90]);
    let mut files: Vec<SummaryFile<'_>> = (0..8).map(|_| file("src/a.py", &whole)).collect();
    files.push(SummaryFile { is_test: true, ..file("tests/test_a.py", &whole) });
    files.extend((0..8).map(|_| SummaryFile { result: Err("it is no Python"), ..file("src/b.py", &whole) }));
    let advice = Advice { amplify: Some("twincell amplify v1..v2"), recorded: true };
    for width in [80, 100, 200] {
        let shown = summary(
            &files,
            Notices { all: &notes, allows_changes: false },
            advice,
            &TextOptions { color: false, width },
        );
        assert!(shown.lines().count() <= 40, "{shown}");
        assert!(shown.contains(" more, which --verbose shows"), "{shown}");
        assert!(
            shown.contains("and no difference was found in 320 functions that use what changed: g0, g1"),
            "{shown}"
        );
    }
}

/// A pair that uses a change of `f` and shows no difference.
fn user(name: &str) -> PairReport {
    PairReport { verdict: Verdict::LikelyPreserving, uses_changed: vec!["f".into()], ..changing(name, 1) }
}

#[test]
fn what_only_uses_a_change_is_counted_apart() {
    let preserving = PairReport { uses_changed: vec![], ..user("f") };
    let undecided = PairReport { verdict: Verdict::Inconclusive, stays_away: true, ..user("h") };
    let whole = of(vec![preserving, user("g"), undecided]);
    let shown = summary(
        &[file("a.py", &whole)],
        Notices::default(),
        Advice::default(),
        &TextOptions { color: false, width: 200 },
    );
    let counts = "No difference found in 3 functions in a.py · 1 likely preserving · 2 using what changed, without a difference\n";
    assert!(shown.contains(counts), "{shown}");
}

#[test]
fn what_only_uses_a_change_has_lines_where_nothing_else_does() {
    let user = user("g");
    let whole = of(vec![user]);
    let shown = summary(&[file("a.py", &whole)], Notices::default(), Advice::default(), &PLAIN);
    assert!(shown.starts_with("a.py:42  ≈ likely preserving  g(x=0)"), "{shown}");
}

#[test]
fn changed_tests_are_no_reason_to_look_for_tests() {
    let whole = of(vec![changing("test_f", 1)]);
    let test = SummaryFile { is_test: true, ..file("tests/test_a.py", &whole) };
    let shown =
        summary(&[test], Notices::default(), Advice { amplify: Some("twincell amplify"), recorded: true }, &PLAIN);
    assert!(shown.contains("test_f(x=0)") && !shown.contains("amplify"), "{shown}");
}

#[test]
fn nothing_that_changed_is_one_line() {
    let same = samples::identical();
    let shown = summary(&[file("a.py", &same)], Notices::default(), Advice::default(), &PLAIN);
    assert_eq!(shown.lines().count(), 1, "{shown}");
}
