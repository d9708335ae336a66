//! A command that is run on files, and how it ended.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Where the files go in a command.
const FILES: &str = "{}";
/// How long a wait lasts before whoever waits is asked whether to go on.
const PATIENCE: Duration = Duration::from_millis(100);
const STEP: Duration = Duration::from_millis(5);
/// Of the output, this much of the end is told, in bytes and lines.
const LAST_BYTES: u64 = 4096;
const LAST_LINES: usize = 5;

/// Words; the first is the program.
pub struct Command {
    words: Vec<String>,
}

impl Command {
    pub fn read(text: &str) -> Result<Self, String> {
        let mut words = shlex::split(text).ok_or_else(|| {
            format!("the command {text} cannot be read: a quote is not closed, or it ends in a backslash")
        })?;
        if words.is_empty() {
            return Err("the command is empty: give one, e.g. 'ruff check --fix -q {}'".to_owned());
        }
        // It runs in a folder of copies: what names a file from here is to name it from there, too.
        for word in &mut words {
            let path = Path::new(word.as_str());
            if word.contains(['.', '/']) && path.is_relative() && path.is_file() {
                *word = std::path::absolute(path).map_or(word.clone(), |path| path.display().to_string());
            }
        }
        if !words.iter().any(|word| word.contains(FILES)) {
            words.push(FILES.to_owned());
        }
        Ok(Self { words })
    }

    /// Whether files can be given to one process together: not where they stand within a word.
    pub fn takes_several(&self) -> bool {
        self.words.iter().filter(|word| word.contains(FILES)).all(|word| word == FILES)
    }

    /// Begins to run it in a folder.
    pub fn run(&self, folder: &Path, files: &[PathBuf]) -> io::Result<Running> {
        let mut words = self.words.iter().flat_map(|word| -> Vec<String> {
            let names = files.iter().map(|file| argument(file));
            match word.as_str() {
                FILES => names.collect(),
                word if word.contains(FILES) => names.map(|name| word.replace(FILES, &name)).collect(),
                word => vec![word.to_owned()],
            }
        });
        let program = words.next().unwrap_or_default();
        let output = tempfile::tempfile()?;
        let child = std::process::Command::new(&program)
            .args(words)
            .current_dir(folder)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .spawn()
            .map_err(|error| {
                io::Error::other(format!("the command {program} cannot be run: {}", crate::files::reason(&error)))
            })?;
        Ok(Running { child, output })
    }
}

/// A file's name as an argument that no command takes for an option, or for a file of arguments.
fn argument(file: &Path) -> String {
    let name = file.display().to_string();
    if name.starts_with(|c: char| c.is_alphanumeric() || c == '_') { name } else { format!("./{name}") }
}

pub struct Running {
    child: Child,
    output: File,
}

/// How a command ended, and the end of what it wrote.
pub struct Ended {
    status: ExitStatus,
    last: String,
}

impl Running {
    /// None when it still runs after a moment.
    pub fn wait(&mut self) -> io::Result<Option<Ended>> {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(Ended { status, last: self.last_lines() }));
            }
            if begin.elapsed() > PATIENCE {
                return Ok(None);
            }
            std::thread::sleep(STEP);
        }
    }

    fn last_lines(&mut self) -> String {
        let length = self.output.seek(SeekFrom::End(0)).unwrap_or_default();
        let mut bytes = Vec::new();
        // What cannot be read is not told.
        let _ = self.output.seek(SeekFrom::Start(length.saturating_sub(LAST_BYTES)));
        let _ = self.output.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.iter().skip(lines.len().saturating_sub(LAST_LINES)).copied().collect::<Vec<_>>().join(" / ")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let (Ok(None), Ok(group)) = (self.child.try_wait(), i32::try_from(self.child.id())) {
            // With what it has started: it is a group of its own.
            unsafe { libc::kill(-group, libc::SIGKILL) };
            let _ = self.child.wait();
        }
    }
}

impl Ended {
    /// What it said, where it ended with status 1 and said anything.
    pub fn complaint(&self) -> Option<&str> {
        (self.status.code() == Some(1) && !self.last.is_empty()).then_some(self.last.as_str())
    }

    /// Why its work does not count. Status 1 is no failure: it says that something was found, or was changed.
    pub fn failure(&self) -> Option<String> {
        let how = match (self.status.code(), self.status.signal()) {
            (Some(0 | 1), _) => return None,
            (Some(code), _) => format!("the command ended with status {code}"),
            (None, Some(signal)) => format!("the command was ended by signal {signal}"),
            (None, None) => "the command did not end by itself".to_owned(),
        };
        Some(if self.last.is_empty() { how } else { format!("{how}: {}", self.last) })
    }
}
