"""Tests of CSOSR: scikit-learn's conventions, files, and what it refuses."""

import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from csdl_keras._utils.files import write_arrays
from csdl_keras.baselines import CSOSR
from csdl_keras.costs import cost_vectors, randomized_proportional
from tests.baselines.csosr_problems import MATRIX, problem


class TestScikitLearn:
    @pytest.mark.parametrize("exact_limit,labels", [(30, True), (0, False)])
    def test_save(self, exact_limit, labels, tmp_path):
        x, costs = problem()
        y = np.arange(30) % 3 if labels else costs
        matrix = MATRIX if labels else None
        model = CSOSR(exact_limit=exact_limit, cost_matrix=matrix).fit(x, y)
        model.save(tmp_path / "machine.npz")
        read = CSOSR.load(tmp_path / "machine.npz")
        np.testing.assert_array_equal(read.predict_costs(x), model.predict_costs(x))
        assert read.score(x, y) == model.score(x, y)
        assert repr(read) == repr(model) and vars(read).keys() == vars(model).keys()
        pickled = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(pickled.predict_costs(x), model.predict_costs(x))

    def test_what_load_refuses(self, tmp_path):
        with pytest.raises(NotFittedError):
            CSOSR().save(tmp_path / "machine.npz")
        for record in ({}, {"kind": "CSOSR", "map": {"kernel": "precomputed"}}):
            write_arrays(tmp_path / "a.npz", record)
            with pytest.raises(ValueError, match="does not contain a CSOSR"):
                CSOSR.load(tmp_path / "a.npz")
        (tmp_path / "a.npz").write_bytes(pickle.dumps(CSOSR()))
        with pytest.raises(ValueError, match="a.npz is damaged, or not an .npz file"):
            CSOSR.load(tmp_path / "a.npz")

    def test_digits_in_a_pipeline_and_a_grid_search(self):
        x, y = load_digits(return_X_y=True)
        matrix = randomized_proportional(y, seed=0)
        matrix /= matrix.max()
        costs = cost_vectors(matrix, y)
        pipeline = make_pipeline(StandardScaler(), CSOSR(cost_matrix=matrix))
        search = GridSearchCV(pipeline, {"csosr__penalty": [1e-4, 1.0]}, cv=2).fit(x[:200], y[:200])
        assert search.best_params_ == {"csosr__penalty": 1.0}
        assert -search.score(x[300:], y[300:]) < 0.4 * costs.mean(axis=0).min()

    def test_too_few_steps_warn(self):
        x, costs = problem()
        with pytest.warns(ConvergenceWarning, match="duality gap is .* after max_iter=3 steps"):
            model = CSOSR(penalty=10.0, max_iter=3).fit(x, costs)
        assert model.n_iter_ == 3 and model.duality_gap_ > 1e-3 * model.objective_
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            CSOSR().fit(x, costs)


@pytest.mark.parametrize(
    ("arguments", "data", "message"),
    [
        ({"penalty": 0}, {}, "`penalty` to be a finite number in (0"),
        ({}, {"X": np.full((30, 2), np.inf)}, "Input contains infinity"),
        (
            {},
            {"y": np.zeros(30, int)},
            "`costs` of shape (N, D), a cost for each decision; received shape (30,)",
        ),
    ],
    ids=str,
)
def test_what_fit_refuses(arguments, data, message):
    x, costs = problem()
    with pytest.raises(ValueError, match=re.escape(message)):
        CSOSR(**arguments).fit(**{"X": x, "y": costs, **data})
