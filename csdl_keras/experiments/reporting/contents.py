"""The contents of a results folder, as read from its files."""

import dataclasses
import pathlib
from typing import Any

from csdl_keras.experiments.reporting.beta_curve import BetaCurve, read_beta_curves
from csdl_keras.experiments.reporting.claim import Claim
from csdl_keras.experiments.reporting.claims import claims
from csdl_keras.experiments.reporting.rows import read_run_records
from csdl_keras.experiments.reporting.table import Table, read_table


@dataclasses.dataclass(frozen=True)
class Contents:
    """The contents of a results folder.

    Args:
        table: Table 2 with our figures.
        curves: costs by beta.
        claims: the paper's claims, compared with our figures.
        runs: the records of its runs, see `read_run_records`.
    """

    table: Table
    curves: list[BetaCurve]
    claims: list[Claim]
    runs: list[dict[str, Any]]


def read_contents(folder: pathlib.Path) -> Contents:
    """Reads a results folder.

    Args:
        folder: results folder, with `results.csv` at least.

    Returns:
        Its `Contents`.

    Raises:
        ValueError: if files are missing or do not fit together.
    """
    if not folder.is_dir():
        raise ValueError(f"Expected a folder of results; received {folder}, which is not a folder.")
    table, curves = read_table(folder), read_beta_curves(folder)
    return Contents(table, curves, claims(table, curves), read_run_records(folder))
