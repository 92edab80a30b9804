"""What all tests share."""

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

from tests.eager import eager_models
from tests.interruptions import nothing_lost, summary

__all__ = ["nothing_lost"]

# The first example of a property compiles, which no deadline foresees; and a change is judged by
# the same examples whenever the suite runs. Others come with `--hypothesis-profile random`.
hypothesis.settings.register_profile("csdl_keras", deadline=None, derandomize=True)
hypothesis.settings.register_profile("random", deadline=None)
hypothesis.settings.load_profile("csdl_keras")

any_local_constants = providers._get_local_constants


def local_constants():
    """No constants of the modules loaded so far, which differ between processes; some if random."""
    if hypothesis.settings.default.derandomize:
        return providers.Constants()
    return any_local_constants()


providers._get_local_constants = local_constants


@pytest.fixture
def run_eagerly():
    """Runs a test within `eager_models`."""
    with eager_models():
        yield


def pytest_terminal_summary(terminalreporter):
    """Says how often training was interrupted, and how often that lost something."""
    lines = list(summary(report for many in terminalreporter.stats.values() for report in many))
    if lines:
        terminalreporter.section("interruptions")
        terminalreporter.write("\n".join(lines) + "\n")
