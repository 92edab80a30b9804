"""Configures pytest: seeds, the tests that every backend runs, and fixtures.

Keras is imported within functions, since the process that shares out tests does without.
"""

import functools
import gc
import pathlib

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

TESTS = pathlib.Path(__file__).parent
#: Folders and files whose tests are slow on any backend but TensorFlow: what they test computes
#: with NumPy or reads and writes files, or is the same Keras code on each backend and compiles
#: for minutes elsewhere. `-m "slow or not slow"` runs them on every backend.
TENSORFLOW_IS_ENOUGH = """
    _utils/files_test.py _utils/full_disk_test.py _utils/optional_test.py baselines
    benchmarks_test.py cli containers_test.py costs datasets docs_test.py evaluation
    fitting/cache_test.py guide_claims_test.py guides_test.py losses/large_matrix_test.py
    models/caffe_cifar10_test.py models/tabular_test.py
    notebooks_test.py paper plots prediction/budgets_test.py prediction/decisions_test.py
    prediction/ensemble_test.py prediction/policy_test.py
    pretraining/layer_cache_test.py readme_test.py
    refusals_test.py sklearn/arguments_test.py sklearn/average_cost_scorer_test.py
    sklearn/estimator_checks_test.py sklearn/tools_test.py
    training/keys_test.py training/parallel_test.py tuning/same_search_test.py
""".split()

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


def pytest_configure():
    missing = [name for name in TENSORFLOW_IS_ENOUGH if not (TESTS / name).exists()]
    if missing:
        raise pytest.UsageError(f"Expected files and folders of tests; received {missing}.")


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by `-m`
def pytest_collection_modifyitems(items):
    """Marks tests as slow that need no second backend."""
    import keras

    if keras.backend.backend() == "tensorflow":
        return
    enough = [TESTS / name for name in TENSORFLOW_IS_ENOUGH]
    for item in items:
        if any(item.path.is_relative_to(path) for path in enough):
            item.add_marker("slow")


def pytest_collection_finish():
    """Takes what imports made out of garbage collection, which Keras does after each network."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)  # before fixtures of modules, which make networks
def pytest_runtest_setup():
    """Gives each test the same random numbers, whichever tests ran before it."""
    import keras

    keras.utils.set_random_seed(0)


def eagerly():
    """Runs a test, or the tests of a module and its fixtures, within `eager_models`."""
    from tests.support.eager import eager_models

    with eager_models():
        yield


@pytest.fixture
def nothing_lost(record_property):
    """`check_nothing_lost` for the running test."""
    from tests.support.interruptions import check_nothing_lost

    return functools.partial(check_nothing_lost, record_property)


@pytest.fixture
def tried(record_property):
    """Counts changes that a cache told apart, for a report of the session."""
    return lambda what, number: record_property("changes", [what, number])


run_eagerly = pytest.fixture(eagerly)
run_module_eagerly = pytest.fixture(eagerly, scope="module")
