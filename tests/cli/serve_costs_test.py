"""Requests with a cost matrix for each example."""

import json
import re

import keras
import numpy as np
import pytest
from keras import layers

import csdl_keras as csdl
from tests.support.server import Session, decide, exported, served
from tests.support.small_models import inputs

MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
X = inputs(50)
INPUTS = [[0.0, 0.0, 1.0], [0.25, 0.25, 0.5]]
PRICES = np.hstack([MATRIX, np.ones((3, 1))])


@pytest.fixture(scope="module")
def client():
    with served(Session(matrix=("n", 3, 4)), max_bytes=2000, max_batch=3) as client:
        yield client


@pytest.mark.parametrize("costs", [PRICES, PRICES[None], np.stack([PRICES, 2 * PRICES])])
def test_one_for_the_request_or_for_each(client, costs):
    answer = decide(client, INPUTS, cost_matrix=costs.tolist()).json()
    expected = [[0.0] * 4, [0.0] * 4]
    for n, row in enumerate(INPUTS):
        matrix = costs if costs.ndim == 2 else costs[n % len(costs)]
        for y, k in np.ndindex(3, 4):
            expected[n][k] += row[y] * matrix[y, k]
    assert answer == {"decisions": np.argmin(expected, axis=1).tolist(), "expected_costs": expected}


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.stack(3 * [PRICES]), r"as many in each field; received \{.*3.*\}"),
        (np.stack(4 * [PRICES]), r"\[any, 3, 4\].* at \['cost_matrix'\]: .* at most 3 items"),
        (PRICES[:, :3], r"at \['cost_matrix', 0, 0\]: .* at least 4 items"),
        (np.full((3, 4), "1"), "'cost_matrix'.* received '1' at .*valid number"),
        (np.where(PRICES == 9, np.nan, PRICES), r"received None at \['cost_matrix', 0, 1, 0\]"),
        (np.where(PRICES == 9, 1e39, PRICES), r"received 1e\+39 at \['cost_matrix', 0, 1, 0\]"),
        (
            np.stack([PRICES, 1 - PRICES]),
            r"received -3.0 at \['cost_matrix', 1, 0, 2\]: .* equal to 0",
        ),
    ],
)
def test_wrong_costs(client, costs, message):
    body = json.dumps({"inputs": INPUTS, "cost_matrix": np.asarray(costs, object).tolist()})
    answer = client.post("/decide", content=body)
    assert answer.status_code == 422
    assert re.search(f"Expected .*{message}", answer.json()["detail"])


def test_limits(client):
    assert decide(client, 4 * INPUTS[:1], cost_matrix=PRICES.tolist()).status_code == 422
    assert decide(client, INPUTS).status_code == 422
    long = [[[f"{cost:.60f}" for cost in row] for row in PRICES]] * 3
    assert decide(client, 3 * INPUTS[:1], cost_matrix=long).status_code == 413
    health = client.get("/health").json()
    assert health["shapes"] == {"inputs": [3], "cost_matrix": [3, 4]}
    assert health["max_cost_matrices"] == 3


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="exports by this code")
def test_an_exported_model_that_takes_costs(tmp_path):
    model = keras.Sequential([keras.Input((3,)), layers.Dense(3, "softmax")])
    session = exported(csdl.bayes_classifier(model, cost_input=True, num_decisions=4), tmp_path)
    costs = np.random.default_rng(0).uniform(0, 9, size=(50, 3, 4))
    with served(session) as client:
        for given in (costs, costs[0]):
            answer = decide(client, X.tolist(), cost_matrix=given.tolist()).json()
            expected = (model.predict(X, verbose=0)[:, None] @ given)[:, 0]
            np.testing.assert_allclose(answer["expected_costs"], expected, rtol=1e-4, atol=1e-5)
            assert answer["decisions"] == np.argmin(answer["expected_costs"], axis=1).tolist()
