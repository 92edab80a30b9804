"""Figures of the committed files, and the words of documents."""

import collections
import csv
import functools
import json
import re
from typing import NamedTuple

import numpy as np

from tests.guides_test import ROOT, benchmark

FOLDERS = ROOT / "notebooks" / "results"


class Figure(NamedTuple):
    """A ratio with its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, costs, others):
        return cls(*benchmark("formats").MeanRatio.of(costs, others))

    @property
    def less(self):
        return self.high < 1

    @property
    def more(self):
        return self.low > 1

    @property
    def open(self):
        return self.low <= 1 <= self.high

    def __format__(self, decimals):
        return f"{self.value:.{decimals or 2}f}"


def read(name, folder=None):
    return benchmark("committed").read(name, folder)


@functools.cache
def costs(name, *columns, folder=None):
    """The average costs in a file, by the values of columns."""
    found = collections.defaultdict(list)
    for row in read(name, folder):
        found[tuple(row[column] for column in columns)].append(float(row["average_cost"]))
    return {key: np.array(values) for key, values in found.items()}


@functools.cache
def words_of(document):
    """The text of a guide, or of a notebook's cells of text, in small letters."""
    path = ROOT / "docs" / "guides" / f"{document}.md"
    if path.exists():
        text = path.read_text()
    else:
        cells = json.loads((ROOT / "notebooks" / f"{document}.ipynb").read_text())["cells"]
        text = "\n".join("".join(it["source"]) for it in cells if it["cell_type"] == "markdown")
    return " ".join(text.lower().split())


def says(document, words):
    """Fails unless a document has the words; how lines are broken does not matter."""
    assert " ".join(words.lower().split()) in words_of(document)


def over_splits(name, dataset, method, other):
    """The ratio of two methods' mean costs on the splits of a data set."""
    found = costs(name, "dataset", "split", "method")
    splits = sorted({key[1] for key in found if key[0] == dataset})
    return Figure.of(
        *([found[dataset, it, each].mean() for it in splits] for each in (method, other))
    )


def chart(condition, compared):
    """A comparison of the map, as its table of all comparisons has it, in all pairs."""
    text = (ROOT / "benchmarks" / "results" / "worth" / "chart.md").read_text()
    line = re.search(rf"^\| {re.escape(condition)} \|.*\| {compared} \|(.+?)\|", text, re.MULTILINE)
    return Figure(*map(float, re.findall(r"[\d.]+", line.group(1))))


def rows_of(folder, file):
    """Rows of a folder of the paper's tables, with the variant in the name of the data set."""
    with (FOLDERS / folder / file).open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    return [row | {"data": row["dataset"] + "_imb" * (row["imbalanced"] == "True")} for row in rows]


@functools.cache
def results(folder):
    """Mean costs and errors by data set and algorithm."""
    found = collections.defaultdict(list)
    for row in rows_of(folder, "results.csv"):
        pair = float(row["average_cost"]), float(row["error_rate"])
        found[row["data"], row["algorithm"]].append(pair)
    return {key: np.mean(pairs, axis=0) for key, pairs in found.items()}


def ratios(folder, algorithm, other, skip=()):
    """The ratio of two algorithms' mean costs on each data set that has both."""
    found = results(folder)
    return {
        data: found[data, algorithm][0] / found[data, other][0]
        for data, name in found
        if name == algorithm and (data, other) in found and data not in skip
    }


def best_constant(folder, data):
    """The mean over matrices of the best single decision's cost."""
    arrays = np.load(FOLDERS / folder / "test_decisions" / f"{data}.npz")
    matrices = [arrays[name] for name in arrays if name.startswith("matrix_")]
    return np.mean([matrix[arrays["labels"]].mean(axis=0).min() for matrix in matrices])


def speed(backend, case, measure):
    (row,) = (
        it
        for it in read("speed", "speed")
        if (it["backend"], it["case"], it["measure"]) == (backend, case, measure)
    )
    return Figure(*(float(row[name]) for name in ("value", "low", "high")))


def tuned():
    """Test costs with their intervals, as the notebook on tuning printed them."""
    cells = json.loads((ROOT / "notebooks" / "4_tuning.ipynb").read_text())["cells"]
    text = "".join("".join(it.get("text", "")) for cell in cells for it in cell.get("outputs", ()))
    pattern = r"^(\w[\w ]+, \w+) +[\d.]+ +([\d.]+) +([\d.]+) to ([\d.]+)$"
    return {
        name: Figure(*map(float, them)) for name, *them in re.findall(pattern, text, re.MULTILINE)
    }
