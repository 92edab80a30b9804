"""The tables of a folder of results, as data frames, and the records of its runs."""

import functools
import importlib.resources
import math
import pathlib
import tomllib
from collections.abc import Mapping
from typing import Any

import pandas

from csdl_keras._utils.files import read_json
from csdl_keras.training.algorithms import get_algorithm

#: Columns of `results.csv` that the report needs, and those that may be missing.
_NEEDED = {"dataset": str, "imbalanced": bool, "algorithm": str, "cost_seed": int}
_NEEDED |= {"average_cost": float, "validation_cost": float, "train_size": int}
_OPTIONAL = {"seed": 0, "collapsed": False, "tried_again": 0, "hidden_units": "", "beta": math.nan}
_OPTIONAL |= {"epochs": 0, "constant_decision": "", "constant_cost": math.nan, "saved": math.nan}
_OPTIONAL |= {"saved_low": math.nan, "saved_high": math.nan, "against_best": ""}
_CHOICE = {"dataset": str, "imbalanced": bool, "algorithm": str, "parameter": str, "value": str}
_CHOICE |= {"chosen": bool}
_OPTIONAL_CHOICE = {"given": "", "collapsed": False, "cell": ""}
_OPTIONAL_CHOICE |= {"validation": math.nan, "train_seconds": math.nan}
#: What tells two results apart.
PLACE = ["dataset", "imbalanced", "algorithm", "cost_seed", "seed"]


def read_frame(
    path: pathlib.Path, needed: Mapping[str, type], optional: Mapping[str, object] | None = None
) -> pandas.DataFrame:
    """Reads a CSV file as a data frame.

    Args:
        path: the file.
        needed: types of columns by their names.
        optional: what stands in columns that may be missing, and in empty cells.
    """
    if not path.is_file():
        raise ValueError(f"Expected the file {path}; received a folder without it.")
    optional = optional or {}
    texts = {name: str for name, value in optional.items() if isinstance(value, str)}
    try:
        frame = pandas.read_csv(path, dtype={**needed, **texts}, index_col=False)
    except (ValueError, pandas.errors.ParserError) as error:
        raise ValueError(f"Expected {path} to be a table of results; {error}.") from error
    missing = [name for name in needed if name not in frame]
    if missing:
        raise ValueError(f"Expected {path} to have the columns {', '.join(missing)}.")
    for name, value in optional.items():
        if name not in frame:
            frame[name] = value
        elif not isinstance(value, float):
            frame[name] = frame[name].fillna(value).astype(type(value))
    return frame


def read_results(folder: pathlib.Path, name: str = "results.csv") -> pandas.DataFrame:
    """Reads the results of a folder, algorithms by their main names.

    Raises:
        ValueError: if the file is missing, damaged or empty, or has two rows for one result.
    """
    path = folder / name
    frame = read_frame(path, _NEEDED, _OPTIONAL)
    if frame.empty:
        raise ValueError(f"Expected results in {path}; received none below the header.")
    wrong = frame[~(frame["average_cost"] >= 0)]  # This form finds NaN as well.
    if len(wrong):
        raise ValueError(
            f"Expected `average_cost` in {path} to be numbers of at least 0; received "
            f"{wrong['average_cost'].iloc[0]} in row {wrong.index[0] + 1}."
        )
    try:
        frame["algorithm"] = [get_algorithm(it).name for it in frame["algorithm"]]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    double = frame[frame.duplicated(PLACE)]
    if len(double):
        raise ValueError(
            f"Expected one row for each result in {path}; received two of "
            f"{double[PLACE].iloc[0].to_dict()}."
        )
    return frame


def read_choices(folder: pathlib.Path) -> pandas.DataFrame:
    """Reads `choices.csv` of a folder; no rows if there is no such file."""
    path = folder / "choices.csv"
    if not path.exists():
        return pandas.DataFrame({name: [] for name in (*_CHOICE, *_OPTIONAL_CHOICE)})
    return read_frame(path, _CHOICE, _OPTIONAL_CHOICE)


def read_runs(folder: pathlib.Path) -> list[dict[str, Any]]:
    """Reads `run.json`: `{"runs": [records]}`, or the one record of `csdl-keras compare`.

    Returns:
        Records with `command`, `date`, `versions`, `code` and `machine`, as far as they
        are known; an empty list if there is no such file.
    """
    path = folder / "run.json"
    content = read_json(path) if path.exists() else {"runs": []}
    records = content.get("runs", [content])
    if not isinstance(records, list) or not all(isinstance(it, dict) for it in records):
        raise ValueError(f'Expected {path} to be {{"runs": [records]}}; received other JSON.')
    return records


@functools.cache
def words() -> dict[str, Any]:
    """Returns the prose of the report, and the paper's claims."""
    return tomllib.loads(
        importlib.resources.files(__package__).joinpath("report.toml").read_text("utf-8")
    )
