"""Sphinx extension: the page of results shows each committed table, as the file has it.

In `results.md` the line `% benchmarks` stands for the tables of `benchmarks/results`, the line
`% runs` for the runs of the command in `notebooks/results`.
"""

import ast
import csv
import json
import pathlib
import re
from typing import Any

import sphinx.application

from csdl_keras.experiments.reporting.render import read_contents, render_markdown, render_page

#: A table with more lines than this is behind a line to click on.
LONG = 40


def _shifted(text: str, levels: int) -> str:
    """Lowers headings by some levels."""
    return re.sub(r"^(#+ )", "#" * levels + r"\1", text, flags=re.MULTILINE)


def _intention(root: pathlib.Path, text: str) -> str:
    """Returns the docstring of the program that wrote a table, without its usage."""
    command = re.search(r"`python (benchmarks/\S+\.py)", text)
    if not command or not (root / command[1]).exists():
        return ""
    docstring = ast.get_docstring(ast.parse((root / command[1]).read_text())) or ""
    kept = [it for it in docstring.split("\n\n") if not it.startswith("    ")]
    return "\n\n".join(kept[:2])


def benchmark(root: pathlib.Path, path: pathlib.Path) -> str:
    """Returns the section of a table of `benchmarks/results`."""
    text = path.read_text().strip()
    folder = path.parent.relative_to(root / "benchmarks" / "results").as_posix()
    name = folder if path.stem in (path.parent.name, "peers", "speed") else f"{folder}: {path.stem}"
    pictures = [
        f"![{picture.stem}](../{picture.relative_to(root)})"
        for picture in sorted(path.parent.glob("*.png"))
        if path.stem == path.parent.name
    ]
    title = re.match(r"# (.+)\n", text)
    if title:
        text = text[title.end() :].strip()
    body = _shifted(text, 2)
    if len(text.splitlines()) > LONG:
        inner = re.sub(r"^#+ (.+)$", r"**\1**", text, flags=re.MULTILINE)
        # The last paragraph may name the command.
        inner, mark, made_by = inner.partition("\n\n`python ")
        made_by = mark.strip() + made_by
        body = f"::::{{dropdown}} All {len(text.splitlines())} lines\n{inner}\n::::\n\n{made_by}"
    parts = [f"### {name.replace('_', ' ')}", _intention(root, text), *pictures, body]
    return "\n\n".join(part for part in parts if part)


def _made_by(record: dict[str, Any]) -> str:
    """Returns a line with the command of a run, its versions and date."""
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    return f"`{record['command']}` on {record['backend']}, {versions}, {record['date'][:10]}."


def comparison(folder: pathlib.Path) -> str:
    """Returns the section of a run of `csdl-keras compare`: means over cost matrices."""
    with (folder / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns = ("average_cost", "error_rate", "train_seconds")
    means: dict[str, list[float]] = {}
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        own = [row for row in rows if row["algorithm"] == name]
        means[name] = [sum(float(row[it]) for row in own) / len(own) for it in columns]
    lines = [
        f"| `{name}` | {cost:.3f} | {100 * error:.1f} % | {seconds:.0f} |"
        for name, (cost, error, seconds) in sorted(means.items(), key=lambda it: it[1][0])
    ]
    head = [
        "| algorithm | average test cost | error rate | seconds |",
        "| --- | ---: | ---: | ---: |",
    ]
    matrices = len({row["cost_seed"] for row in rows})
    return "\n\n".join(
        [
            f"### {folder.name.replace('_', ' ')}",
            f"`{rows[0]['dataset']}`, means over {matrices} cost matrices.",
            "\n".join([*head, *lines]),
            _made_by(json.loads((folder / "run.json").read_text())),
        ]
    )


def runs(app: sphinx.application.Sphinx) -> str:
    """Returns the sections of all runs; the page of a grid's report is copied beside the site."""
    sections = []
    for path in sorted((app.srcdir.parent / "notebooks" / "results").glob("*/run.json")):
        folder = path.parent
        if "runs" not in json.loads(path.read_text()):
            sections.append(comparison(folder))
            continue
        contents, name = read_contents(folder), f"report_{folder.name}.html"
        extra = pathlib.Path(app.outdir, "_static", "reports")
        extra.mkdir(parents=True, exist_ok=True)
        (extra / name).write_text(render_page(contents))
        report = re.sub(r"\A# .+\n", "", render_markdown(contents))
        link = f"<a href='_static/reports/{name}'>The same as a page with figures.</a>"
        sections.append(f"### Table 2: {folder.name}\n\n{link}\n\n{_shifted(report, 2)}")
    return "\n\n".join(sections)


def fill(app: sphinx.application.Sphinx, docname: str, content: list[str]) -> None:
    """Replaces the two lines in `results.md`."""
    if docname != "results":
        return
    root = app.srcdir.parent
    found = sorted((root / "benchmarks" / "results").glob("*/**/*.md"))
    for path in [*found, *(root / "notebooks" / "results").glob("*/results.csv")]:
        app.env.note_dependency(path)
    tables = "\n\n".join(benchmark(root, path) for path in found)
    content[0] = content[0].replace("% benchmarks", tables).replace("% runs", runs(app))


def setup(app: sphinx.application.Sphinx) -> dict[str, Any]:
    """Registers the extension."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
