//! Writes every sample comparison as an HTML page and as text, a study, and the plots, to look at: `cargo run --example gallery -- DIR`.

#[path = "../tests/it/samples/mod.rs"]
#[allow(dead_code)]
mod samples;

use std::path::PathBuf;

use twincell_widgets::{StudyPlot, TextOptions, html_page, pair_plots, study_page, study_plot, text};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "gallery".into()));
    std::fs::create_dir_all(&folder)?;
    for (name, comparison) in samples::all() {
        std::fs::write(folder.join(format!("{name}.html")), html_page(&comparison, name))?;
        for width in [80, 150] {
            let shown = text(&comparison, &TextOptions { color: true, width });
            std::fs::write(folder.join(format!("{name}.{width}.txt")), shown)?;
        }
    }
    let study = samples::study();
    std::fs::write(folder.join("study.html"), study_page(&study, &study.title))?;
    let of_a_pair = samples::many_executions().pairs.iter().flat_map(pair_plots).collect::<Vec<_>>();
    for plot in of_a_pair.into_iter().chain(StudyPlot::ALL.map(|which| study_plot(&study, which))) {
        std::fs::write(folder.join(format!("{}.svg", plot.title.replace(' ', "_").to_lowercase())), plot.svg)?;
    }
    println!("written to {}", folder.display());
    Ok(())
}
