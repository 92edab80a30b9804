"""What was tried for the figures: values on validation examples, and twice the epochs."""

import math
import pathlib
from collections.abc import Sequence

import numpy as np
import pandas

from csdl_keras.paper.claims import Claim, claims
from csdl_keras.paper.results import PLACE, read_choices, read_results, words
from csdl_keras.paper.table2 import read_columns
from csdl_keras.paper.titles import variant_title
from csdl_keras.training.algorithms import get_algorithm


def read_searches(folder: pathlib.Path) -> pandas.DataFrame:
    """Returns what was tried for each algorithm, over all data sets, see `_search`."""
    return pandas.DataFrame(
        {
            name: _search(rows.reset_index(drop=True))
            for name, rows in read_choices(folder).groupby("algorithm", sort=False)
        }
    ).T


def _search(rows: pandas.DataFrame) -> dict[str, float]:
    """Counts trainings, each once, choices whose search widens, and those that lie at an edge.

    `ties` are those that do as well as a neighbour, `highest` the chosen corruptions that are the
    highest one; what is not on file is NaN.
    """
    # The value that one choice ended with is tried again with the first values of the next.
    trials = rows[~rows["cell"].duplicated(keep="last") | rows["cell"].eq("")]
    found = dict.fromkeys(("choices", "edges", "ties", "corruptions", "highest"), 0)
    for (*_, parameter, _), group in rows.groupby(["dataset", "imbalanced", "parameter", "given"]):
        order = group["value"].astype(float).argsort(kind="stable")
        ordered = group.iloc[order].reset_index(drop=True)
        last = len(ordered) - 1
        for place in np.flatnonzero(ordered["chosen"]):
            near = ordered["validation"][[it for it in (place - 1, place + 1) if 0 <= it <= last]]
            if parameter == "corruption":
                found["corruptions"] += 1
                found["highest"] += place == last
            elif parameter != "beta":  # whose values are the paper's, and never widened
                found["choices"] += 1
                found["edges"] += place in (0, last)
                found["ties"] += near.eq(ordered["validation"][place]).any()
    return {
        "trials": len(trials),
        "seconds": trials["train_seconds"].sum(skipna=False),
        "collapsed": trials["collapsed"].sum() if rows["cell"].ne("").all() else math.nan,
        **found,
    }


SEARCH_HEADS = ["algorithm", "trials", "hours", "collapsed", "choices on the edge of their search"]


def searched(searches: pandas.DataFrame) -> str:
    """Explains the table of searches, with how many corruptions are the highest one tried."""
    every, highest = (int(searches[name].sum()) for name in ("corruptions", "highest"))
    ends = f" Chosen corruptions that are the highest of those, 0.4: {highest} of {every}."
    return words()["searched"] + ends * bool(every)


def search_lines(searches: pandas.DataFrame) -> list[list[str]]:
    """What was tried for each algorithm, below `SEARCH_HEADS`."""
    return [
        [
            get_algorithm(str(name)).title,
            f"{row['trials']:.0f}",
            f"{row['seconds'] / 3600:.2f}" if math.isfinite(row["seconds"]) else "–",
            f"{row['collapsed']:.0f}" if math.isfinite(row["collapsed"]) else "–",
            f"{row['edges']:.0f} of {row['choices']:.0f}"
            + f", {row['ties']:.0f} tied" * bool(row["ties"])
            if row["choices"]
            else "–",
        ]
        for name, row in searches.iterrows()
    ]


class Doubled:
    """The check that twice the epochs and patience change nothing, on one cell of each algorithm.

    Args:
        folder: a folder with `doubled.csv`.

    Attributes:
        cells: pairs of rows: as in the table, and with twice the epochs.
        changed: the statements of claims whose verdict on these cells changes, with the verdict
            before and after.
    """

    def __init__(self, folder: pathlib.Path):
        plain, twice = (
            read_results(folder, name).set_index(PLACE, drop=False)
            for name in ("results.csv", "doubled.csv")
        )
        twice = twice[twice.index.isin(plain.index)]
        plain = plain.loc[twice.index].reset_index(drop=True)
        twice = twice.reset_index(drop=True)
        self.cells = list(zip(plain.to_dict("records"), twice.to_dict("records"), strict=True))
        both = [
            claims(read_columns(folder, rows, ending), [])
            for rows, ending in ((plain, ""), (twice, "_doubled"))
        ]
        before, after = ({claim.statement: claim.verdict for claim in found} for found in both)
        self._asked = [statement for statement, it in before.items() if it != "no figures"]
        self.changed = {
            it: (before[it], after[it]) for it in self._asked if before[it] != after[it]
        }
        self._ends = [_ends(found) for found in both]

    @property
    def verdict(self) -> str:
        """Says which verdicts twice the epochs change on these cells alone."""
        asked = f"{len(self._asked)} claim{'s' if len(self._asked) != 1 else ''}"
        verdict = f"On these cells alone no verdict changes, of {asked} that they bear on."
        if self.changed:
            changes = [f"{it}: from {old} to {new}" for it, (old, new) in self.changed.items()]
            verdict = (
                f"On these cells alone, of {asked} that they bear on, the verdict changes on: "
                f"{'; '.join(changes)}. Cells are of one training each, with intervals over test "
                "examples alone."
            )
        before, after = self._ends
        shared = [pair for pair in before if pair in after]
        changed = [
            f"{first} and {second} on {data} (from {before[pair]} to {after[pair]})"
            for pair in shared
            for data, first, second in [pair]
            if before[pair] != after[pair]
        ]
        if changed:
            verdict += f" Comparisons that end otherwise, of {len(shared)}: {', '.join(changed)}."
        star = any(row["collapsed"] for pair in self.cells for row in pair)
        return (
            "The limit of epochs and the patience are doubled; a training that stops improving "
            f"still ends before the limit. {verdict}{' * Collapsed on validation.' * star}"
        )

    def lines(self) -> list[list[str]]:
        """Each cell and the same one with twice the epochs, below `DOUBLED_HEADS`."""
        return [
            [
                variant_title(pair[0]["dataset"], pair[0]["imbalanced"]),
                get_algorithm(pair[0]["algorithm"]).title,
                *(
                    words
                    for row in pair
                    for words in (
                        str(row["epochs"]),
                        f"{row['average_cost']:.3f}{'*' * row['collapsed']}",
                    )
                ),
            ]
            for pair in self.cells
        ]


DOUBLED_HEADS = ["data set", "algorithm", "epochs", "cost", "epochs, doubled limit", "cost"]


def _ends(found: Sequence[Claim]) -> dict[tuple[str, str, str], str]:
    """Returns how each comparison ends, by data set, first and second algorithm."""
    return {
        (pair.data, pair.first, pair.second): "cheaper"
        if pair.difference.cheaper
        else "costlier"
        if pair.difference.costlier
        else "open"
        for claim in found
        for pair in claim.comparisons
    }
