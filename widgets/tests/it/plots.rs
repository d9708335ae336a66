//! Static plots: what they look like, that they are XML, say in words what they show, and stay small.

use crate::samples;
use twincell_compare::report::{Comparison, InjectedReport, PathReport};
use twincell_values::value::AbstractValue;
use twincell_widgets::{Plot, StudyPlot, StudyState, html_fragment, pair_plots, study_fragment, study_plot};

/// One element a line, so that a review sees what changed.
fn lines(svg: &str) -> String {
    svg.replace("><", ">\n<")
}

/// Three hundred executions of each outcome, values of three classes.
fn large() -> Comparison {
    let mut comparison = samples::many_executions();
    let pair = &mut comparison.pairs[0];
    pair.executions.iter_mut().enumerate().for_each(|(index, one)| {
        let index = index as u32;
        one.microseconds = 300 + index * index % 977;
        one.new_valid = !index.is_multiple_of(11);
        one.examined = !index.is_multiple_of(29);
        one.differs |= index == 150;
    });
    let injected = |class, count| InjectedReport { value: "x".into(), class, count, differing: 0, invalid: 0 };
    let mut predicted = vec![0.0; AbstractValue::COUNT];
    (predicted[1], predicted[4], predicted[5]) = (0.2, 0.7, 0.1);
    pair.paths = vec![PathReport {
        path: "x".into(),
        kind: None,
        version: 0,
        line: 1,
        predicted,
        injected: vec![injected(AbstractValue::Str, 200), injected(AbstractValue::None, 60)],
        more: 0,
    }];
    comparison
}

fn all() -> Vec<(String, Plot)> {
    let mut plots = vec![];
    for (name, comparison) in samples::all().into_iter().chain([("large", large())]) {
        for (index, pair) in comparison.pairs.iter().enumerate() {
            plots.extend(pair_plots(pair).into_iter().map(|plot| (format!("{name} {index}"), plot)));
        }
    }
    let empty = StudyState { rows: vec![], ..samples::study() };
    for study in [samples::study(), empty] {
        plots.extend(StudyPlot::ALL.map(|which| (which.name().to_owned(), study_plot(&study, which))));
    }
    plots
}

#[test]
fn plots_of_a_pair() {
    for plot in pair_plots(&large().pairs[0]) {
        insta::assert_snapshot!(format!("pair_{}", plot.title.replace(' ', "_").to_lowercase()), lines(&plot.svg));
    }
}

#[test]
fn plots_of_a_study() {
    for which in StudyPlot::ALL {
        insta::assert_snapshot!(format!("study_{}", which.name()), lines(&study_plot(&samples::study(), which).svg));
    }
}

#[test]
fn every_plot_is_well_formed_and_says_what_it_shows() {
    for (name, plot) in all() {
        let document = roxmltree::Document::parse(&plot.svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        let root = document.root_element();
        assert_eq!(root.attribute("role"), Some("img"), "{name}");
        assert_eq!(root.attribute("aria-label"), Some(format!("{}. {}", plot.title, plot.description).as_str()));
        assert!(!plot.svg.contains("NaN") && !plot.svg.contains("inf"), "{name}: {}", plot.svg);
    }
}

#[test]
fn every_kind_of_thing_is_named_in_the_legend() {
    let texts = |plot: &Plot| -> Vec<String> {
        let document = roxmltree::Document::parse(&plot.svg).unwrap();
        document.descendants().filter_map(|node| node.text().map(str::to_owned)).collect()
    };
    let plots = pair_plots(&large().pairs[0]);
    assert_eq!(plots.len(), 4);
    for (plot, wanted) in plots.iter().zip([
        ["lines covered so far", "≠ differs", "first difference"],
        ["differences that came after so many", "the first one", "differences"],
        ["predicted", "injected", "str"],
        ["= same", "○ says nothing", "? not examined"],
    ]) {
        let texts = texts(plot);
        for word in wanted {
            assert!(texts.iter().any(|text| text == word), "{}: {word} in {texts:?}", plot.title);
        }
    }
    let spread = texts(&study_plot(&samples::study(), StudyPlot::Executions));
    for word in ["≠ changing", "≈ likely preserving", "? inconclusive", "= identical"] {
        assert!(spread.iter().any(|text| text == word), "{word} in {spread:?}");
    }
}

#[test]
fn a_coverage_that_is_no_number_is_drawn_as_none() {
    let mut comparison = samples::changing();
    comparison.pairs[0].executions.iter_mut().for_each(|execution| execution.coverage_so_far = f64::NAN);
    for plot in pair_plots(&comparison.pairs[0]) {
        assert!(!plot.svg.contains("NaN"), "{}", plot.svg);
    }
}

#[test]
fn a_few_long_executions_do_not_hide_the_others() {
    let mut comparison = large();
    comparison.pairs[0].executions[7].microseconds = 90_000;
    let svg = &pair_plots(&comparison.pairs[0])[3].svg;
    for tick in ["0.1", "1", "10", "100"] {
        assert!(svg.contains(&format!(">{tick}</text>")), "{tick} in {svg}");
    }
}

#[test]
fn plots_stay_small() {
    let bytes = |plots: Vec<Plot>| plots.iter().map(|plot| plot.svg.len()).sum::<usize>();
    let pair = bytes(pair_plots(&large().pairs[0]));
    assert!(pair < 24_000, "{pair} bytes for 300 executions");
    let study = bytes(StudyPlot::ALL.map(|which| study_plot(&samples::study(), which)).into());
    assert!(study < 50_000, "{study} bytes");
    assert!(html_fragment(&large()).len() < 60_000 && study_fragment(&samples::study()).len() < 120_000);
}
