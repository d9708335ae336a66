//! HTML as a tree that a reviewer can read: an element a line, its attributes sorted, texts in quotes. Styles and scripts
//! are left out, and so is what a plot draws, which has snapshots of its own.

use scraper::{ElementRef, Html, Node};

/// Elements whose content is left out.
const CLOSED: [&str; 3] = ["style", "script", "svg"];

pub fn tree(fragment: &str) -> String {
    let parsed = Html::parse_fragment(fragment);
    let mut out = String::new();
    parsed.root_element().child_elements().for_each(|element| write(&mut out, element, 0));
    out
}

fn write(out: &mut String, element: ElementRef<'_>, depth: usize) {
    let indent = "  ".repeat(depth);
    let name = element.value().name();
    if CLOSED.contains(&name) {
        out.push_str(&format!("{indent}<{name}> …\n"));
        return;
    }
    let attribute = |(name, value): (&str, &str)| match value {
        "" => format!(" {name}"),
        value => format!(" {name}=\"{value}\""),
    };
    let mut attributes: Vec<String> = element.value().attrs().map(attribute).collect();
    attributes.sort_unstable();
    out.push_str(&format!("{indent}<{name}{}>", attributes.concat()));
    let children: Vec<_> = element.children().collect();
    // A single text stands beside its element.
    if let [only] = children.as_slice()
        && let Node::Text(text) = only.value()
    {
        out.push_str(&format!(" {}\n", quoted(text)));
        return;
    }
    out.push('\n');
    for child in children {
        match (ElementRef::wrap(child), child.value()) {
            (Some(element), _) => write(out, element, depth + 1),
            (None, Node::Text(text)) => out.push_str(&format!("{indent}  {}\n", quoted(text))),
            (None, other) => out.push_str(&format!("{indent}  {other:?}\n")),
        }
    }
}

/// With quotes, so that spaces at the ends are seen. Lines stay lines.
fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
