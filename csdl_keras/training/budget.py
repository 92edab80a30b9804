"""Plans a training that ends within a number of minutes, and keeps to it."""

import dataclasses
import math
import time
from collections.abc import Callable

import keras
import numpy as np

from csdl_keras._utils.checks import check_number
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.data import Examples, TrainingData
from csdl_keras.training.effort import EFFORTS
from csdl_keras.training.fit_network import FitOptions, fit_network
from csdl_keras.training.recipe import Recipe
from csdl_keras.training.settings import Settings

#: Makes the recipes of an algorithm under some settings.
MakeRecipes = Callable[[Algorithm, Settings], list[Recipe]]

# The share of the time that is planned: measured steps vary, and so does what else runs.
_PLANNED = 0.85

# More networks would hardly lower the cost.
_MOST_NETWORKS = 30

# Batches that are timed.
_BATCHES = 8

# The time that predictions for calibration take, beside that of an update on as many examples.
_PREDICTION = 0.4
_VIEWS = 5


@dataclasses.dataclass(frozen=True)
class Speed:
    """The speed at which a network trains.

    Args:
        start: seconds before the first update.
        step: seconds of an update.
    """

    start: float
    step: float

    def seconds(self, recipe: Recipe, data: TrainingData, epochs: int) -> float:
        """Returns the seconds of training one network, and of the predictions that follow."""
        batches = math.ceil(recipe.shape[0] / recipe.body.batch_size)
        held_out = recipe.shape[0] if data.validation is None else len(data.validation.y)
        predictions = _PREDICTION * _VIEWS * held_out / recipe.body.batch_size
        return self.start + self.step * (epochs * batches + predictions)


def recipes_in_time(
    make: MakeRecipes,
    algorithm: Algorithm,
    settings: Settings,
    data: TrainingData,
    minutes: float,
) -> tuple[list[Recipe], float]:
    """Returns the recipes of the most training that ends in time, and the deadline.

    That is the highest effort that fits, up to that of the algorithm if it names one, with as
    many networks as fit, unless the algorithm says their number. If none fits, `"quick"` with
    fewer epochs. For this, some updates of a network are timed, the narrowest first.

    Args:
        make: makes the recipes of an algorithm under some settings, and checks both.
        algorithm: the algorithm.
        settings: its settings.
        data: training and validation examples.
        minutes: the minutes from now to the deadline, which is as `time.time()` tells it.
    """
    end = time.time() + 60 * check_number("minutes", minutes, 0, exclude_low=True)
    if algorithm.pretrains or not algorithm.body_kind.is_network:
        raise ValueError(
            "Expected `minutes` with an algorithm that trains a network without pre-training; "
            f"received {algorithm.name!r}."
        )
    planned, settings = _plan(make, algorithm, settings, data, end)
    # What one deadline may cut short is no stage of a training with another.
    return [
        dataclasses.replace(recipe, context={**recipe.context, "minutes": minutes})
        for recipe in make(planned, settings)
    ], end


@dataclasses.dataclass(frozen=True)
class _Plan:
    """A number of networks, and the recipe of the first."""

    algorithm: Algorithm
    recipe: Recipe
    networks: int

    def seconds(self, speed: Speed, data: TrainingData) -> float:
        """Returns the seconds of training all networks, one after the other."""
        epochs = self.recipe.body.epochs_on(self.recipe.shape)
        return self.networks * speed.seconds(self.recipe, data, epochs)


def _plan(
    make: MakeRecipes, algorithm: Algorithm, settings: Settings, data: TrainingData, end: float
) -> tuple[Algorithm, Settings]:
    """Returns the algorithm, with its effort and number of networks, and its settings."""
    shape = data.train.x.shape
    # Without validation data only several networks are calibrated, on each other's folds.
    least = 2 if algorithm.calibrated and data.validation is None else 1
    efforts = list(EFFORTS)
    highest = efforts.index(algorithm.effort) if algorithm.effort else len(efforts) - 1
    speeds: dict[tuple[int, ...], Speed] = {}
    fitting: list[tuple[_Plan, Speed]] = []
    for effort in efforts[: highest + 1]:
        wanted = dataclasses.replace(algorithm, effort=effort)
        usual = max(least, settings.body_of(wanted).networks_on(shape))
        wanted = dataclasses.replace(wanted, members=algorithm.members or usual)
        plan = _Plan(wanted, make(wanted, settings)[0], algorithm.members or usual)
        filters = plan.recipe.body.filters_on(shape)
        if filters not in speeds:
            if fitting:
                # A wider network is no faster, so it is timed only if it fits at that speed.
                speed = fitting[-1][1]
                if speed.start + plan.seconds(speed, data) > _left(end):
                    break
            speeds[filters] = measure(plan.recipe, data)
        if fitting and plan.seconds(speeds[filters], data) > _left(end):
            break
        fitting.append((plan, speeds[filters]))
    plan, speed = fitting[-1]
    share = _left(end) / plan.seconds(speed, data)
    if share >= 1:
        networks = algorithm.members or min(_MOST_NETWORKS, int(share * plan.networks))
        return dataclasses.replace(plan.algorithm, members=networks), settings
    networks = algorithm.members or least
    before = speed.seconds(plan.recipe, data, 0)
    epochs = (_left(end) / networks - before) / (speed.seconds(plan.recipe, data, 1) - before)
    wanted, settings = _with_epochs(plan.algorithm, settings, max(1, int(epochs)))
    return dataclasses.replace(wanted, members=networks), settings


def _left(end: float) -> float:
    """Returns the seconds that may be planned until a deadline."""
    return _PLANNED * (end - time.time())


def measure(recipe: Recipe, data: TrainingData) -> Speed:
    """Trains a network on some batches and returns how long that takes."""
    size = min(len(data.train.y), _BATCHES * recipe.body.batch_size)
    rows = np.linspace(0, len(data.train.y) - 1, size).astype(int)
    costs = None if data.train.costs is None else data.train.costs[rows]
    few = TrainingData(Examples(data.train.x[rows], data.train.y[rows], costs))
    algorithm, settings = _with_epochs(recipe.algorithm, recipe.settings, 3)
    short = dataclasses.replace(
        recipe, algorithm=algorithm, settings=settings, folds=0, stacked=1, stopping_costs=None
    )
    start, timer = time.time(), _EpochEnds()
    fit_network(short, few, (), FitOptions(0, None, [timer], 0))
    first, *_, last = timer.ends
    seconds = (last - first) / (len(timer.ends) - 1)
    return Speed(first - seconds - start, seconds / math.ceil(size / recipe.body.batch_size))


class _EpochEnds(keras.callbacks.Callback):
    """Notes when epochs end."""

    def __init__(self) -> None:
        super().__init__()
        self.ends: list[float] = []

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self.ends.append(time.time())


def _with_epochs(
    algorithm: Algorithm, settings: Settings, epochs: int
) -> tuple[Algorithm, Settings]:
    """Returns an algorithm and settings of that many epochs."""
    body = settings.body_of(algorithm).limit_epochs(epochs)
    if isinstance(algorithm.body, str):
        return algorithm, dataclasses.replace(settings, **{algorithm.body: body})
    return dataclasses.replace(algorithm, body=body), settings
