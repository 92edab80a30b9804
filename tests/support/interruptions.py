"""Runs that are stopped, and what the end of the next one has lost."""

import os
import signal

import keras
import numpy as np

#: The most by which a run that was stopped may differ from one that was not.
TOLERANCE = 1e-6


class Stop(keras.callbacks.Callback):
    """Stops behind a step of an epoch of a call of `fit`, by an exception or killed."""

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
    """Compares weights with those of an undisturbed run, and notes how often it was interrupted."""
    pairs = list(zip(found, expected, strict=True))
    difference = max(float(np.abs(np.asarray(a) - np.asarray(b)).max()) for a, b in pairs)
    record_property("interruption", [how, difference, times])
    assert difference <= TOLERANCE
