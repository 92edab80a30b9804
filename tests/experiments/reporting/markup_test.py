"""No text of a results folder becomes markup of the report, or breaks it."""

import json
import re
import xml.etree.ElementTree

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings

from csdl_keras.experiments.reporting.render import (
    read_contents,
    render_latex,
    render_markdown,
    render_page,
)
from csdl_keras_cli import main as cli
from tests.experiments.reporting.made_up_folder import BETAS, RESULTS, write_csv
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
    costs = {"csdnn": 1.5, "sdae_sosr": 2.5}
    rows = [
        [name, imbalanced, algorithm, 1000, cost, cost, 100]
        for imbalanced in (False, True)
        for algorithm, cost in costs.items()
    ]
    write_csv(folder / "results.csv", RESULTS, rows)
    betas = [[name, False, "csdnn", 1000, b, 1 + b, 0.1, 1 + b] for b in (0.0, 0.5, 1.0)]
    write_csv(folder / "beta_curve.csv", BETAS, betas)
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


@pytest.fixture(scope="module")
def plain(read):
    contents = read(PLAIN, (PLAIN, PLAIN, PLAIN))
    return render_page(contents), render_markdown(contents), render_latex(contents)


def page_structure(page):
    parsed = Page(page)
    return parsed.tags, [name for name, _ in parsed.attributes]


def parser():
    return markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])


def markdown_structure(text):
    """Kinds of blocks and of what is within lines, but for the pieces that a text comes in."""
    kinds = []
    for token in parser().parse(text):
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
@settings(max_examples=40)
@example("a|b", ("`a` | b", "c", "d"))
def test_structure_of_tables_does_not_depend_on_texts(read, plain, name, texts):
    contents = read(name, texts)
    markdown, latex = render_markdown(contents), render_latex(contents)
    markdown.encode()
    assert markdown_structure(markdown) == markdown_structure(plain[1])
    assert markdown.count("\n") == plain[1].count("\n")
    assert latex_structure(latex) == latex_structure(plain[2])
    assert latex.isascii()


@pytest.mark.parametrize(
    "name, texts",
    [
        ("</svg><b>", ("</code>", "<dd>", "</section>")),
        ("$\\frac{", (NASTY[0], NASTY[1], NASTY[-1])),
        ("a$b$c\n\x00\\", ("\ud800", '" onload="x" \'', "<!-- a --> <![CDATA[")),
    ],
)
def test_structure_of_the_page_does_not_depend_on_texts(read, plain, name, texts):
    page = render_page(read(name, texts))
    page.encode()
    assert page_structure(page) == page_structure(plain[0])
    for figure in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        xml.etree.ElementTree.fromstring(figure)


def test_texts_are_shown_as_they_are(read):
    """Names stay readable in the Markdown file, too."""
    for name in filter(str.isprintable, NASTY):
        markdown = render_markdown(read(name, (name, name, name)))
        shown = parser().render(markdown)
        assert "".join(Page(f"<main>{shown}</main>").texts).count(name) >= 5
    page = render_page(read(NASTY[9], (NASTY[9], NASTY[0], NASTY[6])))
    assert all(name in "".join(Page(page).texts) for name in (NASTY[9], NASTY[0], NASTY[6]))
    command = "csdl-keras table2 --datasets bg_img_rot_synthetic"
    markdown = render_markdown(read("emnist/letters_2", (command, "scikit-learn", "3.15")))
    assert "emnist/letters_2" in markdown and command in markdown


def test_figures_take_any_name(tmp_path):
    """And a file that cannot be made costs no other."""
    write(tmp_path, "$\\frac{a\nb\x00", (PLAIN, PLAIN, PLAIN))
    (tmp_path / "table2.md").mkdir()
    assert cli.main(["report", str(tmp_path)]) == 1
    for name in ("report.html", "table2.tex", "figures/costs.png", "figures/beta_curve.png"):
        assert (tmp_path / name).stat().st_size > 0
