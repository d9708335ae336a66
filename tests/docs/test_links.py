"""Links between documents lead somewhere: to a file that is there, and to a heading that it has."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "models/**/*.md", "tests/measure/*.md", "notebooks/*.ipynb")
    for path in ROOT.glob(pattern)
    if "node_modules" not in path.parts
)


def prose(path):
    """The Markdown of a document or of a notebook's cells, without blocks of code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells)
    return re.sub(r"^( *)(```+).*?^\1\2 *$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text):
    """The anchors of a document's headings, as GitHub makes them."""
    found = []
    for heading in re.findall(r"^#+ +(.+?)(?: +#+)? *$", text, re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        earlier = sum(
            other == anchor or re.fullmatch(rf"{re.escape(anchor)}-\d+", other) is not None for other in found
        )
        found.append(f"{anchor}-{earlier}" if earlier else anchor)
    return found


def broken(path):
    """The links of a document that lead nowhere."""
    text = re.sub(r"`[^`\n]+`", "", prose(path))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        if not target.exists() or (anchor and anchor not in anchors(prose(target))):
            yield link


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(document):
    assert not list(broken(document))


def test_links_to_missing_files_and_headings_are_found(tmp_path):
    (tmp_path / "b.md").write_text("# What `--flag` does, and why\n\n## Again\n\n## Again\n", encoding="utf-8")
    good = [
        "[b](b.md)",
        "[b](b.md#what---flag-does-and-why)",
        "[b](b.md#again-1)",
        "[web](https://example.org)",
        "[a](#here)",
    ]
    bad = ["[c](c.md)", "[b](b.md#again-2)", "[a](#there)"]
    text = "# Here\n\n```\n[no](link.md)\n# There\n```\n\n" + "\n".join(good + bad)
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    assert list(broken(tmp_path / "a.md")) == ["c.md", "b.md#again-2", "#there"]
