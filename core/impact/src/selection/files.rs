//! Changed files that are not Python: who opens them, and which of them settle how tests run.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::changes::Changes;
use super::collected::matches;
use super::graph::{Graph, Node};
use super::names::{NameId, Names};
use super::result::{CodeChangeKind, Doubt, DoubtKind, FileChange, FileContent};

/// Endings of sources of extensions.
const EXTENSIONS: [&str; 11] = ["pyx", "pxd", "pxi", "c", "h", "cpp", "cc", "hpp", "rs", "so", "pyd"];
/// Endings of files that name others of their kind: templates include templates.
const NAMING: [&str; 10] = ["html", "htm", "xhtml", "xml", "jinja", "jinja2", "j2", "tmpl", "tpl", "mako"];
/// Sections of settings that pytest and installers read, by file: what a section begins with.
const SECTIONS: [(&str, &[&str]); 4] = [
    (
        "pyproject.toml",
        &[
            "tool.pytest",
            "project.entry-points",
            "project.scripts",
            "project.gui-scripts",
            "project",
            "build-system",
            "tool.setuptools",
            "tool.poetry",
            "tool.flit",
            "tool.hatch",
        ],
    ),
    ("setup.cfg", &["tool:pytest", "options", "entry_points"]),
    ("tox.ini", &["pytest"]),
    ("pytest.ini", &["pytest"]),
];
/// Keys that say nothing to a run.
const IDLE_KEYS: [&str; 22] = [
    "version",
    "description",
    "readme",
    "authors",
    "maintainers",
    "keywords",
    "classifiers",
    "urls",
    "license",
    "license-files",
    "license_files",
    "author",
    "author_email",
    "url",
    "long_description",
    "homepage",
    "repository",
    "documentation",
    "source",
    "changelog",
    "name",
    "dynamic",
];

/// Whether a file is a source of an extension, or a built one, by its name.
pub fn is_extension(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| EXTENSIONS.contains(&ending))
}

/// Notes the units of both versions that may open changed files, and gives doubts.
pub(super) fn files(files: &[FileChange], names: &Names, versions: &mut [(&Graph, &mut Changes)]) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let named = note_readers(files, names, versions);
    for (position, file) in files.iter().enumerate() {
        let doubt = |kind| Doubt { path: file.path.clone(), line: 0, kind };
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let is_top = !file.path.contains('/');
        let sections = SECTIONS.iter().find(|(one, _)| *one == name).filter(|_| is_top);
        if sections.is_some_and(|(_, sections)| settings(&file.old, sections) != settings(&file.new, sections)) {
            doubts.push(doubt(DoubtKind::Settings));
        } else if is_extension(name) {
            doubts.push(doubt(DoubtKind::Extension));
        } else if !named.contains(&position) {
            doubts.push(doubt(DoubtKind::DataFile));
        }
    }
    doubts
}

/// Notes the units with a text that may name a file, and gives the files that are named.
fn note_readers(files: &[FileChange], names: &Names, versions: &mut [(&Graph, &mut Changes)]) -> FxHashSet<usize> {
    let mut named = FxHashSet::default();
    let mut of_text: FxHashMap<NameId, Vec<usize>> = FxHashMap::default();
    for (graph, changes) in versions.iter_mut().filter(|_| !files.is_empty()) {
        for at in &graph.modules {
            for (position, unit) in at.text.units.iter().enumerate() {
                for text in &unit.uses.texts {
                    let matching = of_text.entry(*text).or_insert_with(|| {
                        let text = names.text(*text);
                        (0..files.len()).filter(|file| may_name(text, &files[*file].path)).collect()
                    });
                    if let Some(first) = matching.first() {
                        let node = at.first + position as Node;
                        changes.note(node, CodeChangeKind::DataFile);
                        changes.files.entry(node).or_insert_with(|| Arc::clone(&files[*first].path));
                        named.extend(matching.iter().copied());
                    }
                }
            }
        }
    }
    named
}

/// Whether a text may be the way to a file: its name, a folder around it, a pattern, what its name ends with, or another file
/// that may name it.
fn may_name(text: &str, path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folders: Vec<&str> = folders.split('/').filter(|folder| !folder.is_empty()).collect();
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let of_text: Vec<&str> = text.split(['/', '\\']).collect();
    if of_text.contains(&name) || (stem.len() > 2 && text == stem) {
        return true;
    }
    if let Some(pattern) = of_text.last().filter(|last| last.contains('*')) {
        let mut plain = of_text.iter().filter(|part| !part.is_empty() && !part.contains('*') && **part != ".");
        // What matches every file says something only with a folder.
        let says_all = pattern.chars().all(|one| matches!(one, '*' | '.'));
        return matches(pattern, name)
            && (!says_all || plain.clone().next().is_some())
            && plain.all(|part| folders.contains(part));
    }
    if let Some((_, ending)) = name.rsplit_once('.')
        && let Some(before) = text.strip_suffix(ending).and_then(|before| before.strip_suffix('.'))
        && !text.contains(' ')
        && (before.is_empty() || NAMING.contains(&ending))
    {
        return true;
    }
    folders.iter().any(|folder| folder.len() > 1 && of_text.contains(folder))
}

/// The lines of the sections that count, by section.
fn settings(content: &FileContent, sections: &[&str]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let FileContent::Text(text) = content else { return found };
    let mut section = String::new();
    let mut is_idle = false;
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        if let Some(head) = bare.strip_prefix('[').and_then(|head| head.split(']').next())
            && !line.starts_with([' ', '\t'])
        {
            section = head.trim_start_matches('[').to_owned();
            is_idle = false;
            continue;
        }
        let counts = sections.iter().any(|one| {
            section == *one || section.strip_prefix(one).is_some_and(|rest| rest.starts_with(['.', '_', ':', '-']))
        });
        if !counts || section == "project.urls" {
            continue;
        }
        // What goes on with an indent, or until a bracket closes, is of the key before it.
        let key = line.split(['=', ':']).next().unwrap_or_default().trim();
        if !line.starts_with([' ', '\t', ']', '}', ')', '"', '\'']) {
            is_idle = IDLE_KEYS.contains(&key) && !section.starts_with("tool");
        }
        if !is_idle {
            let bare = bare.split(" #").next().unwrap_or(bare).trim_end();
            found.entry(section.clone()).or_default().push(bare.to_owned());
        }
    }
    found
}
