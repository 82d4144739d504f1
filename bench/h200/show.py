#!/usr/bin/env python3
"""Writes bench/results/h200.json into docs/benchmarks.md, between its marks, and the plot beside it.

usage: show.py [--check]        with --check: nothing is written, the exit code says whether the page is up to date
"""
import json
import math
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from programs import ROWS

ROOT = Path(__file__).resolve().parents[2]
RESULT, PAGE, PLOT = ROOT / "bench/results/h200.json", ROOT / "docs/benchmarks.md", ROOT / "docs/h200.svg"
BEGIN, END = "<!-- bench/h200/show.py writes from here -->", "<!-- to here -->"


def speed_up(row):
    return row["torch_us"] / row["us"] if row["us"] and row["torch_us"] else None


def number(value, form="{:.2f}"):
    return "-" if value is None else form.format(value)


def ratio(value):
    return number(value, "{:.3f}" if value is not None and value < 0.1 else "{:.2f}")


def micros(value):
    return number(value, "{:.2f}" if value is None or value < 10 else "{:.1f}")


def table(result):
    yield "| program | us | torch | read | speed-up | error | checks | candidate 0 | structure; schedule |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in result["rows"]:
        name = row["program"] + (f" ({row['commit']})" if row.get("commit") else "")
        what = row.get("error") or f"{row['structure']}; {row['schedule']}".rstrip("; ")
        cells = [name, micros(row["us"]), micros(row["torch_us"]), micros(row["read_us"]), ratio(speed_up(row)),
                 number(row["rel_error"], "{:.1e}"), str(row.get("families", "-")), micros(row.get("candidate0_us")), what.replace("|", "/")]
        yield f"| {' | '.join(cells)} |"


def summary(result):
    compared = {row["program"]: speed_up(row) for row in result["rows"] if speed_up(row)}
    text = f"Device {result['device']}, PyTorch {result['torch']}, commit {result['commit']}: {len(compared)} of {len(ROWS)} rows"
    if not compared:
        return text + "."
    geomean = math.exp(sum(map(math.log, compared.values())) / len(compared))
    worst = min(compared, key=compared.get)
    return text + f"; geomean **{ratio(geomean)}**, worst {ratio(compared[worst])} ({worst})."


def page(text, result):
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    lines = [BEGIN, summary(result), "", "![speed-up over PyTorch](h200.svg)", "", *table(result), END]
    return before + "\n".join(lines) + after


def plot(result):
    """Speed-up over the best form of PyTorch, a bar a row, on a logarithmic axis."""
    rows = [row for row in result["rows"] if speed_up(row)]
    left, width, high, top = 260, 520, 16, 30
    least = min([0.5, *map(speed_up, rows)])
    most = max([2.0, *map(speed_up, rows)])
    low, span = math.log2(least), math.log2(most) - math.log2(least)

    def x(value):
        return left + width * (math.log2(value) - low) / span

    bottom = top + high * len(rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" height="{bottom + 20}" '
             'font-family="sans-serif" font-size="11">', '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="{left}" y="14">times as fast as the best form of PyTorch</text>']
    for power in range(math.ceil(low), math.floor(low + span) + 1):
        at, color = x(2.0**power), "black" if power == 0 else "#cccccc"
        parts.append(f'<line x1="{at:.1f}" y1="{top - 6}" x2="{at:.1f}" y2="{bottom}" stroke="{color}"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 14}" text-anchor="middle">{2.0**power:.2g}</text>')
    for i, row in enumerate(rows):
        times, y = speed_up(row), top + high * i
        begin, end = sorted((x(1), x(times)))
        color = "#2a7f3f" if times >= 1 else "#b03030"
        parts.append(f'<text x="{left - 8}" y="{y + 11}" text-anchor="end">{escape(row["program"])}</text>')
        parts.append(f'<rect x="{begin:.1f}" y="{y + 2}" width="{end - begin:.1f}" height="{high - 4}" fill="{color}"/>')
        parts.append(f'<text x="{left + width + 6}" y="{y + 11}">{ratio(times)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main():
    result = json.loads(RESULT.read_text())
    for path, text in ((PAGE, page(PAGE.read_text(), result)), (PLOT, plot(result))):
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"{path.relative_to(ROOT)} is not up to date: run bench/h200/show.py")


if __name__ == "__main__":
    main()
