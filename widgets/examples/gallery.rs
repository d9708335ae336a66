//! Writes every sample comparison as an HTML page and as text, to look at: `cargo run --example gallery -- DIR`.

#[path = "../tests/samples/mod.rs"]
#[allow(dead_code)]
mod samples;

use std::path::PathBuf;

use twincell_widgets::{TextOptions, html_page, text};

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
    println!("written to {}", folder.display());
    Ok(())
}
