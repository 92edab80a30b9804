"""The check that twice the epochs change nothing, on one cell of each algorithm."""

import collections
import dataclasses
import pathlib
from collections.abc import Mapping

from csdl_keras.experiments.csv_files import read_csv
from csdl_keras.experiments.data_source import DataSource, results_path
from csdl_keras.experiments.reporting.claim import Claim
from csdl_keras.experiments.reporting.claims import claims
from csdl_keras.experiments.reporting.column import Column
from csdl_keras.experiments.reporting.reading import ResultRow, read_decision_costs
from csdl_keras.experiments.reporting.table import Table


@dataclasses.dataclass(frozen=True)
class EpochsRow(ResultRow):
    """A row of `results.csv` or `doubled.csv` with its epochs."""

    epochs: int = 0


@dataclasses.dataclass(frozen=True)
class Doubled:
    """One cell of each algorithm, and the same cell with twice the epochs and patience.

    Args:
        cells: pairs of rows: as in the table, and with twice the epochs.
        claims: number of claims that such single cells can be asked about.
        changed: the statements of claims whose verdict on these cells changes, with the verdict
            before and after.
        pairs: number of comparisons of two algorithms behind those claims.
        changed_pairs: the comparisons that end otherwise, in words.
    """

    cells: list[tuple[EpochsRow, EpochsRow]]
    claims: int
    changed: dict[str, tuple[str, str]]
    pairs: int
    changed_pairs: list[str]


def read_doubled(folder: pathlib.Path) -> Doubled | None:
    """Reads `doubled.csv` of a results folder; `None` if there is no such file.

    Args:
        folder: results folder.

    Raises:
        ValueError: if files do not fit together.
    """
    path = folder / "doubled.csv"
    if not path.exists():
        return None
    plain = {_place(row): row for row in read_csv(folder / "results.csv", EpochsRow)}
    twice = {_place(row): row for row in read_csv(path, EpochsRow) if _place(row) in plain}
    both = [
        claims(_table(folder, rows, ending), [])
        for rows, ending in (({place: plain[place] for place in twice}, ""), (twice, "_doubled"))
    ]
    verdicts = [{claim.statement: claim.verdict for claim in found} for found in both]
    asked = [statement for statement, it in verdicts[0].items() if it != "no figures"]
    before, after = map(_outcomes, both)
    shared = [pair for pair in before if pair in after]
    return Doubled(
        [(plain[place], row) for place, row in twice.items()],
        len(asked),
        {
            statement: (verdicts[0][statement], verdicts[1][statement])
            for statement in asked
            if verdicts[0][statement] != verdicts[1][statement]
        },
        len(shared),
        [
            f"{first} and {second} on {data} (from {before[pair]} to {after[pair]})"
            for pair in shared
            for data, first, second in [pair]
            if before[pair] != after[pair]
        ],
    )


def _outcomes(found: list[Claim]) -> dict[tuple[str, str, str], str]:
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


def _place(row: EpochsRow) -> tuple[object, ...]:
    return row.dataset, row.imbalanced, row.algorithm, row.cost_seed, row.seed


def _table(
    folder: pathlib.Path, rows: Mapping[tuple[object, ...], EpochsRow], ending: str
) -> Table:
    groups = collections.defaultdict(list)
    for row in rows.values():
        groups[DataSource(row.dataset, row.imbalanced).label].append(row)
    return Table(
        [
            Column(own, read_decision_costs(results_path(folder, label), own, ending))
            for label, own in groups.items()
        ]
    )
