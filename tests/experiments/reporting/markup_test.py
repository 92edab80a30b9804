"""No text of a results folder becomes markup of the report, or breaks it."""

import csv
import html.parser
import json
import re
import xml.etree.ElementTree

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings

from csdl_keras.experiments import cli
from csdl_keras.experiments.commands.report import report
from csdl_keras.experiments.reporting.render import (
    read_contents,
    render_latex,
    render_markdown,
    render_page,
)
from tests.experiments.reporting.made_up_folder import BETAS
from tests.experiments.reporting.page_parser import Page

markdown_it = pytest.importorskip("markdown_it")

PLAIN = "plain"
NASTY = [
    "<script>alert(1)</script>",
    "</td></table>",
    "a | b || c",
    "a\nb\r\n\n# c\n| d |",
    "`a` ``b``",
    "[a](http://x.y) ![a](b) <http://x.y> http://x.y www.x.y a@x.y [a]: b",
    "**a** __b__ *c* _d_ ~~e~~",
    "$\\frac{1} $$x$$ \\(y\\)",
    "\\input{a} \\end{tabular} \\\\ % & # _ ^ ~ {",
    "&lt;b&gt; &#124; &amp;",
    "\\| \\\\| \\",
    "\x00\x1b[31m\u202e\u2028é ± ☃",
    '" onload="x" \'',
    "<!-- a --> <![CDATA[",
    "]]>",
]
TEXTS = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=20),
    st.text("|`*_[]()<>&\\~#$!:/.\n -\"'{}%^@", max_size=20),
)
JSON_TEXTS = TEXTS | st.text(st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010), max_size=5)


def write(folder, name, texts):
    """Results of a data set of that name for two algorithms, a curve and a record of a run."""
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        columns = "dataset imbalanced algorithm cost_seed average_cost validation_cost train_size"
        writer.writerow(columns.split())
        for imbalanced in (False, True):
            writer.writerow([name, imbalanced, "csdnn", 1000, 1.5, 1.5, 100])
            writer.writerow([name, imbalanced, "sdae_sosr", 1000, 2.5, 2.5, 100])
    with (folder / "beta_curve.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(BETAS.split())
        for beta in (0.0, 0.5, 1.0):
            writer.writerow([name, False, "csdnn", 1000, beta, 1 + beta, 0.1, 1 + beta])
    command, key, value = texts
    run = {"command": command, "date": value, "versions": {key: value}, "backend": value}
    (folder / "run.json").write_text(json.dumps({"runs": [{**run, "machine": [value, {key: 1}]}]}))


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """A function from texts to the contents of a folder with them."""
    folder = tmp_path_factory.mktemp("results")

    def read(name, texts):
        write(folder, name, texts)
        return read_contents(folder)

    return read


def render(contents):
    return render_page(contents), render_markdown(contents), render_latex(contents)


@pytest.fixture(scope="module")
def plain(read):
    return render(read(PLAIN, (PLAIN, PLAIN, PLAIN)))


def page_structure(page):
    parsed = Page(page)
    return parsed.tags, [name for name, _ in parsed.attributes]


class Shown(html.parser.HTMLParser):
    """The text of a page, without its style."""

    def __init__(self, page):
        super().__init__()
        self.text = ""
        self.feed(page)

    def handle_data(self, data):
        self.text += data


def markdown_structure(text):
    """Kinds of blocks and of what is within lines, but for the pieces that a text comes in."""
    parser = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    kinds = []
    for token in parser.parse(text):
        kinds.append(token.type)
        inline = [it.type + it.tag for it in token.children or ()]
        kinds += [kind for kind in inline if not kind.startswith("text")]
    return kinds


def latex_structure(text):
    """Commands and active characters, but for those that only print a character."""
    printing = (
        r"\\[&%$#_{}]|\\text(?:backslash|asciitilde|asciicircum|less|greater)\{\}|\$\^?\\[a-z]+\$"
    )
    return re.findall(r"\\[a-zA-Z]+|\\.|[{}&%$#_^~\\\n]", re.sub(printing, "", text))


@given(TEXTS, st.tuples(JSON_TEXTS, JSON_TEXTS, JSON_TEXTS))
@settings(max_examples=150)
@example("a|b", ("`a` | b", "c", "d"))
def test_structure_of_tables_does_not_depend_on_texts(read, plain, name, texts):
    contents = read(name, texts)
    markdown, latex = render_markdown(contents), render_latex(contents)
    _, plain_markdown, plain_latex = plain
    markdown.encode()
    assert markdown_structure(markdown) == markdown_structure(plain_markdown)
    assert markdown.count("\n") == plain_markdown.count("\n")
    assert latex_structure(latex) == latex_structure(plain_latex)
    assert latex.isascii()


@given(TEXTS, st.tuples(JSON_TEXTS, JSON_TEXTS, JSON_TEXTS))
@settings(max_examples=15, deadline=None)  # Each draws its figures.
@example("</svg><b>", ("</code>", "<dd>", "</section>"))
def test_structure_of_the_page_does_not_depend_on_texts(read, plain, name, texts):
    page = render_page(read(name, texts))
    page.encode()
    assert page_structure(page) == page_structure(plain[0])
    for figure in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        xml.etree.ElementTree.fromstring(figure)


@pytest.mark.parametrize("name", [text for text in NASTY if text.isprintable()])
def test_texts_are_shown_as_they_are(read, name):
    page, markdown, _ = render(read(name, (name, name, name)))
    parser = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for shown in (Shown(page).text, Shown(parser.render(markdown)).text):
        assert shown.count(name) >= 5


def test_names_stay_readable_in_the_file(read):
    command = "csdl-keras table2 --datasets bg_img_rot_synthetic"
    markdown = render_markdown(read("emnist/letters_2", (command, "scikit-learn", "3.15")))
    assert "emnist/letters_2" in markdown and command in markdown


@pytest.mark.parametrize("name", ["$\\frac{", "a$b$c", "\\", "a\nb\x00"])
def test_figures_take_any_name(name, tmp_path):
    write(tmp_path, name, (name, name, name))
    paths = report(tmp_path, tmp_path / "out")
    assert [path.name for path in paths if path.suffix == ".png"] == ["costs.png", "beta_curve.png"]


def test_a_file_that_cannot_be_made_costs_no_other(tmp_path):
    write(tmp_path, PLAIN, (PLAIN, PLAIN, PLAIN))
    (tmp_path / "figures" / "costs.png").mkdir(parents=True)
    assert cli.main(["report", str(tmp_path)]) == 1
    for name in ("report.html", "table2.md", "table2.tex", "figures/beta_curve.png"):
        assert (tmp_path / name).stat().st_size > 0
