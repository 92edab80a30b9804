import csv
import re
import shutil
import subprocess

import pytest

from csdl_keras.experiments.commands.report import report
from csdl_keras.experiments.reporting.paper import data_title
from csdl_keras.training.algorithms import get_algorithm
from tests.experiments.reporting.made_up_folder import write_folder
from tests.experiments.reporting.page_parser import Page

image = pytest.importorskip("matplotlib.image")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder, out = tmp_path_factory.mktemp("results"), tmp_path_factory.mktemp("out") / "new"
    write_folder(folder, skip=lambda d, i, n, s: n == "csosr" and (i or s > 1000))
    paths = report(folder, out)
    return {"folder": folder, **{path.name: path for path in paths}}


@pytest.fixture(scope="module")
def page(written):
    return Page(written["report.html"].read_text())


@pytest.fixture(scope="module")
def tables(written):
    """Tables of the Markdown file: lists of rows, rows lists of cells."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", written["table2.md"].read_text(), flags=re.MULTILINE)
    return [
        [re.split(r"(?<!\\) \| ", line[2:-2]) for line in block.splitlines()] for block in blocks
    ]


class TestPage:
    def test_it_needs_no_other_file(self, written, page):
        links = [value for name, value in page.attributes if name in ("src", "href", "data")]
        assert links and all(link.startswith("#") for link in links)
        ids = {value for name, value in page.attributes if name == "id"}
        assert {link[1:] for link in links} <= ids
        text = written["report.html"].read_text()
        assert not re.search(r"url\(|@import|https?:|//", text)
        assert not {"script", "link", "img", "iframe"} & set(page.tags)

    def test_it_fits_a_phone(self, page):
        assert ("name", "viewport") in page.attributes
        assert page.tags.count("table") == sum(
            value == "scroll" for name, value in page.attributes if name == "class"
        )

    def test_numbers_are_those_of_the_results(self, written):
        """Each cell of the page against a loop over the rows of results.csv."""
        costs = {}
        for row in csv.DictReader((written["folder"] / "results.csv").open()):
            title = data_title(row["dataset"]).title.replace("synthetic", "synthetic ‡")
            column = costs.setdefault((row["imbalanced"] == "True", title), {})
            column.setdefault(row["algorithm"], []).append(float(row["average_cost"]))
        text = written["report.html"].read_text()
        panels = re.findall(r'<table class="costs">(.*?)</table>', text, re.DOTALL)
        shown = {}
        for imbalanced, panel in zip((False, True), panels, strict=True):
            heads = re.findall(r'<th scope="col">([^<]*)', panel)[1:]
            for name, cells in re.findall(
                r'<th scope="row">(.*?)</th>(.*?)</tr>', panel, re.DOTALL
            ):
                for head, cell in zip(heads, re.findall(r"<td[^>]*>([^<]*)", cells), strict=True):
                    if cell != "–":
                        shown[imbalanced, head, name] = cell
        assert len(shown) == sum(map(len, costs.values()))
        for (imbalanced, head), column in costs.items():
            means = {name: sum(each) / len(each) for name, each in column.items()}
            digits = 3 if min(means.values()) < 1 else 2
            for name, own in column.items():
                expected = f"{means[name]:.{digits}f}"
                if len(own) > 1:
                    squares = sum((cost - means[name]) ** 2 for cost in own)
                    error = (squares / (len(own) - 1) / len(own)) ** 0.5
                    expected += f" ± {error:.{digits}f}"
                else:
                    expected += " (n = 1)"
                title = get_algorithm(name).title
                title += "" if get_algorithm(name).in_table2 else " †"
                assert shown[imbalanced, head, title] == expected

    def test_best_cells(self, page):
        kinds = [value for name, value in page.attributes if name == "class"]
        assert kinds.count("best") == 4
        assert "paper " in page.texts and "0.09 ± 0.00" in page.texts

    def test_what_made_it_is_escaped(self, written, page):
        assert "csdl-keras table2 --out <folder> | tee" in page.texts
        assert "<folder>" not in written["report.html"].read_text()

    def test_claims(self, page):
        assert page.tags.count("summary") >= 5
        assert page.texts.count("supported") >= 2 and page.texts.count("not supported") >= 2


class TestMarkdown:
    def test_all_rows_have_the_cells_of_their_head(self, tables):
        assert len(tables) >= 8
        for head, rule, *rows in tables:
            assert all(re.fullmatch("---:?", cell) for cell in rule)
            assert rows and all(len(row) == len(head) == len(rule) for row in rows)

    def test_cells(self, tables):
        balanced, imbalanced = tables[:2]
        assert balanced[0][2:] == [
            "MNIST (n = 3)",
            "bg-img-rot, synthetic ‡ (n = 3)",
            "MNIST, 5,000 images (n = 3)",
        ]
        rows = {row[1]: row for row in balanced[2:]}
        assert re.fullmatch(r"\d\.\d{3} \(n = 1\) \(0\.10 ± 0\.00\)", rows["CSOSR"][2])
        assert re.fullmatch(
            r"\*\*\d\.\d{3} ± \d\.\d{3}\*\* \(\*\*0\.09 ± 0\.00\*\*\)", rows["CNN Bayes"][2]
        )
        assert rows["SDAE blind"][2:] == ["– (0.10 ± 0.00)", "– (3.28 ± 0.07)", "–"]
        assert "(" not in rows["CNN weighted †"][2]
        assert {row[1]: row for row in imbalanced[2:]}["CSOSR"][2] == "– (0.26 ± 0.01)"

    def test_notes(self, written):
        text = written["table2.md"].read_text()
        for words in ("not the paper's data", "† Not a row of", "no figures for MNIST, 5,000"):
            assert words in text
        assert "not known" not in text  # all rows have their decisions


class TestLatex:
    def test_structure(self, written):
        text = written["table2.tex"].read_text()
        assert text.isascii()
        begun = re.findall(r"\\begin\{(\w+)\}", text)
        assert begun == re.findall(r"\\end\{(\w+)\}", text) == ["tabular"] * 2
        assert text.count("{") == text.count("}")
        for columns, body in re.findall(
            r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, flags=re.DOTALL
        ):
            lines = [line for line in body.splitlines() if line.endswith(r"\\")]
            assert len(lines) >= 12
            for line in lines[1:]:
                assert line.count("&") + 1 == len(columns)
        assert r"\textbf{0.09 $\pm$ 0.00}" in text

    @pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
    def test_it_compiles(self, written, tmp_path):
        document = (
            r"\documentclass{article}\usepackage{booktabs}\begin{document}"
            rf"\input{{{written['table2.tex']}}}\end{{document}}"
        )
        (tmp_path / "document.tex").write_text(document)
        subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "document.tex"],
            cwd=tmp_path,
            check=True,
            capture_output=True,
        )


class TestFigures:
    @pytest.mark.parametrize("name", ["costs.png", "beta_curve.png"])
    def test_ink_and_margins(self, written, name):
        pixels = image.imread(written[name])
        ink = pixels[..., :3].min(axis=2) < 0.99
        assert pixels.shape[1] >= 900
        assert 0.01 < ink.mean() < 0.5
        assert not ink[:2].any() and not ink[-2:].any()
        assert not ink[:, :2].any() and not ink[:, -2:].any()
