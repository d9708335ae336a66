//! The prompts of the three kinds of guidance (Treefix, III-D to III-F), in words of our own.

use std::collections::BTreeSet;

use twincell_engine::protocol::Raise;

/// The maximum number of characters of an exception's message that a prompt shows.
const MESSAGE: usize = 300;

const FORM: &str = "\
Answer with one JSON object and nothing else:
{\"imports\": [one Python import statement per string], \"initialization\": [one Python statement or definition per string]}
The statements run before the code, in this order, at the top level of the same file. Do not repeat the code itself.
";

/// What the code leaves undefined.
pub(super) fn undefinedness(code: &str, names: &[String], attributes: &BTreeSet<String>) -> String {
    let mut prompt = String::from(
        "The following Python code does not run by itself, since names are missing. Write what has to stand before it: \
         imports, and concrete, realistic values for the missing names, so that as many of its lines as possible run.\n\n",
    );
    prompt += &block("code", code);
    prompt += &block("missing names", &(names.join("\n") + "\n"));
    if !attributes.is_empty() {
        let attributes: Vec<&str> = attributes.iter().map(String::as_str).collect();
        prompt += &block("attributes and methods of these that the code uses", &(attributes.join("\n") + "\n"));
    }
    prompt + FORM
}

/// How the code ended behind an answer.
pub(super) fn error(code: &str, raise: &Raise) -> String {
    let message: String = raise.message.chars().take(MESSAGE).collect();
    let failed = code.lines().nth((raise.line as usize).saturating_sub(1)).unwrap_or_default().trim();
    let place = match raise.in_snippet {
        true => format!("Line {} of the code, `{failed}`,", raise.line),
        false => "A statement before the code".to_owned(),
    };
    format!(
        "Behind these imports and statements the code does not run to its end. {place} raises {}:\n\n{}Write all imports and \
         statements again, changed so that this does not happen.\n{FORM}",
        raise.class,
        block("message", &(message + "\n"))
    )
}

/// The lines that no prefix covers are marked.
pub(super) fn coverage(code: &str, prefix: &str, uncovered: &BTreeSet<u32>) -> String {
    let marked: String = (1..)
        .zip(code.lines())
        .map(
            |(line, text)| {
                if uncovered.contains(&line) { format!("{text}  # not run yet\n") } else { format!("{text}\n") }
            },
        )
        .collect();
    format!(
        "The following Python code runs behind these imports and statements, but lines that end in `# not run yet` have never \
         run.\n\n{}{}Write other imports and statements for it, behind which at least one of these lines runs: values that take \
         another branch, calls that raise, collections with other items.\n{FORM}",
        block("imports and statements", prefix),
        block("code", &marked)
    )
}

fn block(name: &str, text: &str) -> String {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("<<< {name}\n{text}{end}>>>\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_nothing_ran_are_marked() {
        let prompt = coverage("if a:\n    b\n", "a = 0\n", &[2].into());
        assert!(prompt.contains("if a:\n    b  # not run yet\n") && prompt.contains("a = 0"), "{prompt}");
    }
}
