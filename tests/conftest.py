"""What all tests share."""

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

from tests import interruptions
from tests import tried as changes
from tests.eager import eager_models
from tests.interruptions import nothing_lost
from tests.tried import tried

__all__ = ["nothing_lost", "tried"]

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
    """Says how often training was interrupted, and what was changed under a cache."""
    reports = [report for many in terminalreporter.stats.values() for report in many]
    sections = {
        "interruptions": interruptions.summary(reports),
        "changes that no cache of stages mixed up": changes.summary(reports),
    }
    for title, found in sections.items():
        lines = list(found)
        if lines:
            terminalreporter.section(title)
            terminalreporter.write("\n".join(lines) + "\n")
