//! A command that runs on files, and how it ended.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use twincell_driver::files::reason;

/// The position of the files in a command.
const FILES: &str = "{}";
/// Programs that run a script among their arguments.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "ash"];
/// How long a wait lasts before the waiting caller is asked whether to continue.
const PATIENCE: Duration = Duration::from_millis(100);
const STEP: Duration = Duration::from_millis(5);
/// The quoted part of the output: bytes of its beginning and of its end, and lines.
const MOST_BYTES: u64 = 4096;
const MOST_LINES: usize = 5;

/// Words; the first is the program.
#[derive(Debug)]
pub struct Command {
    words: Vec<String>,
}

impl Command {
    /// Reads a command as it was typed in the folder `here`. It runs elsewhere, so words that name files there become
    /// absolute paths. `copied` gives another path for a file that the command must not change in place.
    pub fn read(text: &str, here: &Path, copied: &dyn Fn(&Path) -> Option<PathBuf>) -> Result<Self, String> {
        let mut words = shlex::split(text).ok_or_else(|| {
            format!("the command {text} cannot be read: a quote is not closed, or it ends in a backslash")
        })?;
        if words.is_empty() {
            return Err("the command is empty: give one, e.g. 'ruff check --fix -q {}'".to_owned());
        }
        if let Some(script) = words.iter().skip(1).find(|word| word.contains(FILES) && *word != FILES)
            && is_shell(&words)
        {
            return Err(format!(
                "in {script} the name of a file would become a part of the script, and so could run: write \"$@\" there \
                 and the files behind it, as in sh -c 'sed -i s/a/b/ \"$@\"' sh {{}}"
            ));
        }
        if !words.iter().any(|word| word.contains(FILES)) {
            words.push(FILES.to_owned());
        }
        let whole = |name: &str| {
            let path = here.join(name).canonicalize().ok()?;
            // The names of folders are also those of commands and modules: `ruff check`.
            let is_meant = path.is_file() || (path.is_dir() && name.contains('/') && name != "/");
            is_meant.then(|| copied(&path).unwrap_or_else(|| std::path::absolute(here.join(name)).unwrap_or(path)))
        };
        for place in 0..words.len() {
            let is_looked_up = match place.checked_sub(1).and_then(|before| words.get(before)) {
                // A program without a slash is looked up on the path, and a module by Python.
                None => !words[place].contains('/'),
                Some(before) => before == "-m",
            };
            let word = &mut words[place];
            if is_looked_up || word.contains(FILES) {
                continue;
            }
            let (option, name) = match word.split_once('=') {
                Some((option, name)) if option.starts_with('-') => (format!("{option}="), name),
                _ => (String::new(), word.as_str()),
            };
            if let Some(path) = whole(name).filter(|_| !name.is_empty()) {
                *word = format!("{option}{}", path.display());
            }
        }
        Ok(Self { words })
    }

    /// Whether files can be given to one process together, which is not the case if `{}` is within a word.
    pub fn takes_several(&self) -> bool {
        self.words.iter().filter(|word| word.contains(FILES)).all(|word| word == FILES)
    }

    /// Starts the command in a folder.
    pub fn run(&self, folder: &Path, files: &[PathBuf]) -> io::Result<Running> {
        let mut words = self.words.iter().flat_map(|word| -> Vec<OsString> {
            let names = files.iter().map(|file| argument(file));
            match word.as_str() {
                FILES => names.collect(),
                word if word.contains(FILES) => names.map(|name| filled(word, &name)).collect(),
                word => vec![word.into()],
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
                let program = program.to_string_lossy();
                io::Error::other(format!("the command {program} cannot be run: {}", reason(&error)))
            })?;
        Ok(Running { child, output })
    }
}

/// A file's name as an argument that no command takes for an option or for a file of arguments.
fn argument(file: &Path) -> OsString {
    let name = file.as_os_str();
    if name.to_string_lossy().starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return name.to_owned();
    }
    let mut argument = OsString::from("./");
    argument.push(name);
    argument
}

/// A word with a file's name in each of its places.
fn filled(word: &str, name: &OsStr) -> OsString {
    let mut parts = word.split(FILES);
    let mut filled = OsString::from(parts.next().unwrap_or_default());
    for part in parts {
        filled.push(name);
        filled.push(part);
    }
    filled
}

/// Whether the words start a shell with a script among them, directly or through another program.
fn is_shell(words: &[String]) -> bool {
    let names = |word: &String, shells: &[&str]| {
        Path::new(word).file_name().is_some_and(|name| shells.iter().any(|shell| name == OsStr::new(shell)))
    };
    let shell = words.iter().position(|word| names(word, &SHELLS));
    let is_script =
        |word: &String| word.strip_prefix('-').is_some_and(|flags| !flags.starts_with('-') && flags.contains('c'));
    shell.is_some_and(|shell| words[shell..].iter().any(is_script))
}

pub struct Running {
    child: Child,
    output: File,
}

/// How a command ended, and its output, if that is not too long.
pub struct Ended {
    status: ExitStatus,
    said: String,
}

impl Running {
    /// None if it still runs after a moment.
    pub fn wait(&mut self) -> io::Result<Option<Ended>> {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(Ended { status, said: self.said() }));
            }
            if begin.elapsed() > PATIENCE {
                return Ok(None);
            }
            std::thread::sleep(STEP);
        }
    }

    /// The first line about an error, and the last lines.
    fn said(&mut self) -> String {
        let length = self.output.seek(SeekFrom::End(0)).unwrap_or_default();
        let mut read = |from: u64| {
            let mut bytes = Vec::new();
            // Unreadable output is not quoted.
            let _ = self.output.seek(SeekFrom::Start(from));
            let _ = (&self.output).take(MOST_BYTES).read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let end = length.saturating_sub(MOST_BYTES);
        let text = if end > MOST_BYTES { read(0) + "\n" + &read(end) } else { read(0) + &read(MOST_BYTES) };
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let (before, last) = lines.split_at(lines.len().saturating_sub(MOST_LINES));
        let error = before.iter().find(|line| line.to_lowercase().contains("error"));
        error.into_iter().chain(last).copied().collect::<Vec<_>>().join(" / ")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let (Ok(None), Ok(group)) = (self.child.try_wait(), i32::try_from(self.child.id())) {
            // SAFETY: the child is not reaped yet, so that its number is its own. The signal goes to all of its group.
            unsafe { libc::kill(-group, libc::SIGKILL) };
            let _ = self.child.wait();
        }
    }
}

impl Ended {
    /// Its output, if it ended with status 1 and said anything.
    pub fn complaint(&self) -> Option<&str> {
        (self.status.code() == Some(1) && !self.said.is_empty()).then_some(self.said.as_str())
    }

    /// Why its work does not count. Status 1 is not a failure: it says that something was found or changed.
    pub fn failure(&self) -> Option<String> {
        let how = match (self.status.code(), self.status.signal()) {
            (Some(0 | 1), _) => return None,
            (Some(code), _) => format!("the command ended with status {code}"),
            (None, Some(signal)) => format!("the command was killed by signal {signal}"),
            (None, None) => "the command did not end by itself".to_owned(),
        };
        Some(if self.said.is_empty() { how } else { format!("{how}: {}", self.said) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, here: &Path) -> String {
        let copied = |path: &Path| path.ends_with("m.py").then(|| PathBuf::from("/copy/m.py"));
        let command = Command::read(text, here, &copied).unwrap();
        command.words.join(" ").replace(&here.display().to_string(), "HERE")
    }

    #[test]
    fn words_that_name_files_are_told_by_their_whole_paths() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        for folder in ["check", "rules"] {
            std::fs::create_dir(here.join(folder)).unwrap();
        }
        for file in ["my.py", "ruff.toml", "tool", "m.py", "black"] {
            std::fs::write(here.join(file), "").unwrap();
        }
        for (typed, expected) in [
            ("python my.py", "python HERE/my.py {}"),
            ("ruff check --config ruff.toml {} -q", "ruff check --config HERE/ruff.toml {} -q"),
            ("ruff check --config=ruff.toml --x=1", "ruff check --config=HERE/ruff.toml --x=1 {}"),
            ("./tool --with rules/ rules", "HERE/tool --with HERE/rules/ rules {}"),
            ("tool none.py", "tool none.py {}"),
            ("python -m black -q", "python -m black -q {}"),
            ("sed -i s/a/b/ m.py", "sed -i s/a/b/ /copy/m.py {}"),
            ("x --file={}", "x --file={}"),
            ("sh -c 'x \"$@\"' sh {}", "sh -c x \"$@\" sh {}"),
        ] {
            assert_eq!(words(typed, &here), expected);
        }
    }

    #[test]
    fn no_name_of_a_file_becomes_a_part_of_a_script() {
        let read = |text: &str| Command::read(text, Path::new("/"), &|_| None);
        for typed in ["sh -c 'x {}'", "/bin/bash -ec 'for f in {}; do x; done'", "env sh -c 'x {}'"] {
            let error = read(typed).unwrap_err();
            assert!(error.contains(r#"sh -c 'sed -i s/a/b/ "$@"' sh {}"#), "{error}");
        }
        assert!(read("x --file={}").is_ok() && read("sh tool.sh --file={}").is_ok());
    }

    #[test]
    fn a_name_that_is_no_text_arrives_as_its_bytes() {
        use std::os::unix::ffi::OsStrExt;
        let name = OsStr::from_bytes(b"a\xff.py");
        assert_eq!(filled("--file={}", &argument(Path::new(name))), OsStr::from_bytes(b"--file=a\xff.py"));
        assert_eq!(argument(Path::new("-x")), "./-x");
    }
}
