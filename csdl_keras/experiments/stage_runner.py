"""Runs the stages of cells, each one once, in one process or many."""

import functools
import gc
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import keras

from csdl_keras.experiments.cell import STAGES, Cell
from csdl_keras.fitting.environment import adopt, environment
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.training.workers import run_tasks

OnFinished = Callable[[Cell, str, float], None]


def run_stages(
    cells: Iterable[Cell], folder: pathlib.Path, on_finished: OnFinished
) -> dict[Cell, Exception]:
    """Runs what is missing of the stages of cells: pre-training, then training, then decisions.

    Stages that cells share are sent out once. Where they run is joblib's
    business: whatever `joblib.parallel_config` says, see `csdl_keras.training.workers`.

    Args:
        cells: the cells.
        folder: the folder of the stage cache.
        on_finished: called with cell, name of the stage and seconds.

    Returns:
        The cells of which a stage failed, with its error; later stages of these
        are not run, the others are.
    """
    cache, cells = StageCache(folder), list(cells)
    failed: dict[Cell, Exception] = {}
    for stage in STAGES:
        pending: dict[str, list[Cell]] = {}
        for cell in cells:
            if cell in failed:
                continue
            try:
                description = cell.stages(folder).get(stage)
            except Exception as error:  # such as data that cannot be read
                failed[cell] = error
                continue
            if description is not None and description not in cache:
                pending.setdefault(cache.key(description), []).append(cell)
        if not pending:
            continue
        # The longest first, so that none of them is left to run alone at the end.
        order = sorted(pending, key=lambda key: not pending[key][0].row.body_kind.takes_images)
        here = environment()
        tasks = {key: (_run, pending[key][0], stage, folder, here) for key in order}
        for key, failure, seconds in run_tasks(tasks):
            if failure is None:
                on_finished(pending[key][0], stage, seconds)
            else:
                failed |= dict.fromkeys(pending[key], failure)
    return failed


def _run(cell: Cell, stage: str, folder: pathlib.Path, there: dict[str, Any]) -> None:
    """Runs a stage as a process with the environment `there` would."""
    adopt(there)
    cell.run(stage, folder)
    # Keras holds on to every model of a process until it is told to let go.
    keras.utils.clear_session()
    _spare_modules()


@functools.cache
def _spare_modules() -> None:
    """Takes what imported modules hold out of garbage collections, once for a process.

    There are some hundred thousand objects, and Keras collects whenever it lets go.
    """
    gc.freeze()
