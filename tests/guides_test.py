"""Guides run as they stand."""

import ast
import contextlib
import importlib
import io
import logging
import pathlib
import re
import tempfile

import keras
import pytest

ROOT = pathlib.Path(__file__).parent.parent
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
RESEARCH = sorted((ROOT / "docs" / "research").glob("*.md"))
_CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def cells(path):
    """The code of a guide's cells, without their options."""
    for cell in _CELL.findall(path.read_text()):
        yield re.sub(r"^:\w+:.*\n", "", cell, flags=re.MULTILINE)


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_every_block_of_python_runs_when_the_documentation_is_built(path):
    text = path.read_text()
    assert text.startswith("---\njupytext:\n") and "\nkernelspec:\n" in text.split("---\n")[1]
    fences = re.findall(r"^ *(`{3,}[^`\n]+)", text, re.MULTILINE)
    assert all(
        it in ("```{code-cell} python", "```shell") or it.startswith("```{include} ../../")
        for it in fences
    )
    for code in cells(path):
        ast.parse(code)


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_guides_are_short(path):
    text = path.read_text()
    assert text.count("\n") <= 150
    assert len(text.split()) <= 1200


@pytest.mark.slow
@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_guides_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    level = logging.getLogger("tensorflow").level
    namespace, printed = {"__name__": path.stem}, io.StringIO()
    try:
        for number, code in enumerate(cells(path)):
            # Few epochs are enough to show that the code runs.
            short = re.sub(r"limit_epochs\(\d+\)", "limit_epochs(1)", code)
            short = re.sub(r"epochs=\d\d", "epochs=2", short)
            with contextlib.redirect_stdout(printed):
                exec(compile(short, f"{path.name}, cell {number}", "exec"), namespace)
    finally:
        logging.getLogger("tensorflow").setLevel(level)
        keras.config.set_dtype_policy("float32")
    assert bool(printed.getvalue()) == ("print(" in path.read_text())


def test_included_tables_say_what_made_them():
    # The page of all results has whole files rather than tables.
    pages = [*GUIDES, *(path for path in RESEARCH if path.stem != "results")]
    text = "".join(map(pathlib.Path.read_text, pages))
    included = re.findall(r"^```\{include\} \.\./\.\./(benchmarks/\S+)", text, re.M)
    assert len(included) > 30
    for name in included:
        text = (ROOT / name).read_text()
        lines = [line for line in text.splitlines() if line.startswith("|")]
        assert len(lines) >= 3 or name.endswith("chart.md"), name
        if "/speed/" not in name:
            assert re.search(r"\b20\d\d-\d\d-\d\d\.|commit [0-9a-f]{7}", text), name


@pytest.mark.parametrize("path", RESEARCH, ids=lambda path: path.stem)
def test_research_begins_with_an_answer(path):
    opening = path.read_text().split("\n\n")[1].replace("\n", " ")
    assert len(re.findall(r"[.?](?= [A-Z]|$)", opening)) == 3 or path.stem == "index"


def test_terms_are_public_names():
    text = (ROOT / "docs" / "terms.md").read_text()
    names = re.findall(r"\{py:obj\}`[^<]+ <csdl_keras\.([\w.]+)>`", text)
    assert len(names) > 90
    for name in names:
        module, _, attribute = f"csdl_keras.{name}".rpartition(".")
        assert attribute in importlib.import_module(module).__all__, name
