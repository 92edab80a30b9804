"""Every public name has a page in `docs/api`, and links between pages and files lead somewhere.

The build itself (`sphinx-build -W`, in `.ci/run`) runs the guides and checks all references.
"""

import importlib
import inspect
import pathlib
import re
import sys

import pytest

import csdl_keras

ROOT = pathlib.Path(__file__).parent.parent
DOCS = ROOT / "docs"
API = sorted(path for path in (DOCS / "api").glob("*.rst") if path.stem != "index")
#: Files that a build writes.
GENERATED = ("_build", "api/generated", "gallery", "notebooks")
PAGES = sorted(
    path
    for path in [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    if not any((DOCS / name) in path.parents for name in GENERATED)
)


@pytest.fixture
def extensions(monkeypatch):
    """Makes the modules of `docs/_ext` importable."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module


def documented():
    """Yields the full name of each entry of the API's tables."""
    for path in API:
        module = ""
        for line in path.read_text().splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.fullmatch(r"   ([\w.]+)", line):
                yield f"{module}.{found[1]}"


def test_every_public_name_has_one_page(extensions):
    wanted = set(extensions("public_names").pages().values())
    found = list(documented())
    assert sorted(found) == sorted(wanted)
    assert len(found) > 100


def test_every_public_module_has_a_page(extensions):
    public = extensions("public_names").modules() - {"csdl_keras"}
    described = re.findall(
        r"^\.\. automodule:: (\S+)", "".join(map(pathlib.Path.read_text, API)), re.M
    )
    assert sorted(described) == sorted(public)


def test_every_page_is_in_a_toctree():
    trees = re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / "index.md").read_text(), re.DOTALL)
    listed = {line for tree in trees for line in tree.splitlines() if line and line[0] != ":"}
    pages = {
        path.relative_to(DOCS).with_suffix("").as_posix() for path in PAGES if DOCS in path.parents
    }
    assert pages - {"index"} <= listed
    for name in listed - {"notebooks/*", "gallery/index"}:
        assert list(DOCS.glob(f"{name}.*")), name


def test_examples_import_what_they_use(extensions):
    examples = extensions("example_imports")
    names = extensions("public_names")
    for module in ("csdl_keras", *names.subpackages()):
        for name, thing in names.exported(module):
            text = inspect.getdoc(thing) or "" if callable(thing) else ""
            found = {}
            exec("\n".join(examples.imports(thing, text)), found) if ">>> " in text else None
            for needed in examples.missing(text):
                assert found[needed] is vars(sys.modules[thing.__module__])[needed], name
    lines = ["Text.", "", "    >>> C = zero_one(3)"]
    added = examples.add_imports(csdl_keras.costs.zero_one, lines)
    assert added[2:] == ["    >>> from csdl_keras.costs import zero_one", lines[2]]


def test_every_plot_is_in_the_gallery():
    plots = importlib.import_module("csdl_keras.plots")
    scripts = {path.stem for path in (DOCS / "plots").glob("*.py")}
    assert {f"plot_{name}" for name in plots.__all__} <= scripts
    pictures = re.findall(
        r'^    "(\w+)": ', (DOCS / "conf.py").read_text().split("PICTURES = ")[1], re.M
    )
    assert pictures and {f"plot_{name}" for name in pictures} <= scripts


def anchors(path):
    """Returns the anchors of the headings of a Markdown file, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.DOTALL | re.M)
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_relative_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target) or target.startswith("../gallery"):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        made = any((DOCS / it) in path.parents or DOCS / it == path for it in GENERATED)
        assert made or path.exists(), target
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), target


def test_no_line_is_a_comment_by_chance():
    for page in PAGES:
        assert not re.search(r"^ *%", page.read_text(), re.M), page  # MyST would leave it out


def test_links_in_docstrings_name_public_things(extensions):
    pytest.importorskip("sphinx")
    linked = extensions("linked_names")
    assert linked.target("csdl.costs.regret") == "csdl_keras.costs.regret"
    assert linked.target("Trainer.train") == "csdl_keras.Trainer.train"
    assert linked.target("sosr", "csdl_keras") == "csdl_keras.sosr"
    assert linked.target("costs") is linked.target("keras.losses.Loss") is None


def test_docstrings_become_restructuredtext(extensions):
    pytest.importorskip("sphinx")
    convert = extensions("markdown_docstrings").converted
    assert convert(["See `a` and [b](https://c.d)."]) == ["See ``a`` and `b <https://c.d>`__."]
    assert convert([">>> `a`", "`b`"]) == [">>> `a`", "`b`"]
    assert convert(["| `a` | b |", "| --- | --- |", "| 1 | 2 |"])[3:] == [
        "    * - ``a``",
        "      - b",
        "    * - 1",
        "      - 2",
        "",
    ]
