//! What is outside of the code, in a test: files in a folder of its own, and the answers of a program or of a server.

use twincell_values::path::{AccessPath, Outside, text_of};
use twincell_values::value::{Decision, Recipe};

use super::python;
use super::refusal::Refusal;
use super::writer::Writer;

/// The statement with which a test keeps what is in the working folder.
pub(super) const WRITTEN: &str =
    "written = {path.as_posix(): path.read_bytes() for path in pathlib.Path().rglob('*') if path.is_file()}";

impl Writer<'_> {
    /// Lines of a test that make the files of this execution, in a folder of their own.
    pub(super) fn files(&self, is_needed: bool) -> Vec<String> {
        let mut made: Vec<(&str, &Recipe)> = self
            .outside()
            .filter_map(|(outside, _, value)| match outside {
                // That nothing else is in a folder needs no line.
                Outside::File(name) => (!name.ends_with('*')).then_some((name, value)),
                Outside::Program | Outside::Server => None,
            })
            .collect();
        if made.is_empty() && !is_needed {
            return vec![];
        }
        made.sort_by_key(|(name, _)| *name);
        let line = |(name, value): &(&str, &Recipe)| {
            let path = format!("pathlib.Path({})", python::string(name));
            let folder = || name.rsplit_once('/').map(|(folder, _)| folder_of(folder)).unwrap_or_default();
            match value {
                Recipe::None => None,
                Recipe::List(_) => Some(folder_of(name)),
                Recipe::Bytes(_) => Some(format!("{}{path}.write_bytes({})\n", folder(), python::literal(value))),
                value => Some(format!("{}{path}.write_text({}, 'utf-8')\n", folder(), python::literal(value))),
            }
        };
        std::iter::once("patch.chdir(folder)\n".to_owned()).chain(made.iter().filter_map(line)).collect()
    }

    /// Lines of a test that answer for a program and for a server.
    pub(super) fn answers_from_outside(&self) -> Vec<String> {
        self.program().into_iter().flatten().chain(self.server().into_iter().flatten()).collect()
    }

    /// Whether a test can answer for what is outside: one program at most, and one request.
    pub(super) fn refuse_several_outside(&self) -> Result<(), Refusal> {
        let of = |wanted: Outside<'static>| {
            let paths =
                self.outside().filter(move |(outside, path, _)| *outside == wanted && !path.starts_with("shutil."));
            let mut callees: Vec<&str> = paths.map(|(_, path, _)| callee(path)).collect();
            callees.sort_unstable();
            callees.dedup();
            callees.len()
        };
        if of(Outside::Program) > 1 || of(Outside::Server) > 1 {
            return Err(Refusal::SeveralOutside);
        }
        Ok(())
    }

    /// The decisions about what is outside.
    fn outside(&self) -> impl Iterator<Item = (Outside<'_>, &str, &Recipe)> {
        self.decisions.iter().filter_map(|(&path, &decision)| match (Outside::of(path.into())?, decision) {
            (outside, Decision::Value(value)) => Some((outside, path, value)),
            _ => None,
        })
    }

    /// What a decision says of the program or server of which it is a part.
    fn said(&self, wanted: Outside<'_>, part: &str) -> Option<&Recipe> {
        let mut all = self.outside().filter(|(outside, _, _)| *outside == wanted);
        all.find_map(|(_, path, value)| path.ends_with(part).then_some(value))
    }

    fn program(&self) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        let found = self.outside().find_map(|(_, path, value)| {
            let name = path.strip_prefix("shutil.which(")?.strip_suffix(')').and_then(text_of)?;
            Some((name, value))
        });
        let said = |part: &str| self.said(Outside::Program, part);
        if let Some((name, place)) = found {
            lines.push(format!(
                "patch.setattr('shutil.which', lambda name, *_: {{{}: {}}}.get(name))\n",
                python::string(name),
                python::literal(place)
            ));
            if *place == Recipe::None {
                let missing = format!("FileNotFoundError(2, 'No such file or directory', {})", python::string(name));
                lines.push(format!("patch.setattr('subprocess.Popen', unittest.mock.Mock(side_effect={missing}))\n"));
                return Some(lines);
            }
        }
        let status = said(".returncode").map(python::literal);
        if status.is_none() && found.is_none() {
            return None;
        }
        let status = status.unwrap_or_else(|| "0".into());
        let text = |part: &str| said(part).map_or_else(|| "''".to_owned(), python::literal);
        let late = said(".is_late") == Some(&Recipe::Bool(true));
        lines.push(format!(
            "def start(command, *_, **options):\n    \
                 texts = any(options.get(name) for name in ('text', 'encoding', 'errors', 'universal_newlines'))\n    \
                 said = {{'stdout': {}, 'stderr': {}}}\n    \
                 output = tuple(\n        \
                     (text if texts else text.encode()) if options.get(name) == subprocess.PIPE else None\n        \
                     for name, text in said.items()\n    \
                 )\n    \
                 process = unittest.mock.MagicMock(args=command, returncode={status})\n    \
                 process.__enter__.return_value = process\n    \
                 process.wait.return_value = process.poll.return_value = {status}\n    \
                 process.communicate.return_value = output\n{}    \
                 return process\n",
            text(".stdout"),
            text(".stderr"),
            if late {
                "    late = subprocess.TimeoutExpired(command, 1)\n    \
                 process.communicate.side_effect = [late, output]\n    process.wait.side_effect = [late, -9]\n"
            } else {
                ""
            }
        ));
        lines.push("patch.setattr('subprocess.Popen', start)\n".into());
        lines.push(format!("patch.setattr('os.system', lambda command: {status} << 8)\n"));
        Some(lines)
    }

    fn server(&self) -> Option<Vec<String>> {
        let said = |part: &str| self.said(Outside::Server, part);
        let failure = said(".failure")?;
        let answer = match failure {
            Recipe::Str(class) => format!("unittest.mock.Mock(side_effect=requests.{class}())"),
            _ => {
                let body =
                    said(".text").map_or_else(|| "b''".into(), |text| format!("{}.encode()", python::literal(text)));
                let headers = match said("['Content-Type']") {
                    Some(kind) if *kind != Recipe::None => format!("{{'Content-Type': {}}}", python::literal(kind)),
                    _ => "{}".into(),
                };
                let status = said(".status_code").map_or_else(|| "200".into(), python::literal);
                format!(
                    "lambda self, request, *_, **__: self.build_response(\n    request, \
                     urllib3.HTTPResponse(io.BytesIO({body}), {headers}, {status}, preload_content=False)\n)"
                )
            }
        };
        Some(vec![format!("patch.setattr(requests.adapters.HTTPAdapter, 'send', {answer})\n")])
    }
}

fn folder_of(name: &str) -> String {
    format!("pathlib.Path({}).mkdir(parents=True, exist_ok=True)\n", python::string(name))
}

/// The call at the beginning of a path: `program('git status')`.
fn callee(path: &str) -> &str {
    let mut holder = AccessPath::new(path);
    while let Some((own, _)) = holder.split_attribute().filter(|(own, _)| own.as_str().ends_with(')')) {
        holder = own;
    }
    match holder.split_item() {
        Some((own, _)) => callee(own.as_str()),
        None => holder.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::callee;

    #[test]
    fn the_parts_of_one_answer_have_one_callee() {
        for path in [
            "http('GET', 'https://a.b/')",
            "http('GET', 'https://a.b/').text",
            "http('GET', 'https://a.b/').headers['A']",
        ] {
            assert_eq!(callee(path), "http('GET', 'https://a.b/')", "{path}");
        }
        assert_eq!(callee("program('a.b c.d').stdout"), "program('a.b c.d')");
    }
}
