"""Tests of CSOSR: scikit-learn's conventions, files, and what it refuses."""

import importlib
import pickle
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from csdl_keras._utils.array_file import write_arrays
from csdl_keras.baselines import CSOSR
from csdl_keras.costs import cost_vectors, randomized_proportional
from tests.baselines.csosr_problems import MATRIX, literal_kernel, problem


class TestScikitLearn:
    def test_parameters_and_clone(self):
        model = CSOSR(penalty=2.0, cost_matrix=MATRIX, method="nystroem")
        assert model.cost_matrix is MATRIX and is_classifier(model)
        model.fit(*self.labelled())
        copy = clone(model)
        assert copy.get_params().keys() == model.get_params().keys() >= {"penalty", "gamma"}
        assert copy.penalty == 2.0 and copy.method == "nystroem"
        assert not hasattr(copy, "coef_")
        assert copy.set_params(penalty=5).penalty == 5

    def labelled(self):
        return problem()[0], np.arange(30) % 3

    def test_pickle(self):
        x, costs = problem()
        for method in ("exact", "nystroem"):
            model = CSOSR(method=method).fit(x, costs)
            read = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(read.predict_costs(x), model.predict_costs(x))

    @pytest.mark.parametrize("labels", [False, True])
    @pytest.mark.parametrize("method", ["exact", "nystroem", "precomputed"])
    def test_save(self, labels, method, tmp_path):
        x, costs = problem()
        choices = {"kernel": "precomputed"} if method == "precomputed" else {"method": method}
        if method == "precomputed":
            x = x @ x.T
        y = np.arange(30) % 3 if labels else costs
        model = CSOSR(**choices, cost_matrix=MATRIX if labels else None).fit(x, y)
        model.save(tmp_path / "machine.npz")
        read = CSOSR.load(tmp_path / "machine.npz")
        np.testing.assert_array_equal(read.predict_costs(x), model.predict_costs(x))
        assert read.score(x, y) == model.score(x, y)
        assert repr(read) == repr(model) and vars(read).keys() == vars(model).keys()

    def test_what_load_refuses(self, tmp_path):
        with pytest.raises(NotFittedError):
            CSOSR().save(tmp_path / "machine.npz")
        write_arrays(tmp_path / "a.npz", {})
        with pytest.raises(ValueError, match="Expected a file that CSOSR.save wrote"):
            CSOSR.load(tmp_path / "a.npz")
        (tmp_path / "a.npz").write_bytes(pickle.dumps(CSOSR()))
        with pytest.raises(ValueError, match="Expected .*a.npz to be an npz file"):
            CSOSR.load(tmp_path / "a.npz")

    def test_digits_in_a_pipeline_and_a_grid_search(self):
        x, y = load_digits(return_X_y=True)
        x_train, x_test, y_train, y_test = train_test_split(
            x / 16.0, y, train_size=400, random_state=0, stratify=y
        )
        matrix = randomized_proportional(y_train, seed=0)
        matrix /= matrix.max()
        pipeline = make_pipeline(StandardScaler(), CSOSR(cost_matrix=matrix))
        grid = {"csosr__penalty": [1e-4, 1.0], "csosr__gamma": ["scale"]}
        search = GridSearchCV(pipeline, grid, cv=2).fit(x_train, y_train)
        assert search.best_params_["csosr__penalty"] == 1.0
        constant = cost_vectors(matrix, y_test).mean(axis=0).min()
        assert -search.score(x_test, y_test) < 0.15 * constant
        # On cost vectors the same model, and cross-validation without labels.
        costs = cost_vectors(matrix, y_train)
        by_cost = GridSearchCV(CSOSR(), {"penalty": [1e-4, 1.0]}, cv=2).fit(x_train, costs)
        assert by_cost.best_params_ == {"penalty": 1.0}
        assert -by_cost.score(x_test, cost_vectors(matrix, y_test)) < 0.15 * constant

    def test_a_precomputed_kernel_is_split_both_ways(self):
        x, costs = problem()
        kernel = literal_kernel(x, x, 0.5)
        search = GridSearchCV(CSOSR(kernel="precomputed"), {"penalty": [0.1, 1.0]}, cv=2)
        scores = search.fit(kernel, costs).cv_results_["mean_test_score"]
        plain = GridSearchCV(CSOSR(gamma=0.5), {"penalty": [0.1, 1.0]}, cv=2).fit(x, costs)
        np.testing.assert_allclose(scores, plain.cv_results_["mean_test_score"])

    def test_too_few_steps_warn(self):
        x, costs = problem()
        with pytest.warns(ConvergenceWarning, match="received .* after max_iter=3 steps"):
            model = CSOSR(penalty=10.0, max_iter=3).fit(x, costs)
        assert model.n_iter_ == 3 and model.duality_gap_ > 1e-3 * model.objective_
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            CSOSR().fit(x, costs)

    def test_without_scikit_learn(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "sklearn", None)
        monkeypatch.delitem(sys.modules, "csdl_keras.baselines")
        message = r"'sklearn' of the package scikit-learn.*pip install 'csdl_keras\[compare\]'"
        with pytest.raises(ModuleNotFoundError, match=message):
            importlib.import_module("csdl_keras.baselines")


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"penalty": 0}, "`penalty` to be a finite number in (0"),
            ({"penalty": -1.0}, "`penalty`"),
            ({"penalty": np.inf}, "`penalty`"),
            ({"penalty": "1"}, "`penalty`"),
            ({"gamma": 0.0}, "`gamma` to be a finite number in (0"),
            ({"gamma": "auto"}, "`gamma` to be one of ['scale']; received 'auto'"),
            ({"kernel": "linear"}, "`kernel` to be one of ['rbf', 'precomputed']"),
            ({"method": "fast"}, "`method` to be one of ['auto', 'exact', 'nystroem']"),
            ({"n_components": 0}, "`n_components` to be an integer of at least 1"),
            ({"exact_limit": 0.5}, "`exact_limit` to be an integer of at least 1"),
            ({"tol": 0.0}, "`tol` to be a finite number in (0"),
            ({"max_iter": 0}, "`max_iter` to be an integer of at least 1"),
            ({"cost_matrix": [[0, 1]]}, "`cost_matrix` of shape (K, K)"),
            ({"cost_matrix": MATRIX}, "`labels` of shape (N,)"),
            ({"kernel": "precomputed"}, "kernel matrix (N, N) with kernel='precomputed'"),
            ({"kernel": "precomputed", "method": "nystroem"}, "`method` to be 'auto' or 'exact'"),
        ],
    )
    def test_arguments(self, arguments, message):
        x, costs = problem()
        with pytest.raises(ValueError) as caught:
            CSOSR(**arguments).fit(x, costs)
        assert message in str(caught.value) and "received" in str(caught.value)

    @pytest.mark.parametrize(
        ("x", "message"),
        [
            (np.zeros((30, 2, 2, 1)), "(30, 2, 2, 1). Reshape it: `X.reshape(len(X), -1)`."),
            (np.zeros(30), "shape (N, features); received shape (30,)."),
            (np.zeros((0, 2)), "received shape (0, 2)"),
            (np.full((30, 2), np.nan), "finite and of a size up to 1e+18; received nan at (0, 0)"),
            (np.full((30, 2), np.inf), "finite and of a size up to 1e+18; received inf at (0, 0)"),
            (np.zeros((30, 2), dtype=complex), "real numbers; received dtype complex128"),
            ([["a", "b"]] * 30, "real numbers; received dtype <U1"),
            ([[1.0], [1.0, 2.0]], "received rows of different lengths"),
            (np.zeros((29, 2)), "as many rows in `X` as in `y`; received 29 and 30"),
        ],
    )
    def test_features(self, x, message):
        with pytest.raises(ValueError) as caught:
            CSOSR().fit(x, problem()[1])
        assert message in str(caught.value) and "Expected" in str(caught.value)

    @pytest.mark.parametrize(
        ("matrix", "y", "message"),
        [
            (None, np.zeros(30, int), "received shape (30,). To fit integer labels, give CSOSR a"),
            (None, np.full((30, 2), -1.0), "at least 0; received -1.0"),
            (None, np.full((30, 2), np.nan), "finite; received nan"),
            (None, None, "`costs`"),
            (MATRIX, np.full(30, 3), "below 3, the number of classes; received 3"),
            (MATRIX, np.zeros(30), "integer dtype; received float64"),
            (MATRIX, None, "`labels`"),
        ],
    )
    def test_targets(self, matrix, y, message):
        with pytest.raises(ValueError) as caught:
            CSOSR(cost_matrix=matrix).fit(problem()[0], y)
        assert message in str(caught.value)

    def test_prediction(self):
        x, costs = problem()
        for method in ("predict", "predict_costs"):
            with pytest.raises(NotFittedError):
                getattr(CSOSR(), method)(x)
            with pytest.raises(ValueError, match=r"shape \(N, 2\).* received shape \(30, 1\)"):
                getattr(CSOSR().fit(x, costs), method)(x[:, :1])
        with pytest.raises(ValueError, match=r"costs of shape \(30, 3\); received \(30, 2\)"):
            CSOSR().fit(x, costs).score(x, costs[:, :2])
        with pytest.raises(ValueError, match=r"costs of shape \(30, 3\); received \(29, 3\)"):
            CSOSR().fit(x, costs).score(x, costs[:29])

    def test_nothing_is_checked_before_fit(self):
        assert CSOSR(penalty=-1).penalty == -1
