"""The record in a search's folder, by which no other search takes it up."""

import json
import os
import pathlib
from collections.abc import Sequence
from typing import Any

import keras_tuner
from keras_tuner.errors import FatalValueError

from csdl_keras._utils.files import read_json, write_json
from csdl_keras.tuning._description import describe_fit, describe_tuner

_RECORD = "search.json"
#: Of a value in a message.
_LONGEST = 60


def check_same_tuner(tuner: Any) -> None:
    """Raises unless the tuner's folder is new, or holds a search with the same choices.

    Raises:
        ValueError: if a trial in it ended with others, or nobody knows with which.
    """
    described = describe_tuner(tuner)
    _check(tuner, described, described)


def check_same_search(tuner: Any, x: Any, y: Any, arguments: dict[str, Any]) -> None:
    """Raises as `check_same_tuner` does, also for other data and arguments of `search`.

    Where no trial has ended it leaves a record for the next one.
    """
    described = describe_tuner(tuner) | describe_fit(x, y, arguments)
    if not _check(tuner, described):
        write_json(pathlib.Path(tuner.project_dir) / _RECORD, described)


def check_same_trial(
    hp: keras_tuner.HyperParameters,
    x: Any,
    y: Any,
    callbacks: Sequence[Any],
    arguments: dict[str, Any],
) -> None:
    """Raises as `check_same_search` does where that has not been called: in `HyperModel.fit`.

    Tuners of KerasTuner ask the HyperModel for nothing before.

    Raises:
        keras_tuner.errors.FatalValueError: which ends the search; others only fail a trial.
    """
    tuners = [callback.tuner for callback in callbacks if hasattr(callback, "tuner")]
    if not tuners or (hasattr(tuners[0], "search_choices") and not is_worker()):
        return
    if "tuner/epochs" in hp.values:  # Hyperband's own, of each trial
        of_trial = ("epochs", "initial_epoch")
        arguments = {name: it for name, it in arguments.items() if name not in of_trial}
    try:
        check_same_search(tuners[0], x, y, {"callbacks": callbacks, **arguments})
    except ValueError as error:
        raise FatalValueError(str(error)) from error


def _check(tuner: Any, described: dict[str, Any], names: Any = None) -> bool:
    """Tells whether there is a record; of these names, or all."""
    folder = pathlib.Path(tuner.project_dir)
    path = folder / _RECORD
    # The record beside a worker is that of its chief.
    if not any(map(_has_ended, folder.glob("trial_*/trial.json"))) and not (
        is_worker() and path.exists()
    ):
        return False
    if not path.exists():
        told = "one that nothing is known of"
    else:
        found, now = read_json(path), json.loads(json.dumps(described))
        told = ", ".join(
            f"{name} {_short(found.get(name))}, not {_short(now.get(name))}"
            for name in (names or {**now, **found})
            if found.get(name) != now.get(name)
        )
        if not told:
            return True
        told = f"one with {told}"
    raise ValueError(
        f"Expected the search in {folder}, some of whose trials have ended, to have been made for "
        f"the same costs, data and choices; received {told}. Search in another folder "
        "(`directory` or `project_name`, --out of the command), or delete this one "
        "(`overwrite=True`)."
    )


def _has_ended(path: pathlib.Path) -> bool:
    return read_json(path).get("status") in ("COMPLETED", "FAILED")


def is_worker() -> bool:
    """Tells whether KerasTuner's variables make this process a worker of a chief."""
    chief = "chief" in os.environ.get("KERASTUNER_TUNER_ID", "")
    return "KERASTUNER_ORACLE_IP" in os.environ and not chief


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
