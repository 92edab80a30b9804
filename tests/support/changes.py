"""Changes of what results depend on, and keys of stages that must tell them apart."""

import dataclasses
import pathlib
from typing import Any

import numpy as np

import csdl_keras as csdl
from csdl_keras.experiments.cell import Cell
from csdl_keras.experiments.cell_runner import CellRunner
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.pretraining.data import PretrainingData
from csdl_keras.pretraining.layer_cache import LayerCache
from tests.support.trainers import MATRICES, SETTINGS, make_trainer

CELL = Cell(DataSource("digits", train_size=100), csdl.ALGORITHMS["csdnn"], 1000, SETTINGS)


def cell_stages(folder: pathlib.Path, cell: Cell = CELL) -> dict[str, dict[str, Any]]:
    """The stages of a cell, for a cache in a folder."""
    return cell.stages(CellRunner(csdl.StageCache(folder)).trainer(cell.source, cell.seed))


def stage_keys(trainer: csdl.Trainer, row: Any = "csdnn", matrix: Any = MATRICES[0]) -> list[str]:
    """The keys of all stages of a row."""
    recipes = trainer._members(row, None, matrix)
    found = [it for one in recipes for it in (one.describe_pretraining(), one.describe_training())]
    return [csdl.StageCache.key(stage) for stage in found if stage is not None]


def all_keys(folder: pathlib.Path) -> dict[str, list[str]]:
    """The keys of each place that keeps stages, of the process as it is now."""
    model = csdl.models.mlp((64,), 10, (4,), seed=0)
    inputs = np.zeros((10, 64), "float32")
    data = PretrainingData(model, inputs, None, False, None, 5, None)
    layer = LayerCache(csdl.StageCache(), data, None, {}).common
    cell = cell_stages(folder).values()
    return {
        "Trainer, own memory": stage_keys(make_trainer()),
        "Trainer, shared memory": stage_keys(make_trainer(cache=csdl.StageCache())),
        "Trainer, folder": stage_keys(make_trainer(cache=csdl.StageCache(folder))),
        "pretrain": [csdl.StageCache.key(layer)],
        "cells of a grid": [csdl.StageCache.key(stage) for stage in cell],
    }


def assert_all_differ(one: dict[str, list[str]], other: dict[str, list[str]]) -> None:
    """Checks that no stage of the one would be found by the other."""
    for place, keys in one.items():
        assert keys and not set(keys) & set(other[place]), place


def other_value(value: Any) -> Any:
    """Another value of the same type, which is allowed where that one is."""
    others = {"adam": "sgd", "sgd": "adam", "quick": "full", "costs": "errors", None: 3}
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value / 2
    if isinstance(value, tuple):
        return (*value, 7)
    if value in others:
        return others[value]
    raise AssertionError(f"another value than {value!r} is needed here")


def setting_names(settings: csdl.Settings) -> dict[str, Any]:
    """All choices by the names that `replace` takes."""
    found = {}
    for field in dataclasses.fields(settings):
        part = getattr(settings, field.name)
        if dataclasses.is_dataclass(part):
            found |= {
                f"{field.name}.{it.name}": getattr(part, it.name) for it in dataclasses.fields(part)
            }
        else:
            found[field.name] = part
    return found


def setting_changes(settings: csdl.Settings) -> dict[str, csdl.Settings]:
    """By name of a choice, settings with another value of it."""
    others = {name: other_value(value) for name, value in setting_names(settings).items()}
    others |= {name: "balanced" for name in others if name.endswith(".effort")}
    others["auto.filters"] = (8, 16)
    return {name: settings.replace({name: value}) for name, value in others.items()}
