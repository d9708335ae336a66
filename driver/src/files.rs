//! Reads source text from files, and words errors about files for people. A file may be a pipe (`<(git show ...)`) or
//! anything else with a path. Reading it is bounded in time and in bytes.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use twincell_compare::Source;
use twincell_files::outputs;

pub use twincell_files::runner::TextKind;

/// More than any source file or file of changes has.
const MAX_BYTES: u64 = 256 << 20;
/// How long a pipe may be silent.
const PATIENCE: Duration = Duration::from_secs(30);

/// The text of a Python file, decoded as Python does. An error is one line that says what to do.
pub fn read_source(path: &Path) -> Result<String, String> {
    let name = path.display();
    let bytes = read_bytes(path)?;
    if is_notebook(path) {
        return Err(format!(
            "{name} is a notebook, not Python: convert it with `jupyter nbconvert --to script`, or write \
             %%compare or %%prefix in its cells"
        ));
    }
    crate::decode::python_source(&bytes).map_err(|reason| format!("{name} {reason}"))
}

/// Python source that another program writes to this one.
pub fn read_standard_input() -> Result<String, String> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read standard input: {}", reason(&error)))?;
    crate::decode::python_source(&bytes).map_err(|reason| format!("standard input {reason}"))
}

/// A version to compare: a Python file or a notebook. An error is one line that says what to do.
pub fn read_version(path: &Path) -> Result<Source, String> {
    let label = path.display().to_string();
    let is_notebook = is_notebook(path);
    let text = if is_notebook {
        String::from_utf8(read_bytes(path)?).map_err(|_| format!("{label} is not a notebook: it is not UTF-8"))?
    } else {
        read_source(path)?
    };
    Ok(Source { text, label, is_notebook, file: Some(path.to_owned()), ..Source::default() })
}

/// Whether a file is a notebook, by its name.
pub fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "ipynb")
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    read(path, PATIENCE).map_err(|error| format!("cannot read {}: {}", path.display(), reason(&error)))
}

fn read(path: &Path, patience: Duration) -> io::Result<Vec<u8>> {
    // Opening a pipe without a writer must not wait. For other files the flag has no effect.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let kind = file.metadata()?.file_type();
    let mut bytes = Vec::new();
    if kind.is_fifo() || kind.is_socket() || kind.is_char_device() {
        let mut chunk = vec![0; 1 << 16];
        loop {
            wait(&file, patience)?;
            match (&file).read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => bytes.extend_from_slice(&chunk[..count]),
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(error) => return Err(error),
            }
            if bytes.len() as u64 > MAX_BYTES {
                break;
            }
        }
    } else {
        (&file).take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it has more than {} MiB; is it the right file?", MAX_BYTES >> 20)));
    }
    Ok(bytes)
}

/// Waits until there is something to read, or nothing will come any more.
fn wait(file: &File, patience: Duration) -> io::Result<()> {
    let mut asked = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let milliseconds = i32::try_from(patience.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: an array of one valid entry, of this file, which is open.
    match unsafe { libc::poll(&mut asked, 1, milliseconds) } {
        0 => Err(io::Error::other(format!("nothing was written to it for {} s", patience.as_secs()))),
        count if count < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted => {
            Err(io::Error::last_os_error())
        }
        _ => Ok(()),
    }
}

/// Writes a file that the user names, as a whole. An error names it.
pub fn write_text(path: &Path, text: &str, kind: TextKind) -> Result<(), String> {
    write_bytes(path, text.as_bytes(), kind)
}

/// Writes a file that the user names, as a whole, whatever is in it. An error names it.
pub fn write_bytes(path: &Path, content: &[u8], kind: TextKind) -> Result<(), String> {
    outputs::write(path, content, kind).map_err(|error| unwritable(path, &error))
}

/// Writes a file that the user names, and that is for nobody else. An error names it.
pub fn write_private(path: &Path, text: &str, kind: TextKind) -> Result<(), String> {
    outputs::write_private(path, text.as_bytes(), kind).map_err(|error| unwritable(path, &error))
}

/// Checks that a file can be written, before there is anything to write.
pub fn check_writable(path: &Path) -> Result<(), String> {
    outputs::check(path).map_err(|error| unwritable(path, &error))
}

/// Checks that a folder can be made and written into, before there is anything to write.
pub fn check_folder(path: &Path) -> Result<(), String> {
    outputs::check_folder(path).map_err(|error| unwritable(path, &error))
}

/// Makes a folder that the user names. An error names it.
pub fn make_folder(path: &Path) -> Result<(), String> {
    outputs::make_folder(path).map_err(|error| format!("cannot make the folder {}: {}", path.display(), reason(&error)))
}

/// Why a file cannot be written.
pub fn unwritable(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {}", path.display(), reason(error))
}

/// An error of the operating system, without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let number = os_error(error).map(|number| format!(" (os error {number})"));
    number.and_then(|number| text.strip_suffix(&number)).unwrap_or(&text).to_owned()
}

/// The number of an error of the operating system, which other errors may wrap.
fn os_error(error: &io::Error) -> Option<i32> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        cause = match error.downcast_ref::<io::Error>() {
            Some(error) if error.raw_os_error().is_some() => return error.raw_os_error(),
            // The source of such an error is that of what it wraps, which would be passed over.
            Some(error) => error.get_ref().map(|wrapped| wrapped as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.py");
        std::fs::write(&path, "\u{feff}x = 1\n").unwrap();
        assert_eq!(read_source(&path).as_deref(), Ok("x = 1\n"));
    }

    #[test]
    fn a_pipe_is_read_to_its_end_and_one_that_nobody_writes_to_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the name ends in 0 and lives during the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let error = read(&path, Duration::from_millis(50)).unwrap_err().to_string();
        assert!(error.contains("nothing was written to it"), "{error}");
        let writer = std::thread::spawn({
            let path = path.clone();
            move || std::fs::write(path, "x = 1\n".repeat(50_000))
        });
        assert_eq!(read_source(&path).unwrap().len(), 300_000);
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn a_file_without_end_is_an_error() {
        assert!(read_source(Path::new("/dev/zero")).unwrap_err().contains("is it the right file?"));
        assert_eq!(read_source(Path::new("/dev/null")).as_deref(), Ok(""));
    }

    #[test]
    fn reasons_are_without_the_number_of_the_system_even_of_wrapped_errors() {
        let missing = || io::Error::from_raw_os_error(libc::ENOENT);
        for error in [missing(), io::Error::other(missing()), io::Error::other(io::Error::other(missing()))] {
            assert_eq!(reason(&error), "No such file or directory");
        }
        assert_eq!(reason(&io::Error::other("it is full (os error 3)")), "it is full (os error 3)");
    }

    #[test]
    fn errors_name_the_file_and_say_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.py");
        let error = read_source(&path).unwrap_err();
        assert!(error.starts_with("cannot read ") && error.ends_with("a.py: No such file or directory"), "{error}");
        std::fs::write(&path, b"\xe9").unwrap();
        assert!(read_source(&path).unwrap_err().contains("a.py is not UTF-8: byte 0xe9 in line 1, column 1; save it"));
        let notebook = folder.path().join("a.ipynb");
        std::fs::write(&notebook, "{}").unwrap();
        assert!(read_source(&notebook).unwrap_err().contains("a.ipynb is a notebook, not Python"));
        assert!(write_text(folder.path(), "", TextKind::People).unwrap_err().starts_with("cannot write "));
    }
}
