"""Tasks in processes of their own, of which some fail."""

import os

import keras
import pytest

from csdl_keras.fitting.environment import environment
from csdl_keras.training.workers import forget_models, run_tasks, workers


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


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_failures_are_results_and_stop_no_other_task(jobs):
    ended = [5] if jobs > 1 else []  # a task that ends its process
    with workers(jobs), workers(3 - jobs):  # the outer ones decide
        results = found([1, 3, 4, *ended, 2])
        ((_, process, _),) = run_tasks({0: (os.getpid,)})
    assert (process == os.getpid()) == (jobs == 1)
    assert [results[1], results[2]] == [2, 4]
    assert type(results[3]) is ValueError and "received 3" in str(results[3])
    assert "four words" in str(results[4])
    for number in ended:
        assert isinstance(results[number], Exception) and "terminated" in str(results[number])


def test_global_settings_outlive_the_models():
    policy, distribution = keras.config.dtype_policy(), keras.distribution.distribution()
    try:
        keras.config.set_dtype_policy("mixed_bfloat16")
        keras.distribution.set_distribution(keras.distribution.DataParallel(devices=["cpu:0"]))
        before, spread = environment(), keras.distribution.distribution()
        forget_models()
        assert environment() == before
        assert keras.distribution.distribution() is spread
        assert keras.layers.Dense(1).compute_dtype == "bfloat16"
    finally:
        keras.distribution.set_distribution(distribution)
        keras.config.set_dtype_policy(policy)
    assert environment()["settings"]["dtype_policy"]["config"]["name"] == policy.name
