"""What all tests share."""

import hypothesis
import pytest

from tests.eager import eager_models

# The first example of a property compiles, which no deadline foresees; and a change is judged by
# the same examples whenever the suite runs.
hypothesis.settings.register_profile("csdl_keras", deadline=None, derandomize=True)
hypothesis.settings.load_profile("csdl_keras")


@pytest.fixture
def run_eagerly():
    """Runs a test within `eager_models`."""
    with eager_models():
        yield
