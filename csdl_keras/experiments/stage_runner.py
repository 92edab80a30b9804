"""Runs the stages of cells, each one once, in one process or many."""

import functools
import gc
import pathlib
import time
from collections.abc import Callable, Iterable
from typing import Any

import keras

from csdl_keras._environment import adopt, environment
from csdl_keras._optional import optional_module
from csdl_keras.experiments.cell import STAGES, Cell
from csdl_keras.stage_cache import StageCache

OnFinished = Callable[[Cell, str, float], None]


def run_stages(cells: Iterable[Cell], folder: pathlib.Path, on_finished: OnFinished) -> None:
    """Runs what is missing of the stages of cells: pre-training, then training, then decisions.

    Stages that cells share are sent out once. Where they run is joblib's
    business: whatever `joblib.parallel_config` says, see `csdl_keras._workers`.

    Args:
        cells: the cells.
        folder: the folder of the stage cache.
        on_finished: called with cell, name of the stage and seconds.
    """
    joblib = optional_module("joblib", "compare")
    cache, cells = StageCache(folder), list(cells)
    for stage in STAGES:
        pending: dict[str, Cell] = {}
        for cell in cells:
            description = cell.stages(folder).get(stage)
            if description is not None and description not in cache:
                pending.setdefault(cache.key(description), cell)
        if not pending:
            continue
        # The longest first, so that none of them is left to run alone at the end.
        order = sorted(pending.values(), key=lambda cell: cell.row.body != "cnn")
        here = environment()
        tasks = (joblib.delayed(_run)(cell, stage, folder, here) for cell in order)
        for cell, seconds in joblib.Parallel(return_as="generator_unordered")(tasks):
            on_finished(cell, stage, seconds)


def _run(cell: Cell, stage: str, folder: pathlib.Path, there: dict[str, Any]) -> tuple[Cell, float]:
    """Runs a stage as a process with the environment `there` would."""
    start = time.perf_counter()
    adopt(there)
    cell.run(stage, folder)
    # Keras holds on to every model of a process until it is told to let go.
    keras.utils.clear_session()
    _spare_modules()
    return cell, time.perf_counter() - start


@functools.cache
def _spare_modules() -> None:
    """Takes what imported modules hold out of garbage collections, once for a process.

    There are some hundred thousand objects, and Keras collects whenever it lets go.
    """
    gc.freeze()
