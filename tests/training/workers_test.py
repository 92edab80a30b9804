"""Tasks in processes of their own, of which some fail."""

import os

import pytest

from csdl_keras.training.workers import run_tasks, workers


class UnreadableError(Exception):
    """An exception that another process cannot make from its pickle."""

    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


def double(number):
    if number == 3:
        raise ValueError("Expected no 3; received 3.")
    if number == 4:
        raise UnreadableError("four", "words")
    if number == 5:
        os._exit(7)
    return 2 * number


def found(numbers):
    return {name: result for name, result, _ in run_tasks({n: (double, n) for n in numbers})}


class TestRunTasks:
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_exceptions_are_results(self, jobs):
        with workers(jobs):
            results = found([1, 3, 4, 2])
        assert [results[1], results[2]] == [2, 4]
        assert type(results[3]) is ValueError and "received 3" in str(results[3])
        assert "four words" in str(results[4])

    def test_the_outermost_workers_decide(self):
        with workers(2), workers(1):
            results = dict(name_and_result for *name_and_result, _ in run_tasks({0: (os.getpid,)}))
        assert results[0] != os.getpid()

    def test_a_process_that_ends_takes_no_other_task_along(self):
        with workers(2):
            results = found([1, 5, 2, 6, 7, 8])
        ended = results.pop(5)
        assert isinstance(ended, Exception) and "terminated" in str(ended)
        assert results == {n: 2 * n for n in (1, 2, 6, 7, 8)}
