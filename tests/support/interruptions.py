"""Runs that are stopped, and what the end of the next one has lost."""

import functools
import os
import signal

import keras
import numpy as np
import pytest

#: The most by which a run that was stopped may differ from one that was not.
TOLERANCE = 1e-6


class Stop(keras.callbacks.Callback):
    """Stops behind a step, or the execution that it is in: by an exception, or killed.

    Args:
        fit: which call of `fit` it is, from 0.
        epoch: the epoch of that fit.
        step: the step of that epoch.
        kill: whether the process is killed.
    """

    observes_only = True

    def __init__(self, fit, epoch, step=1, kill=False):
        super().__init__()
        self.place, self.kill = (fit, epoch, step), kill
        self.fits, self.epoch = -1, 0

    def on_train_begin(self, logs=None):
        self.fits += 1

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        fit, epoch, step = self.place
        if (self.fits, self.epoch) == (fit, epoch) and batch >= step:
            if self.kill:
                os.kill(os.getpid(), signal.SIGKILL)
            raise InterruptedError


class Epochs(keras.callbacks.Callback):
    """Notes the epochs that begin, fit after fit."""

    observes_only = True

    def __init__(self):
        super().__init__()
        self.begun = []

    def on_train_begin(self, logs=None):
        self.begun.append([])

    def on_epoch_begin(self, epoch, logs=None):
        self.begun[-1].append(epoch)


def check_nothing_lost(record_property, how, found, expected, times=1):
    """Compares weights with those of an undisturbed run; the session's end prints the counts.

    Args:
        record_property: pytest's fixture.
        how: the run was interrupted.
        found: its weights in the end.
        expected: those of the undisturbed run.
        times: how often it was.
    """
    pairs = list(zip(found, expected, strict=True))
    difference = max(float(np.abs(np.asarray(a) - np.asarray(b)).max()) for a, b in pairs)
    record_property("interruption", [how, difference, times])
    assert difference <= TOLERANCE


def summary(reports):
    """Lines that count interruptions and those after which something was lost."""
    counts = {}
    for report in reports:
        for name, value in getattr(report, "user_properties", ()):
            if name == "interruption" and report.when == "call":
                counts.setdefault(value[0], []).append(value[1:])
    for how, runs in sorted(counts.items()):
        differences = [difference for difference, _ in runs]
        lost = sum(not difference <= TOLERANCE for difference in differences)
        yield (
            f"{how}: {sum(times for _, times in runs)} times in {len(runs)} runs, "
            f"{lost} of which lost something; off by {max(differences):.1g} at most"
        )


@pytest.fixture
def nothing_lost(record_property):
    """`check_nothing_lost` for the running test."""
    return functools.partial(check_nothing_lost, record_property)
