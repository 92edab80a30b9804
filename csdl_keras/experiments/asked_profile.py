"""The profile that a command line asks for."""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

from csdl_keras.experiments.profiles import PROFILES, Profile
from csdl_keras.training.algorithms import ALGORITHMS, get_algorithm

#: What the authors' code chooses, by the names of the options; see also `AUTHORS_SETTINGS`.
AUTHORS_OPTIONS = {
    "hard_hinge": True,
    "tied_weights": True,
    "grayscale": True,
    "drop_rate": 0.9,
    "cost_factor": 2000.0,
}
#: It adds the cost term 100 times to that of reconstruction, and never stops early.
AUTHORS_SETTINGS = {
    "pretraining.beta": 100 / 101,
    "mlp.patience": None,
    "cnn.patience": None,
    "mlp.epochs": 50,
}


def build_profile(arguments: argparse.Namespace) -> Profile:
    """Returns the profile of that name with the changes of the command line.

    Raises:
        ValueError: if a name is unknown or a value out of range.
    """
    profile = PROFILES[arguments.profile]
    settings = profile.settings.replace(
        {
            "hard_hinge": arguments.hard_hinge,
            "pretraining.tied_weights": arguments.tied_weights,
            "cnn.variant": arguments.cnn_variant,
        }
    )
    searches = profile.searches
    if arguments.authors_choices:
        settings = settings.replace(AUTHORS_SETTINGS)
        searches = tuple(it for it in searches if it.field not in AUTHORS_SETTINGS)
    if arguments.epochs is not None:
        settings = settings.limit_epochs(arguments.epochs)
    changes: dict[str, Any] = {"settings": settings, "searches": searches}
    if arguments.datasets is not None:
        changes["datasets"] = tuple(arguments.datasets)
        if not changes["datasets"]:
            raise ValueError(f"Expected at least one data set; received {arguments.datasets!r}.")
    if arguments.algorithms is not None:
        changes["algorithms"] = check_algorithms(arguments.algorithms)
    if arguments.cost_seeds is not None:
        changes["cost_seeds"] = changes["slow_cost_seeds"] = arguments.cost_seeds
    if arguments.seeds is not None:
        changes["seeds"] = arguments.seeds
    if arguments.train_size is not None:
        changes |= {"train_size": arguments.train_size, "cnn_train_size": arguments.train_size}
    return dataclasses.replace(profile, **changes)


def check_algorithms(names: Sequence[str]) -> tuple[str, ...]:
    """Returns names of algorithms, each once; raises a ValueError that lists the right ones."""
    wrong = [name for name in names if name not in ALGORITHMS]
    if wrong or not names:
        raise ValueError(f"Expected algorithms among {', '.join(ALGORITHMS)}; received {wrong}.")
    return tuple(dict.fromkeys(get_algorithm(name).name for name in names))
