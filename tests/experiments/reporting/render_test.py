import re

import numpy as np
import pytest

from csdl_keras.experiments.commands.report import report
from csdl_keras.experiments.csv_files import read_rows
from csdl_keras.experiments.reporting.paper import data_title
from csdl_keras.training.algorithms import get_algorithm
from tests.experiments.reporting.made_up_folder import write_folder
from tests.experiments.reporting.page_parser import Page

image = pytest.importorskip("matplotlib.image")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder of results, and the report's files by name."""
    folder, out = tmp_path_factory.mktemp("results"), tmp_path_factory.mktemp("out") / "new"
    write_folder(folder, skip=lambda d, i, n, s: n == "csosr" and (i or s > 1000))
    return folder, {path.name: path for path in report(folder, out)}


@pytest.fixture(scope="module")
def text(written):
    """A function from the name of a file of the report to its text."""
    return lambda name: written[1][name].read_text()


@pytest.fixture(scope="module")
def page(text):
    return Page(text("report.html"))


class TestPage:
    def test_it_needs_no_other_file(self, text, page):
        links = [value for name, value in page.attributes if name in ("src", "href", "data")]
        assert links and all(link.startswith("#") for link in links)
        assert {link[1:] for link in links} <= {v for name, v in page.attributes if name == "id"}
        assert not re.search(r"url\(|@import|https?:|//", text("report.html"))
        assert not {"script", "link", "img", "iframe"} & set(page.tags)

    def test_numbers_are_those_of_the_results(self, written, text):
        """Each cell of the page against the rows of results.csv."""
        costs = {}
        for row in read_rows(written[0] / "results.csv"):
            title = data_title(row["dataset"]).title.replace("synthetic", "synthetic ‡")
            column = costs.setdefault((row["imbalanced"] == "True", title), {})
            column.setdefault(row["algorithm"], []).append(float(row["average_cost"]))
        expected = {}
        for key, column in costs.items():
            digits = 3 if min(map(np.mean, column.values())) < 1 else 2
            for name, own in column.items():
                algorithm = get_algorithm(name)
                title = algorithm.title + ("" if algorithm.in_table2 else " †")
                error = np.std(own, ddof=1) / len(own) ** 0.5 if len(own) > 1 else None
                end = " (n = 1)" if error is None else f" ± {error:.{digits}f}"
                expected[*key, title] = f"{np.mean(own):.{digits}f}{end}"
        panels = re.findall(r'<table class="costs">(.*?)</table>', text("report.html"), re.DOTALL)
        shown = {}
        for imbalanced, panel in zip((False, True), panels, strict=True):
            heads = re.findall(r'<th scope="col">([^<]*)', panel)[1:]
            rows = re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', panel, re.DOTALL)
            for name, cells in rows:
                for head, cell in zip(heads, re.findall(r"<td[^>]*>([^<]*)", cells), strict=True):
                    if cell != "–":
                        # Whether a star stands beside a number is another test's question.
                        shown[imbalanced, head, name] = cell.replace("*", "")
        assert shown == expected

    def test_marks_and_texts(self, text, page):
        assert ("name", "viewport") in page.attributes
        assert page.attributes.count(("class", "scroll")) == page.tags.count("table")
        assert page.attributes.count(("class", "best")) == 4
        assert "paper " in page.texts and "0.09 ± 0.00" in page.texts
        assert "csdl-keras table2 --out <folder> | tee" in page.texts
        assert "<folder>" not in text("report.html")
        assert page.tags.count("summary") >= 5
        assert page.texts.count("supported") >= 2 and page.texts.count("not supported") >= 2


class TestMarkdown:
    @pytest.fixture
    def tables(self, text):
        """Tables of the file: lists of rows, rows lists of cells."""
        blocks = re.findall(r"(?:^\|.*\|\n)+", text("table2.md"), flags=re.MULTILINE)
        lines = [block.splitlines() for block in blocks]
        return [[re.split(r"(?<!\\) \| ", line[2:-2]) for line in block] for block in lines]

    def test_all_rows_have_the_cells_of_their_head(self, tables):
        assert len(tables) >= 8
        for head, rule, *rows in tables:
            assert all(re.fullmatch("---:?", cell) for cell in rule)
            assert rows and all(len(row) == len(head) == len(rule) for row in rows)

    def test_cells(self, tables):
        balanced, imbalanced = ({row[1]: row[2:] for row in table} for table in tables[1:3])
        titles = ["MNIST", "bg-img-rot, synthetic ‡", "MNIST, 5,000 images"]
        assert tables[1][0][2:] == [f"{title} (n = 3)" for title in titles]
        assert re.fullmatch(r"\d\.\d{3} \(n = 1\) \(0\.10 ± 0\.00\)", balanced["CSOSR"][0])
        assert re.fullmatch(
            r"\*\*\d\.\d{3} ± \d\.\d{3}\*\* \(\*\*0\.09 ± 0\.00\*\*\)", balanced["CNN Bayes"][0]
        )
        assert balanced["SDAE blind"] == ["– (0.10 ± 0.00)", "– (3.28 ± 0.07)", "–"]
        assert "(" not in balanced["CNN weighted †"][0]
        assert imbalanced["CSOSR"][0] == "– (0.26 ± 0.01)"

    def test_notes(self, text):
        for words in ("not the paper's data", "† Not a row of", "no figures for MNIST, 5,000"):
            assert words in text("table2.md")
        assert "not known" not in text("table2.md")  # all rows have their decisions


def test_latex(text):
    content = text("table2.tex")
    assert content.isascii() and content.count("{") == content.count("}")
    begun = re.findall(r"\\begin\{(\w+)\}", content)
    assert begun == re.findall(r"\\end\{(\w+)\}", content) == ["tabular"] * 2
    tabular = r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}"
    for columns, body in re.findall(tabular, content, flags=re.DOTALL):
        lines = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert len(lines) >= 12
        assert all(line.count("&") + 1 == len(columns) for line in lines[1:])
    assert r"\textbf{0.09 $\pm$ 0.00}" in content


@pytest.mark.parametrize("name", ["costs.png", "beta_curve.png"])
def test_figures_have_ink_and_margins(written, name):
    pixels = image.imread(written[1][name])
    ink = pixels[..., :3].min(axis=2) < 0.99
    assert pixels.shape[1] >= 900
    assert 0.01 < ink.mean() < 0.5
    assert not ink[:2].any() and not ink[-2:].any()
    assert not ink[:, :2].any() and not ink[:, -2:].any()
