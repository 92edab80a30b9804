"""The estimator on data frames with categories and missing values."""

import pickle

import numpy as np
import pandas
import polars
import pytest

from tests.sklearn.fitted import LABELS, MATRIX, X, Y, estimator

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

FRAME = pandas.DataFrame(X, columns=list("abcd")).assign(kind=np.where(Y == "cat", "p", "q"))
FRAME.loc[::7, "a"] = np.nan
FITTED = {}


def fitted():
    if not FITTED:
        FITTED["it"] = estimator("calibrated_bayes").fit(FRAME, pandas.Series(Y))
    return FITTED["it"]


def test_rows_are_found_by_the_names_of_their_columns():
    model = fitted()
    assert model.feature_names_in_.tolist() == list(FRAME) and model.n_features_in_ == 5
    expected = model.predict_proba(FRAME)
    for rows in (FRAME[[*FRAME][::-1]], polars.from_pandas(FRAME)):
        np.testing.assert_allclose(model.predict_proba(rows), expected, rtol=1e-5)
    np.testing.assert_allclose(model.predict_cost(FRAME), expected @ MATRIX, rtol=1e-4)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))
    assert set(model.predict(FRAME)) <= set(LABELS)
