"""Compares the figures of two runs, within their spreads.

python benchmarks/speed/agreement.py FIRST/speed.csv SECOND/speed.csv
"""

import argparse
import csv
import pathlib
from collections.abc import Sequence

FIELDS = ("rows", "median in the other's spread", "spreads meet", "medians differ by at most")
_KEY = ("entry", "backend", "case", "measure")


def pairs(first: Sequence[dict], second: Sequence[dict]) -> list[tuple[dict, dict]]:
    """Returns the rows of two runs that measure the same."""
    others = {tuple(row[name] for name in _KEY): row for row in second}
    keys = ((row, tuple(row[name] for name in _KEY)) for row in first)
    return [(row, others[key]) for row, key in keys if key in others]


def within(one: dict, other: dict) -> bool:
    """Tells whether a median lies in the spread of the other run."""
    return _holds(one, other["value"]) or _holds(other, one["value"])


def _holds(row: dict, value: str) -> bool:
    return float(row["low"]) <= float(value) <= float(row["high"])


def meet(one: dict, other: dict) -> bool:
    """Tells whether two spreads overlap."""
    low = max(float(one["low"]), float(other["low"]))
    return low <= min(float(one["high"]), float(other["high"]))


def difference(one: dict, other: dict) -> float:
    """Returns the relative difference of the second median from the first; 0 if both are 0."""
    first, second = float(one["value"]), float(other["value"])
    return abs(second - first) / abs(first) if first else float(bool(second))


def summary(first: Sequence[dict], second: Sequence[dict]) -> list[list[str]]:
    """Returns name and `FIELDS` of each entry, then of all."""
    found = pairs(first, second)
    entries = dict.fromkeys(one["entry"] for one, _ in found)
    groups = {name: [pair for pair in found if pair[0]["entry"] == name] for name in entries}
    return [
        [
            name,
            str(len(group)),
            str(sum(within(*pair) for pair in group)),
            str(sum(meet(*pair) for pair in group)),
            f"{max(difference(*pair) for pair in group):.1%}",
        ]
        for name, group in [*groups.items(), ("all", found)]
    ]


def read(path: pathlib.Path) -> list[dict[str, str]]:
    """Reads the rows of a run."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    """Prints the summary and the figures that do not agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=pathlib.Path)
    parser.add_argument("second", type=pathlib.Path)
    arguments = parser.parse_args()
    first, second = read(arguments.first), read(arguments.second)
    for cells in [["entry", *FIELDS], *summary(first, second)]:
        print(" | ".join(cells))
    for one, other in pairs(first, second):
        if not within(one, other):
            spreads = (f"{it['value']} ({it['low']}-{it['high']})" for it in (one, other))
            print(": ".join([*(one[name] for name in _KEY), " and ".join(spreads)]))


if __name__ == "__main__":
    main()
