"""Counts of the changes that tests of caches have tried."""

import collections

import pytest


@pytest.fixture
def tried(record_property):
    """Counts changes that were tried; the end of the session prints the sums."""

    def count(what: str, number: int = 1) -> None:
        assert number > 0
        record_property("changes", [what, number])

    return count


def summary(reports):
    """Lines that count changes, all of which were told apart or changed nothing."""
    counts: collections.Counter = collections.Counter()
    for report in reports:
        for name, value in getattr(report, "user_properties", ()):
            if name == "changes" and report.when == "call" and report.passed:
                counts[value[0]] += value[1]
    yield from (f"{what}: {number}" for what, number in sorted(counts.items()))
    if counts:
        yield f"in all: {counts.total()}"
