"""Keeps a record in a search's folder, so that no other search continues there."""

import json
import os
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

import keras
import keras_tuner
from keras_tuner.errors import FatalValueError

from csdl_keras._utils.files import read_json, write_json
from csdl_keras.tuning._description import describe_fit, describe_tuner

_RECORD = "search.json"
#: Largest number of characters of a value in a message.
_LONGEST = 60


def check_same_tuner(tuner: keras_tuner.Tuner) -> None:
    """Raises unless the tuner's folder is new, or holds a search with the same choices.

    Raises:
        ValueError: if a trial in the folder ended with other or unknown choices.
    """
    described = describe_tuner(tuner)
    _check(tuner, described, described)


def check_same_search(tuner: keras_tuner.Tuner, x: Any, y: Any, arguments: dict[str, Any]) -> None:
    """Raises as `check_same_tuner` does, also for other data and arguments of `search`.

    If no trial has ended yet, it writes the record.
    """
    described = describe_tuner(tuner) | describe_fit(x, y, arguments)
    if not _check(tuner, described):
        write_json(pathlib.Path(tuner.project_dir) / _RECORD, described)


def check_same_trial(
    hp: keras_tuner.HyperParameters,
    x: Any,
    y: Any,
    callbacks: Sequence[keras.callbacks.Callback],
    arguments: dict[str, Any],
) -> None:
    """Raises as `check_same_search` does, in `HyperModel.fit`, for tuners that have not called it.

    KerasTuner's own tuners call no other method of the HyperModel with the data.

    Raises:
        keras_tuner.errors.FatalValueError: which ends the search; other errors only fail a
            trial.
    """
    tuners = [callback.tuner for callback in callbacks if hasattr(callback, "tuner")]
    if not tuners or (hasattr(tuners[0], "search_choices") and not is_worker()):
        return
    if "tuner/epochs" in hp.values:  # Hyperband chooses the epochs of each trial.
        of_trial = ("epochs", "initial_epoch")
        arguments = {name: it for name, it in arguments.items() if name not in of_trial}
    try:
        check_same_search(tuners[0], x, y, {"callbacks": callbacks, **arguments})
    except ValueError as error:
        raise FatalValueError(str(error)) from error


def _check(
    tuner: keras_tuner.Tuner, described: dict[str, Any], names: Iterable[str] | None = None
) -> bool:
    """Compares a description with the record, in the given names or in all.

    Returns:
        Whether there is a record that counts.

    Raises:
        ValueError: if they differ.
    """
    folder = pathlib.Path(tuner.project_dir)
    path = folder / _RECORD
    # In a worker's folder, the record is that of its chief.
    if not any(map(_has_ended, folder.glob("trial_*/trial.json"))) and not (
        is_worker() and path.exists()
    ):
        return False
    if not path.exists():
        received = "one without a record of them"
    else:
        found, now = read_json(path), json.loads(json.dumps(described))
        received = ", ".join(
            f"{name} {_short(found.get(name))}, not {_short(now.get(name))}"
            for name in (names or {**now, **found})
            if found.get(name) != now.get(name)
        )
        if not received:
            return True
        received = f"one with {received}"
    raise ValueError(
        f"Expected the search in {folder}, some of whose trials have ended, to have been made for "
        f"the same costs, data and choices; received {received}. Search in another folder "
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
