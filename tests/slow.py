"""Marks of tests that take minutes on some backends."""

import keras
import pytest

# For files whose code is the same on every backend, and whose networks compile long elsewhere.
SLOW_BUT_ON_TENSORFLOW = [pytest.mark.slow] if keras.backend.backend() != "tensorflow" else []
