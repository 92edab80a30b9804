"""What goes into `fit` or comes after it: right arguments, and what documentation says."""

import os
import pathlib

import keras
import numpy as np

import csdl_keras as csdl
from tests.robustness.documented import is_indices, is_integer, is_number
from tests.robustness.no_training import is_inputs, is_verbose
from tests.robustness.outcome import Case
from tests.robustness.training_cases import (
    SETTINGS,
    examples,
    inputs,
    is_seed,
    optional_integer,
)

BATCHES = csdl.ShuffledBatches(np.ones((4, 3)))


def rows(x, y, weights, batch_size, seed, steps):
    """The first batch of the second epoch."""
    batches = csdl.ShuffledBatches(x, y, weights, batch_size, seed, steps)
    batches.epoch = 1
    batches.fingerprint()
    return batches[0]


def parts(x):
    """The arrays of a structure as a list, or `None` if something in it is no array."""
    if isinstance(x, dict):
        x = list(x.values())
    if isinstance(x, (list, tuple)):
        found = [parts(one) for one in x]
        return None if None in found else sum(found, [])
    try:
        array = np.asarray(x)
    except (TypeError, ValueError):
        return None
    return None if array.ndim == 0 or np.ma.is_masked(x) else [x]


def is_batches(x, y, weights, batch_size, seed, steps):
    structures = [one for one in (x, y, weights) if one is not None]
    arrays = [parts(one) for one in structures]
    lengths = {len(one) for found in arrays if found is not None for one in found}
    return (
        None not in arrays
        and not any(np.asarray(one).dtype.hasobject for found in arrays for one in found)
        and len(lengths) == 1
        and min(lengths) > 0
        and not (y is None and weights is not None)
        and is_integer(batch_size, 1, 2**63 - 1)
        and is_integer(seed, 0, 2**63 - 1)
        and optional_integer(steps, 1, 2**63 - 1)
    )


def is_path(path):
    return isinstance(path, (str, os.PathLike))


def is_callbacks(callbacks):
    known = isinstance(callbacks, (list, tuple))
    return known and all(isinstance(one, keras.callbacks.Callback) for one in callbacks)


def trainer(x, y, settings, seed, callbacks, verbose, cache, jobs):
    """What the stages of a row are, in words that a cache has keys for."""
    made = csdl.Trainer(x, y, None, settings, seed, callbacks, verbose, cache, jobs)
    stages = made.stages("csdnn", 1 - np.eye(int(np.max(np.asarray(y))) + 2))
    return tuple(csdl.StageCache.key(stage) for stage in stages.values())


def is_trainer(x, y, settings, seed, callbacks, verbose, cache, jobs):
    return (
        is_indices(y)
        and max(np.asarray(y).tolist()) < 2**20
        and is_inputs(x, len(y))
        and (settings is None or isinstance(settings, csdl.Settings))
        and is_seed(seed)
        and is_callbacks(callbacks)
        and is_verbose(verbose)
        and (cache is None or isinstance(cache, csdl.StageCache))
        and is_integer(jobs, 1)
        and (seed is not None or (cache is None and jobs == 1))
    )


def is_json(value):
    """Whether JSON has a form for it."""
    if isinstance(value, dict):
        plain = (str, int, float, bool, type(None))
        return all(isinstance(key, plain) and is_json(one) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(is_json, value))
    if isinstance(value, float):
        return bool(np.isfinite(value))
    return value is None or isinstance(value, (str, int))


CASES = {
    "ShuffledBatches": Case(
        rows,
        lambda rng, k: (inputs(rng, 5), rng.integers(k, size=5), inputs(rng, 5)[:, 0], k, 3, 4),
        is_batches,
    ),
    "Resume": Case(
        lambda path, batches, callbacks, seconds: (
            csdl.Resume(path, batches, callbacks, seconds).seconds
        ),
        lambda rng, k: (pathlib.Path("state.npz"), BATCHES, [keras.callbacks.History()], 0.5),
        lambda path, batches, callbacks, seconds: (
            is_path(path)
            and str(path) != ""
            and not pathlib.Path(path).is_dir()  # as a cache in another test makes one
            and isinstance(batches, csdl.ShuffledBatches)
            and is_callbacks(callbacks)
            and is_number(seconds, -1, 1e308)
            and seconds >= 0
        ),
    ),
    "RaiseOnDivergence": Case(
        lambda what: csdl.RaiseOnDivergence(what).what,
        lambda rng, k: ("a network",),
        lambda what: what is None or isinstance(what, str),
        lambda what: what,
    ),
    "StageCache": Case(
        lambda folder: str(csdl.StageCache(folder).folder),
        lambda rng, k: (pathlib.Path("cache"),),
        lambda folder: folder is None or is_path(folder),
    ),
    "StageCache.get": Case(
        lambda description: csdl.StageCache().get(description, lambda: ([], {"epochs": 2})).info,
        lambda rng, k: ({"stage": "a", "beta": 0.5, "units": [3, 4]},),
        is_json,
    ),
    "Trainer": Case(
        trainer,
        lambda rng, k: (*examples(rng, k), SETTINGS, 0, [], 0, csdl.StageCache(), 1),
        is_trainer,
    ),
}
