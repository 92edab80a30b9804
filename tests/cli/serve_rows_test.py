"""Requests with missing values, which only some models take."""

import json

import keras
import numpy as np
import pandas
import pytest

import csdl_keras as csdl
from tests.support.server import Session, decide, exported, served

NAN = float("nan")


def post(client, **fields):
    return client.post("/decide", content=json.dumps(fields))


def echo(session):
    """Lets a session answer how many numbers are missing in each row."""

    def run(names, feed):
        missing = np.isnan(feed["inputs"]).sum(axis=1)
        return [missing, feed["inputs"][:, :0]]

    session.run = run
    return session


@pytest.mark.parametrize("dtype", ["float", "float16"])
def test_null_and_nan_are_missing(dtype):
    with served(echo(Session(dtype=f"tensor({dtype})")), missing_values=True) as client:
        rows = [[None, 1, 2.5], [None, NAN, None], [1, 2, 3], [NAN, 0.5, 1]]
        assert post(client, inputs=rows).json()["decisions"] == [1, 3, 0, 1]
        assert client.get("/health").json()["missing_values"] is True


def test_what_is_no_missing_value():
    with served(echo(Session()), missing_values=True) as client:
        for wrong in ("1", float("inf"), 1e39, [1]):
            assert post(client, inputs=[[None, 1, wrong]]).status_code == 422


@pytest.mark.parametrize("wrong", [None, NAN])
def test_models_that_do_not_take_them(wrong):
    with served(echo(Session())) as client:
        answer = post(client, inputs=[[0.5, wrong, 1]])
        assert answer.status_code == 422
        assert "Expected finite numbers in 'inputs'" in answer.json()["detail"]
        assert client.get("/health").json()["missing_values"] is False
    with served(Session(dtype="tensor(int32)"), missing_values=True) as client:
        assert post(client, inputs=[[wrong, wrong, wrong]]).status_code == 422
    with served(Session(matrix=(3, 2)), missing_values=True) as client:
        costs = [[0, 1], [2, wrong], [3, 4]]
        assert post(client, inputs=[[1, 2, 3]], cost_matrix=costs).status_code == 422


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="exports by this code")
def test_an_exported_model_of_a_data_frame(tmp_path):
    frame = pandas.DataFrame({"age": [31, None, 40], "job": ["b", "a", None]})
    model = csdl.models.tabular(frame, 2, hidden_units=(5,), seed=0)
    careful = csdl.bayes_classifier(model, [[0, 1], [5, 0]])
    rows = model.encode(frame)
    listed = [[None if value != value else value for value in row] for row in rows.tolist()]
    assert sum(row.count(None) for row in listed) == 2
    session = exported(careful, tmp_path)
    with served(session, missing_values=True) as client:
        answer = decide(client, listed).json()
        assert answer["decisions"] == csdl.decide(careful, frame).tolist()
        expected = careful.predict(rows, verbose=0)
        np.testing.assert_allclose(answer["expected_costs"], expected, rtol=1e-4, atol=1e-5)
    with served(session) as client:
        assert decide(client, listed).status_code == 422
