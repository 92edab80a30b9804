"""Compares the report of committed results by its rule with that by the joint bootstrap."""

import functools
from collections.abc import Iterator
from unittest import mock

import coverage_rivals as rivals
import numpy as np
from committed import NOTEBOOKS as FOLDER
from coverage_cases import generator

from csdl_keras.experiments.reporting.comparison import Difference, PairedDifferences
from csdl_keras.experiments.reporting.render import Contents, read_contents

#: Number of bootstraps whose replicates are joined.
ROUNDS = 4


@functools.cache
def counts_of(size: int, part: int) -> np.ndarray:
    """Draws how often each example occurs in each replicate, `(N, replicates)`."""
    shares = np.full(size, 1 / size)
    return generator("results", size, part).multinomial(size, shares, rivals.REPLICATES).T


def by_bootstrap(pairs: PairedDifferences, name: str, other: str) -> Difference | None:
    """Returns the difference with the interval of the joint bootstrap."""
    own, others = pairs.costs.get(name, {}), pairs.costs.get(other, {})
    common = sorted(own.keys() & others.keys())
    if not common:
        return None
    differences = np.array([own[matrix] - others[matrix] for matrix in common])
    low = high = 0.0
    if differences.any():
        means = [
            rivals.joint_means(differences, counts_of(differences.shape[1], part), rng)
            for part in range(ROUNDS)
            for rng in [generator("matrices", part)]
        ]
        low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    base = np.mean([others[matrix].mean() for matrix in common])
    ratio = float(np.mean([own[matrix].mean() for matrix in common]) / base) if base else np.nan
    return Difference(float(differences.mean()), float(low), float(high), ratio, len(common))


def findings(contents: Contents) -> dict[str, list]:
    """Returns the findings on each comparison, claim and cell."""
    return {
        "comparisons": [
            (each.difference.cheaper, each.difference.costlier)
            for claim in contents.claims
            for each in claim.comparisons
        ],
        "verdicts": [claim.verdict for claim in contents.claims],
        "bold cells": [
            cell.bold for column in contents.table.columns for cell in column.cells.values()
        ],
    }


def results_rows(name: str, _: int, runs: int) -> Iterator[dict]:
    """Counts the findings, those that differ between the rules, and bold cells."""
    ours = findings(read_contents(FOLDER / name))
    with mock.patch.object(PairedDifferences, "compare", by_bootstrap):
        theirs = findings(read_contents(FOLDER / name))
    for what, own in ours.items():
        changed = sum(a != b for a, b in zip(own, theirs[what], strict=True))
        yield {"method": "both", "measure": what, "value": len(own), "runs": 1}
        yield {"method": "both", "measure": f"{what} seen otherwise", "value": changed, "runs": 1}
    for method, found in (("csdl_keras", ours), ("joint bootstrap", theirs)):
        bold, decided = sum(found["bold cells"]), sum(map(any, found["comparisons"]))
        yield {"method": method, "measure": "bold", "value": bold, "runs": 1}
        yield {"method": method, "measure": "decided", "value": decided, "runs": 1}
