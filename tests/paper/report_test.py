"""The report on a folder: its page, Markdown and LaTeX, and what they say of its runs."""

import configparser
import json
import re

import numpy as np
import pytest

from csdl_keras.paper.notes import data_table, missing_lines, read_doubled, searches_table
from csdl_keras.paper.report import read_contents, render_markdown, report
from tests.paper.made_up_folder import (
    DATA,
    ERRORS,
    change_arrays,
    change_rows,
    columns_of,
    read_rows,
    write_csv,
    write_folder,
    write_rows,
)
from tests.support.fresh_process import REPOSITORY, run_python

image = pytest.importorskip("matplotlib.image")
FILES = ["report.html", "table2.md", "table2.tex", "figures/costs.png", "figures/beta_curve.png"]
TRIALS = "dataset imbalanced algorithm cost_seed parameter value given collapsed chosen "
TRIALS += "train_seconds cell validation"


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


@pytest.fixture
def folder(tmp_path):
    names = ("dnn_blind", "dnn_bayes", "dnn_sosr", "csdnn", "cnn_sosr")
    write_folder(tmp_path, DATA[:1], {name: ERRORS[name] for name in names})
    return tmp_path


def test_wrong_folders(folder):
    (folder / "file").write_text("precious")
    with pytest.raises(ValueError, match="--out .* is not a writable folder"):
        report(folder, folder / "file")
    assert (folder / "file").read_text() == "precious"
    (folder / "run.json").write_text("{")
    with pytest.raises(ValueError, match="run.json"):
        report(folder, folder / "out")
    assert not (folder / "out").exists()


def test_files_of_the_room_are_installed_with_the_package():
    setup = configparser.ConfigParser()
    assert setup.read(REPOSITORY / "setup.cfg")
    patterns = setup["options.package_data"]["csdl_keras.paper"].split()
    room = REPOSITORY / "csdl_keras" / "paper"
    files = {path.name for path in room.iterdir() if path.suffix not in ("", ".py")}
    assert {*patterns} == files == {"page.html", "paper_table2.csv", "report.toml"}


@pytest.mark.slow
def test_rendering_imports_nothing_that_trains():
    run_python(
        "import sys, csdl_keras.paper.report\n"
        "wrong = {'grid', 'cells', 'folder'}\n"
        "assert not {f'csdl_keras.paper.{it}' for it in wrong} & {*sys.modules}"
    )


def test_the_page_needs_no_other_file(written, text):
    page = text("report.html")
    links = re.findall(r'(?:href|src)="(.*?)"', page)
    within = {link[1:] for link in links if link.startswith("#")}
    assert within == set(re.findall(r'<section id="(.*?)"', page))
    others = [link for link in links if not link.startswith("#")]
    assert others and all(link.startswith("data:image/png;base64,") for link in others)
    assert not re.search(r"url\(|@import|https?:|<script|<iframe", page)
    cells = re.findall(r"<td>(.*?)</td>", page)
    (column, *_) = columns_of(written[0])
    for name, cell in column.cells.iterrows():
        shown = f"<b>{column.text(name)}</b>" if cell["tied"] else column.text(name)
        assert any(it.startswith(shown) for it in cells)
    cells += re.findall(r"<li>(.*?)</li>", page)
    assert max(map(len, cells)) > 100 and not any(cell.endswith("...") for cell in cells)


def test_verdicts_come_first_with_their_details_folded(text):
    page = text("report.html")
    (verdicts,) = re.findall(r'<section id="1"><h2>Verdicts</h2>.*?</section>', page, re.DOTALL)
    rows = re.findall(r"<details><summary class=\"claim\">(.*?)</summary>", verdicts)
    assert len(rows) == 12
    for row in rows:
        claim, holds, ratio, paper = re.findall(r"<span.*?>(.*?)</span>", row)
        assert claim and holds in ("yes", "no", "open", "–") and ratio and paper
    assert verdicts.rindex("</details>") < verdicts.index("How verdicts are made")
    assert text("table2.md").split("\n## ")[1].startswith("Verdicts\n")


def test_texts_of_records_are_no_markup(text):
    assert "csdl-keras table2 --out &lt;folder&gt; | tee" in text("report.html")
    assert "&#60;folder&#62; &#124; tee" in text("table2.md")
    assert "<folder>" not in text("report.html") + text("table2.md")


def test_markdown(text):
    """All rows of a table have the cells of their head, and notes follow."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", text("table2.md"), flags=re.MULTILINE)
    assert len(blocks) >= 8
    for block in blocks:
        head, rule, *rows = [re.split(r" \| ?", line[2:-2]) for line in block.splitlines()]
        assert all(re.fullmatch("---:?", cell) for cell in rule)
        assert rows and all(len(row) == len(head) == len(rule) for row in rows)
    for words in ("not the paper's data", "† Not a row of"):
        assert words in text("table2.md")
    assert "| CSOSR | – (0.26 ± 0.01) |" in text("table2.md")
    assert re.search(r"\*\*0\.\d+ ± 0\.\d+\*\* \(\*\*0\.09 ± 0\.00\*\*\)", text("table2.md"))


def test_latex(text):
    content = text("table2.tex")
    assert content.count("{") == content.count("}")
    tabular = r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}"
    found = re.findall(tabular, content, flags=re.DOTALL)
    assert len(found) == 2
    for columns, body in found:
        lines = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert len(lines) >= 12
        assert all(line.count("&") + 1 == len(columns) for line in lines)
    assert r"\textbf{0.09 ± 0.00}" in content


@pytest.mark.parametrize("name", ["costs.png", "beta_curve.png"])
def test_figures_have_ink_and_margins(written, name):
    pixels = image.imread(written[1][name])
    ink = pixels[..., :3].min(axis=2) < 0.99
    assert pixels.shape[1] >= 900 and 0.01 < ink.mean() < 0.5
    assert not ink[:2].any() and not ink[-2:].any()
    assert not ink[:, :2].any() and not ink[:, -2:].any()


def test_searches(folder):
    key = ("mnist", False, "csdnn", 1000)
    rows = [
        (*key, "learning_rate", 0.2, "optimizer_name=sgd", True, False, 1800, "b", 0.4),
        (*key, "learning_rate", 0.1, "optimizer_name=sgd", False, True, 1800, "a", 0.3),
        (*key, "learning_rate", 0.001, "optimizer_name=adam", False, False, 1800, "c", 0.3),
        (*key, "beta", 0.0, "", False, True, 1800, "a", 0.3),
        (*key, "beta", 1.0, "", False, False, 1800, "d", 0.3),
        (*key, "corruption", 0.25, "", False, False, 1800, "a", 0.3),
        (*key, "corruption", 0.4, "", False, True, 1800, "e", 0.3),
    ]
    write_csv(folder / "choices.csv", TRIALS, rows)
    # The chosen rate is the lowest one of its optimizer; values of beta are the paper's.
    assert list(searches_table(folder).iloc[0]) == ["CSDNN", "5", "2.50", "1", "1 of 1"]
    # Both rates come to the same decision, so that none of them is the better one.
    rows[0] = (*rows[0][:-1], 0.3)
    write_csv(folder / "choices.csv", TRIALS, rows)
    assert searches_table(folder).iloc[0, -1] == "1 of 1, 1 tied"


def test_collapsed_networks_are_marked(folder):
    """In the cells, in the notes and in what verdicts rest on."""
    arrays = change_arrays(folder)
    constant = np.zeros_like(arrays["labels"])
    change_arrays(folder, csdnn_1000=constant, **{"csdnn_1000_beta_0.4": constant})
    cost = arrays["matrix_1000"][arrays["labels"], constant].mean()

    def change(row):
        own = (row["algorithm"], row["cost_seed"]) == ("csdnn", "1000")
        tried = 2 * (row["algorithm"] == "dnn_blind")
        return {"average_cost": cost if own else row["average_cost"], "tried_again": tried}

    change_rows(folder, change)
    text = render_markdown(read_contents(folder))
    assert "CSDNN on MNIST (1 of 3)" in text and "1 with a collapsed network" in text
    assert "does not measure β: MNIST at [0.4]." in text
    assert "collapsed on validation: DNN blind on MNIST (3 of 3)." in text


def test_betas_that_collapse_on_validation(folder):
    """The trials know of them; the claims about beta say so."""
    key = ("mnist", False, "csdnn", 1000, "beta")
    rows = [(*key, beta, "", beta == 0, beta == 0.4, 60, f"{beta}", 1) for beta in (0.0, 0.4, 1.0)]
    write_csv(folder / "choices.csv", TRIALS, rows)
    found = [it.summary for it in read_contents(folder).claims if "some β" in it.statement]
    assert ["with a collapsed network" in it for it in found] == [True, False]


def test_missing_results_are_named(folder):
    planned = {"csdnn": 3, "dnn_bayes": 5, "seae_bayes": 2}
    settings = {"datasets": ["mnist", "cifar10_imb"], "planned": planned}
    settings["unavailable"] = {"svhn": "No pixels."}
    (folder / "run.json").write_text(json.dumps({"runs": [{"command": "", "settings": settings}]}))
    contents = read_contents(folder)
    text = render_markdown(contents)
    assert text.index("</details>") < text.index("Still to run") < text.index("How verdicts")
    lines = missing_lines(contents.columns, contents.runs)
    still = "DNN Bayes (2 of 5 results), SEAE Bayes (2 of 2 results)"
    assert lines[0] == f"Still to run on MNIST: {still}."
    still = "Still to run on CIFAR-10, imbalanced: CSDNN (3 of 3 results), DNN Bayes (5 of 5"
    assert lines[1].startswith(still)
    assert lines[2] == "Not run because the data are not available: SVHN. No pixels."
    assert len(lines) == 3
    data = data_table(contents.columns, contents.runs).set_index("data set")
    why = data["training and validation"]
    assert why["SVHN"] == "not run, data not available"
    assert (why["CIFAR-10, imbalanced"], why["CIFAR-10"]) == ("still to run", "not run")


def test_twice_the_epochs(folder):
    """A verdict that the longer training turns is named."""
    arrays = change_arrays(folder)
    names = ("dnn_bayes", "dnn_sosr")
    rows = [{**it, "epochs": 10} for it in read_rows(folder / "results.csv")]
    write_rows(folder / "results.csv", rows)
    first = [it for it in rows if it["algorithm"] in names and it["cost_seed"] == "1000"]
    write_rows(folder / "doubled.csv", [{**row, "epochs": 20} for row in first])
    change_arrays(folder, **{f"{name}_1000_doubled": arrays[f"{name}_1000"] for name in names})
    assert read_doubled(folder)[1] == {}
    # With twice the epochs SOSR is always right.
    change_arrays(folder, dnn_sosr_1000_doubled=arrays["labels"])
    better = [{**it, "average_cost": 0.0} if it["algorithm"] == "dnn_sosr" else it for it in first]
    better = [{**it, "collapsed": it["algorithm"] == "dnn_bayes"} for it in better]
    write_rows(folder / "doubled.csv", [{**row, "epochs": 20} for row in better])
    text = render_markdown(read_contents(folder))
    statement = "algorithms of the SOSR series cost less than their Bayes counterparts"
    assert f"these cells alone: {statement}: from not supported to supported." in text
    assert text.count("; on single cells not supported, with twice the epochs supported") == 1
    cost = float(first[0]["average_cost"])
    assert f"| DNN Bayes | 10 | {cost:.3f} | 20 | {cost:.3f}&#42; |" in text
