//! Long texts in a terminal, through the pager that the user has.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use crate::session::Session;

/// What the shell says of a command that it does not find.
const NOT_FOUND: i32 = 127;

/// Shows a text in the pager, or writes it where there is none.
pub fn show(text: &str, session: &mut Session<'_>) -> io::Result<()> {
    session.out.flush()?;
    match session.pager.as_ref().map(|pager| through(pager, text)) {
        Some(Ok(true)) => Ok(()),
        _ => session.out.write_all(text.as_bytes()),
    }
}

/// Whether the pager ran.
fn through(pager: &str, text: &str) -> io::Result<bool> {
    let mut child = command(pager, std::env::var_os("LESS").is_some()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // Who leaves the pager early has seen enough.
        let _ = input.write_all(text.as_bytes());
    }
    Ok(child.wait()?.code() != Some(NOT_FOUND))
}

/// The pager. `has_options` says whether the user has options of `less` in the environment.
fn command(pager: &str, has_options: bool) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", pager]).stdin(Stdio::piped());
    if !has_options {
        // As git does: nothing to page is written as it is, colors are kept, and the screen stays.
        command.env("LESS", "FRX");
    }
    command
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn less_gets_the_options_that_git_gives_it_unless_the_user_has_some() {
        let set = |has_options| command("less", has_options).get_envs().count();
        assert_eq!((set(false), set(true)), (1, 0));
    }

    #[test]
    fn the_options_of_less_that_the_user_has_stay() {
        let folder = tempfile::tempdir().unwrap();
        let seen = folder.path().join("seen");
        assert!(through(&format!("printf %s \"$LESS\" > '{}'; cat > /dev/null", seen.display()), "a").unwrap());
        let expected = std::env::var("LESS").unwrap_or_else(|_| "FRX".into());
        assert_eq!(fs::read_to_string(seen).unwrap(), expected);
    }

    #[test]
    fn a_text_goes_through_the_pager_if_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let seen = folder.path().join("seen");
        assert!(through(&format!("cat > '{}'", seen.display()), "a\nb\n").unwrap());
        assert_eq!(fs::read_to_string(seen).unwrap(), "a\nb\n");
        assert!(through("true", &"x".repeat(1 << 20)).unwrap());
        assert!(!through("exec 2>/dev/null; no-such-pager", "a").unwrap());
    }
}
