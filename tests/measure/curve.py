"""Precision against recall over every threshold of a difference's score, as an SVG.

    python tests/measure/curve.py CHANGES.jsonl OUT.svg NAME=RESULTS.jsonl [NAME=RESULTS.jsonl ...]

CHANGES has labels; each RESULTS is what `twincell study` wrote for it. A change is called *changing* at a threshold
when one of its differences scores that much. Prints the points as a table; the verdict's own threshold is marked.
"""

import argparse
import json
import re
from pathlib import Path

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 560, 380, 60, 20, 20, 50
VERDICT = Path(__file__).parents[2] / "core" / "compare" / "src" / "verdict.rs"
COLORS = ("#3b82f6", "#c95f00", "#4d9a53", "#8b5cf6")
INK = "#80868f"


def read(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines() if line.strip()]


def points(labels, results):
    """(threshold, precision, recall), the highest threshold first."""
    scored = [
        (max((evidence["score"] for evidence in result["evidence"]), default=0.0), labels[result["id"]] == "changing")
        for result in results
        if labels.get(result["id"]) in ("changing", "preserving")
    ]
    changing = sum(is_changing for _, is_changing in scored)
    for threshold in sorted({score for score, _ in scored if score > 0}, reverse=True):
        called = [is_changing for score, is_changing in scored if score >= threshold]
        yield threshold, sum(called) / len(called), sum(called) / max(changing, 1)


def svg(curves, marked):
    """The curves in one chart; precision from one half on, because half of the labels say changing."""
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(recall, precision):
        return f"{LEFT + recall * across:.1f}", f"{TOP + (1 - (precision - 0.5) * 2) * up:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Precision against recall of changing" font-family="sans-serif" font-size="13" fill="{INK}">'
    ]
    for tenth in range(11):
        x, _ = at(tenth / 10, 0.5)
        parts.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tenth * 10} %</text>')
    for twentieth in range(0, 11, 2):
        precision = 0.5 + twentieth / 20
        _, y = at(0, precision)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="{INK}" stroke-opacity="0.3"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y}" dy="4" text-anchor="end">{precision:.0%}</text>')
    parts.append(f'<text x="{LEFT + across / 2}" y="{HEIGHT - 10}" text-anchor="middle">recall</text>')
    parts.append(f'<text transform="translate(14 {TOP + up / 2}) rotate(-90)" text-anchor="middle">precision</text>')
    for index, (name, found) in enumerate(curves.items()):
        color = COLORS[index % len(COLORS)]
        line = " ".join(",".join(at(recall, max(precision, 0.5))) for _, precision, recall in found)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        for threshold, precision, recall in found:
            x, y = at(recall, max(precision, 0.5))
            last = threshold == min(value for value, _, _ in found if value >= marked)
            radius, fill = (6, color) if last else (3, "none")
            parts.append(f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}" stroke="{color}"/>')
        y = TOP + up - 20 * (len(curves) - index)
        parts.append(f'<text x="{LEFT + 12}" y="{y}" fill="{color}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("changes", type=Path, help="changes with labels")
    parser.add_argument("out", type=Path, help="the picture, an SVG")
    parser.add_argument("results", nargs="+", metavar="NAME=RESULTS.jsonl", help="what `twincell study` wrote")
    arguments = parser.parse_args()
    labels = {change["id"]: change.get("label") for change in read(arguments.changes)}
    marked = float(re.search(r"CHANGING: f64 = ([\d.]+)", VERDICT.read_text())[1])
    curves = {}
    for named in arguments.results:
        name, _, path = named.partition("=")
        curves[name] = list(points(labels, read(path)))
        print(f"{name}\nthreshold  precision  recall")
        for threshold, precision, recall in curves[name]:
            sign = "" if threshold >= marked else "  (below the verdict's)"
            print(f"{threshold:9.2f}  {precision:9.3f}  {recall:6.3f}{sign}")
    arguments.out.write_text(svg(curves, marked))


if __name__ == "__main__":
    main()
