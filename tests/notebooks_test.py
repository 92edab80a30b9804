"""Every notebook runs from top to bottom, in small, and is committed with its outputs.

`pytest -m notebook` runs them; a plain run only looks at what is committed.
"""

import base64
import datetime
import functools
import json
import re

import numpy as np
import pytest

from tests.support.fresh_process import REPOSITORY

FOLDER = REPOSITORY / "notebooks"

#: What each notebook's first code cell sets, in small.
SMALL = {
    "1_quickstart": {"epochs": 2, "train_size": 600},
    "2_your_own_costs": {"epochs": 3, "splits": 1},
    "3_cost_aware_pretraining": {"epochs": 1, "train_size": 600, "seeds": 2, "betas": [0.0, 1.0]},
    "4_tuning": {"trials": 2, "epochs": 1, "pretraining_epochs": 1},
    "5_paper_tables": {},
    "6_deploying": {"epochs": 2, "train_size": 600},
    "7_lowest_cost": {"epochs": 2, "train_size": 600},
    "8_whom_to_call": {"clients": 800},
}
PATHS = sorted(FOLDER.glob("*.ipynb"))


class Node(dict):
    """A part of a notebook, with its texts in one piece; nbformat is slow to import."""

    __getattr__ = dict.__getitem__

    def __init__(self, node):
        for name in {"source", "text", "text/plain", "text/markdown"} & node.keys():
            node[name] = "".join(node[name])
        super().__init__(node)


@functools.cache
def read(name):
    return json.loads((FOLDER / f"{name}.ipynb").read_text(), object_hook=Node)


def code_cells(name):
    return [cell for cell in read(name).cells if cell.cell_type == "code"]


def texts_of(cells):
    """What cells print and show as text."""
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    data = [output.get("data", {}) for output in outputs]
    texts = [output.get("text", "") for output in outputs]
    kinds = ("text/plain", "text/markdown")
    return "\n".join([*texts, *(it.get(kind, "") for it in data for kind in kinds)])


def test_they_are_numbered():
    assert [path.stem for path in PATHS] == list(SMALL)
    assert [int(name[0]) for name in SMALL] == list(range(1, len(SMALL) + 1))


@pytest.mark.parametrize("name", SMALL)
class TestNotebook:
    def test_what_is_committed_is_a_whole_run(self, name):
        first = read(name).cells[0]
        assert first.cell_type == "markdown"
        assert re.match(r"# .+\n\n.*\byou\b.*\bminutes?\b", first.source, re.DOTALL | re.I)
        cells = code_cells(name)
        assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
        outputs = [output for cell in cells for output in cell.outputs]
        assert any("image/png" in output.get("data", {}) for output in outputs)
        # Messages of libraries on standard error would disturb readers.
        bad = [it for it in outputs if it.output_type == "error" or it.get("name") == "stderr"]
        assert not bad
        last = read(name).metadata["last_run"]
        datetime.date.fromisoformat(last["date"])
        # On two idle processors, a run takes at most this many seconds.
        assert last["seconds_of_processors"] < 300
        assert last["versions"]["keras"].startswith("3.")

    def test_figures_fit_a_column(self, name):
        outputs = [output for cell in code_cells(name) for output in cell.outputs]
        pictures = [it["data"]["image/png"] for it in outputs if "image/png" in it.get("data", {})]
        for picture in pictures:
            width = int.from_bytes(base64.b64decode("".join(picture))[16:20], "big")
            assert width <= 760  # a column of the site, at the size that the figure was drawn for

    def test_it_leads_to_the_next_one(self, name):
        place = list(SMALL).index(name) + 1
        wanted = f"]({list(SMALL)[place]}.ipynb)" if place < len(SMALL) else "docs/guides/"
        assert wanted in read(name).cells[-1].source.split("Next: ")[1]
        for text in (cell.source for cell in read(name).cells):
            pages = re.findall(r"`((?:docs|notebooks|benchmarks)/[^`]*)`", text)
            for page in [*pages, *re.findall(r"\]\(\.\./([^)#]*)", text)]:
                assert (REPOSITORY / page).exists(), page

    def test_all_lines_are_for_readers(self, name):
        source = "\n".join(cell.source for cell in code_cells(name))
        assert not re.search(r"environ|TINY|getLogger|datetime|\btime\.|filterwarnings", source)
        assert code_cells(name)[0].outputs == []
        for parameter in SMALL[name]:
            assert re.search(rf"^{parameter} = ", code_cells(name)[0].source, re.MULTILINE)

    def test_numbers_in_the_text_are_those_of_code_and_outputs(self, name):
        cells = code_cells(name)
        source = "\n".join(cell.source for cell in cells)
        known = (source + texts_of(cells)).replace(",", "").replace("_", "").replace(" %", "%")
        for cell in read(name).cells[1:]:
            if cell.cell_type == "markdown":
                text = re.sub(r"\$[^$]*\$|\]\([^)]*\)|`[^`]*`", "", cell.source).replace(" %", "%")
                for figure in re.findall(r"\d+(?:,\d{3})+|\d*\.\d+%?|\d+%", text):
                    number = figure.replace(",", "")
                    assert number.lstrip("0") in known, f"{figure} in: {cell.source}"

    @pytest.mark.notebook
    def test_runs(self, name, tmp_path, monkeypatch):
        from notebooks.execute import run  # slow to import

        # A run in the checkout would leave files there. It reads `results` next to it.
        (tmp_path / "results").symlink_to(FOLDER / "results")
        monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
        run(read(name), tmp_path, **SMALL[name])


def numbers_of(pattern, text):
    """The groups of each match as floats."""
    return [tuple(float(one.replace(",", "")) for one in it) for it in re.findall(pattern, text)]


def rows_of(pattern, number):
    """The figures of each match in a notebook's outputs by its first group, a name."""
    found = re.findall(pattern, texts(number), re.MULTILINE)
    return {name: tuple(map(float, figures)) for name, *figures in found}


class TestWhatTextsSay:
    """The committed outputs support what the texts say of them without a number."""

    def test_quickstart(self):
        rows = rows_of(r"^(most probable|Bayes|SOSR) +([\d.]+) +\d+% +([\d.]+)%", 1)
        assert rows["Bayes"][0] < rows["SOSR"][0] < rows["most probable"][0]
        assert rows["Bayes"][1] > rows["most probable"][1]

    def test_paper(self):
        cells = code_cells("5_paper_tables")
        kinds = [kind for cell in cells for it in cell.outputs for kind in it.get("data", {})]
        assert kinds.count("text/markdown") == kinds.count("image/png") == 1 and len(cells) <= 4
        verdict = re.findall(r"Bayes counterparts \| \*\*(.+?)\*\* \| (\d+) \|", texts(5))
        assert verdict == [("not supported", "0")]

    def test_own_costs(self):
        _, sosr, poisson = re.split(r"SOSR, in €:|Poisson, in €:", texts(2))
        scores = numbers_of(r"(-?[\d,]+) +(-?[\d,]+)\n", sosr)
        prices = numbers_of(r"(-?[\d,]+) +(-?[\d,]+)\n", poisson)[:4]
        assert min(map(min, scores)) < 0 <= min(map(min, prices))
        assert max(map(max, scores)) > 7000
        costs = rows_of(r"^(\w.*?) +€ +([\d.]+) a patient, by split", 2)
        most_probable = costs.pop("classifier, most probable class")
        always = costs.pop("always a biopsy")
        assert all(cost < most_probable < always for cost in costs.values())

    def test_lowest_cost(self):
        found = rows_of(r"(\w.*?) +saves (\S+) \((\S+) to", 7)
        assert found["calibration, one network"][1] > 0
        assert found["calibration, one network"][0] > found["calibration, ensemble"][0]
        asked = numbers_of(r"plain digits +([\d.]+) +([\d.]+)% +([\d.]+) +([\d.]+)", texts(7))
        saved = [1 - cost / never for _, _, cost, never in asked]
        assert [price for price, *_ in asked][2:5] == [0.5, 1.0, 2.0]
        assert saved[2] > 0.4 and 0 < saved[4] < 0.05 and asked[5][1] == 0

    def test_tuning(self):
        rows = rows_of(r"^(\S.*?(?:tuned|default)) +([\d.]+) +([\d.]+)", 4)
        assert len(rows) == 4
        for name in ("CSDNN, tuned", "DNN Bayes, tuned"):
            assert 2.5 < rows[name][1] / rows[name][0] < 3.6  # about three times
        assert rows["DNN Bayes, tuned"][1] < rows["CSDNN, tuned"][1]
        assert 3 * rows["CSDNN, tuned"][1] < rows["CSDNN, default"][1]
        assert 4 * rows["Calibrated Bayes, default"][1] < rows["DNN Bayes, tuned"][1]
        for page in ("docs/research/stages.md", "docs/guides/tuning.md"):
            said = f"`calibrated_bayes` costs {rows['Calibrated Bayes, default'][1]:.3f},"
            assert said in " ".join((REPOSITORY / page).read_text().split())

    def test_pretraining(self):
        rows = {
            name: np.array(costs.split(), float)
            for name, costs in re.findall(
                r"^(no pre-training|β = [\d.]+): \[(.*?)\]", texts(3), re.MULTILINE
            )
        }
        # The order changes from seed to seed.
        assert len({tuple(order) for order in np.argsort(list(rows.values()), axis=0).T}) > 1
        assert np.any(rows["no pre-training"] < rows["β = 0.0"])

    def test_whom_to_call(self):
        saved, low, high = numbers_of(
            r"([\d.]+) € more per client than .*95 % interval ([\d.]+) to ([\d.]+) €", texts(8)
        )[0]
        assert 0 < low < saved < high


def texts(number):
    return texts_of(code_cells(list(SMALL)[number - 1]))
