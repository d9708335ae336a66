"""Writes the generated tables of the documents: options, arguments, exit statuses, fields of results.

`make reference` runs it. A region begins with `<!-- generated: SUBJECT -->` and ends with `<!-- end -->`. What stands
between them comes from the installed program: the table of options, the help of the commands, the types of the library.
"""

import ast
import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from twincell import _twincell

FOLDER = Path(__file__).parent
STUB = FOLDER.parent / "kernel" / "python" / "twincell" / "_twincell.pyi"
DOCUMENTS = [*sorted((FOLDER / "reference").glob("*.md")), FOLDER / "studies.md"]
REGION = re.compile(r"<!-- generated: (?P<subject>.*?) -->\n(?P<content>.*?)<!-- end -->", re.DOTALL)
MAGICS = ["%%compare", "%compare", "%autocompare"]
STATUSES = ["0", "1", "2", "3", "130"]


def table(head, rows):
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "".join(re.sub(" +", " ", line) + "\n" for line in lines)


@cache
def help_of(*command):
    """What a command says with `--help`."""
    command = [sys.executable, "-m", "twincell", *command, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def commands():
    """The names of the commands, in the order of the help."""
    return re.findall(r"^  ([a-z]+) ", help_of(), re.MULTILINE)


def options():
    """All options that several surfaces share."""
    rows = []
    for option in _twincell.option_table():
        allowed = f" ({option['allowed']})" if option["allowed"] else ""
        name = f"--{option['name']} {option['placeholder']}".strip()
        default = option["default"] or option["absent"]
        jobs = ", ".join(option["jobs"])
        rows.append([f"`{name}`", default, option["help"] + allowed, jobs])
    return table(["option", "default", "what it does", "commands"], rows)


def techniques():
    """The techniques that each analysis can leave out."""
    rows = []
    for option in _twincell.option_table():
        of = ", ".join(option["jobs"])
        rows += [[f"`{name}`", of, text] for name, text in option["techniques"]]
    return table(["technique", "of", "what it does"], rows)


def arguments(command):
    """The arguments that a command has besides the options."""
    shared = {f"--{option['name']}" for option in _twincell.option_table() if command in option["jobs"]}
    rows = []
    # An entry is a line: `  [FILE]...  What it is`, `  -v, --verbose  What it does`, `      --git <OLD>  What it does`.
    for name, text in re.findall(r"^ +(?:-\w, )?([-<\[]\S+(?: <\S+>)?) {2,}(.*)$", help_of(command), re.MULTILINE):
        if name.split()[0] not in shared | {"--help"}:
            text = text.replace("] [possible values: ", "; one of: ")
            rows.append([f"`{re.sub('[<>]', '', name)}`", text])
    return table(["argument", "what it does"], rows)


def exit_statuses():
    """What the exit status of each command says."""
    rows = []
    for command in commands():
        said = " ".join(help_of(command).split()).split("Exit status: ")[1].split(" --fail-on turns")[0]
        means = dict(re.findall(r"\b(\d+) (.+?)(?=[,;.]? \d|[,;.] with --|\.?$)", said))
        rows.append([f"`{command}`", *(means.get(status, "") for status in STATUSES)])
    return table(["command", *STATUSES], rows)


def magics():
    """The flags that only magics take."""
    shared = {f"--{option['name']}" for option in _twincell.option_table()}
    rows = []
    for magic in MAGICS:
        own = [flag for flag in _twincell.magic_flags(magic) if flag not in shared]
        rows.append([f"`{magic}`", ", ".join(f"`{flag}`" for flag in own)])
    return table(["magic", "flags besides the options of `compare`"], rows)


def stub_types():
    """The types of the library: classes by name, and the words that a name for literals stands for."""
    nodes = ast.parse(STUB.read_text(encoding="utf-8")).body
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    words = {ast.unparse(node.targets[0]): node.value for node in nodes if isinstance(node, ast.Assign)}
    return classes, words


def fields(name):
    """The fields of a dictionary, or the public members of a class."""
    classes, words = stub_types()
    kind = classes[name]
    if "TypedDict" in [ast.unparse(base) for base in kind.bases]:
        return table(["field", "type", "what it is"], list(described_fields(kind, words)))
    return table(["member", "type", "what it is"], list(described_members(kind)))


def described_fields(kind, words):
    """Name, type and description of each field of a typed dictionary. A string after a field describes it."""
    for node, after in zip(kind.body, [*kind.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign):
            text = after.value.value if isinstance(after, ast.Expr) else ""
            literal = re.search(
                r"Literal\[(.*?)\]", ast.unparse(words.get(ast.unparse(node.annotation), node.annotation))
            )
            if literal:
                text += ": " + literal[1].replace("'", "`")
            yield [f"`{ast.unparse(node.target)}`", type_text(node.annotation), " ".join(text.split())]


def described_members(kind):
    """Name, type and description of each public member. The extension module has the description."""
    real = getattr(_twincell, kind.name)
    for node in kind.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            is_property = any(ast.unparse(one) == "property" for one in node.decorator_list)
            names = [argument.arg for argument in [*node.args.args, *node.args.kwonlyargs] if argument.arg != "self"]
            shown = node.name if is_property else f"{node.name}({', '.join(names)})"
            text = (inspect.getdoc(getattr(real, node.name)) or "").split("\n\n")[0]
            yield [f"`{shown}`", type_text(node.returns), " ".join(text.split())]


def type_text(annotation):
    """A type as the tables show it: words are texts."""
    text = re.sub(r"Required\[(.*)\]", r"\1", ast.unparse(annotation))
    text = re.sub(r"Literal\[.*?\]|_Verdict", "str", text)
    return f"`{text}`"


def region(subject):
    """The content of a region."""
    word, _, rest = subject.partition(" ")
    match word:
        case "options":
            return options()
        case "techniques":
            return techniques()
        case "arguments":
            return arguments(rest.removeprefix("of "))
        case "exit":
            return exit_statuses()
        case "magics":
            return magics()
        case "fields":
            return fields(rest)
    raise ValueError(f"there is no region {subject!r}")


def generated(text):
    """A document with its regions written anew."""
    return REGION.sub(lambda found: f"<!-- generated: {found[1]} -->\n\n{region(found[1])}\n<!-- end -->", text)


def main():
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        if (new := generated(text)) != text:
            document.write_text(new, encoding="utf-8")
            print(document.relative_to(FOLDER.parent))


if __name__ == "__main__":
    main()
