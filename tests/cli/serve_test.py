"""The command `csdl-keras serve` and the load test of `examples/`, over HTTP on this machine."""

import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np
import pytest
from keras import layers

import csdl_keras as csdl
from tests.support.server import Session, decide, exported, load_test, served
from tests.support.small_models import inputs

MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
X = inputs(50)
NAN = float("nan")
INPUTS = [[0.0, 0.0, 1.0], [0.25, 0.25, 0.5]]
PRICES = np.hstack([MATRIX, np.ones((3, 1))])


@pytest.fixture(scope="module")
def client():
    with served(Session(), max_bytes=2000, max_batch=10) as client:
        yield client


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="exports by this code")
@pytest.mark.parametrize("dtype", ["uint8", "float16"])
def test_exported_models(tmp_path, dtype):
    ends = keras.Input((3,), dtype=dtype, name="pixels")
    hidden = layers.Dense(5, "tanh")(layers.Rescaling(0.01)(ends))
    model = keras.Model(ends, layers.Dense(3, "softmax")(hidden))
    careful = csdl.bayes_classifier(model, MATRIX)
    session = exported(careful, tmp_path)
    x = (100 * np.abs(X)).astype(dtype)
    with served(session) as client:
        answer = decide(client, x.tolist()).json()
        expected = careful.predict(x, verbose=0)
        tolerance = 1e-2 if dtype == "float16" else 1e-4
        np.testing.assert_allclose(
            answer["expected_costs"], expected, rtol=tolerance, atol=tolerance
        )
        assert answer["decisions"] == csdl.decide(careful, x).tolist()
        assert client.get("/health").json()["shapes"] == {"inputs": [3]}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("[" * 1900, 400),
        (b"\xff\xfe{}", 400),
        ('{"inputs": [[1, 2, 3]], "more": 1}', 422),
        ('{"inputs": []}', 422),
        ('{"inputs": [[1, 2, 3], [1, 2]]}', 422),
        ('{"inputs": [[true, false, true]]}', 422),
        ('{"inputs": [[1, 2, NaN]]}', 422),
        (json.dumps({"inputs": 11 * [[1, 2, 3]]}), 422),
        (json.dumps({"inputs": 10 * [[1, 2, 3]]}), 200),
        (json.dumps({"inputs": [[1, 2, 3]]}) + 2000 * " ", 413),
    ],
)
def test_bodies(client, body, status):
    answer = client.post("/decide", content=body)
    assert answer.status_code == status
    assert status == 200 or answer.json()["detail"]


def test_bodies_in_parts_that_do_not_say_their_size(client):
    parts = (b" " * 100 for _ in range(1000))
    assert client.post("/decide", content=parts).status_code == 413


def test_models_that_fail():
    with served(Session(("batch", "length"))) as client:
        assert decide(client, [[1, 2]]).status_code == 422
    broken = Session()
    broken.run = lambda names, feed: [np.array([-1]), np.array([[np.nan, 0.0]])]
    with served(broken) as client:
        answer = decide(client, [[1, 2, 3]])
        assert answer.status_code == 500
        assert answer.json()["detail"] == "The model's output is not a finite number."


def test_overload_is_refused_at_once():
    session = Session()
    session.free.clear()
    with served(session, concurrency=2, waiting=3) as client, ThreadPoolExecutor(5) as pool:
        first = [pool.submit(decide, client, [[1, 2, 3]]) for _ in range(5)]
        assert all(session.running.acquire(timeout=60) for _ in range(2))
        while client.get("/health").json()["requests"] < 5:
            time.sleep(0.01)
        refused = decide(client, [[1, 2, 3]])
        assert refused.status_code == 503
        assert refused.headers["Retry-After"] == "1"
        assert not session.running.acquire(blocking=False), "three compute at once"
        session.free.set()
        assert [request.result().status_code for request in first] == 5 * [200]
        assert decide(client, [[1, 2, 3]]).status_code == 200, "nobody is left within"


def test_models_of_several_inputs():
    session = Session()
    session.ends += Session().ends
    session.ends[0].name = "other"
    session.run = lambda names, feed: [np.zeros(2, "int32"), feed["inputs"] + feed["other"]]
    with served(session) as client:
        one, two = [[1, 2, 3], [4, 5, 6]], [[0, 1, 0], [2, 0, 2]]
        assert decide(client, one, other=two).json()["expected_costs"] == [[1, 3, 3], [6, 5, 8]]
        assert decide(client, one).status_code == 422
        assert decide(client, one, other=two[:1]).status_code == 422


def ends_of(dtype):
    info = np.iinfo(dtype)
    return dtype, [info.min, info.max], (info.max + 1, info.min - 1, 0.5, "1", True, 1e300)


@pytest.mark.parametrize(
    ("dtype", "right", "wrong"),
    [
        *map(ends_of, ("int8", "uint64")),
        ("float16", [0.5, 65504], (1e5,)),
        ("double", [10**20, 0.5], (None,)),
        ("bool", [True, False], (1,)),
        ("string", ["a", "\u00e9"], (1,)),
    ],
)
def test_dtypes(dtype, right, wrong):
    session = Session(("batch", 2), f"tensor({dtype})")
    fed = []

    def run(names, feed):
        fed.append(feed["inputs"])
        return [np.zeros(1, "int32"), np.zeros((1, 2))]

    session.run = run
    with served(session) as client:
        assert decide(client, [right]).status_code == 200
        name = {"double": "float64", "string": "str"}.get(dtype, dtype)
        assert fed[0].dtype.name.startswith(name) and fed[0].tolist() == [right]
        for value in wrong:
            for row in [[value, value]] + ([] if "int" in dtype else [[right[0], value]]):
                assert decide(client, [row]).status_code == 422, row


class TestMissingValues:
    """Null and NaN in arrays, which only some models take."""

    @staticmethod
    def echo(session):
        """Lets a session answer how many numbers are missing in each row."""

        def run(names, feed):
            missing = np.isnan(feed["inputs"]).sum(axis=1)
            return [missing % 3, np.zeros((len(missing), 3))]

        session.run = run
        return session

    @pytest.mark.parametrize("dtype", ["float", "float16"])
    def test_null_and_nan(self, dtype):
        session = self.echo(Session(dtype=f"tensor({dtype})"))
        with served(session, missing_values=True) as client:
            rows = [[None, 1, 2.5], [None, NAN, 3], [1, 2, 3], [NAN, 0.5, 1]]
            answer = client.post("/decide", content=json.dumps({"inputs": rows}))
            assert answer.json()["decisions"] == [1, 2, 0, 1]
            assert client.get("/health").json()["missing_values"] is True
            for wrong in ("1", float("inf"), 1e39, [1]):
                body = json.dumps({"inputs": [[None, 1, wrong]]})
                assert client.post("/decide", content=body).status_code == 422

    @pytest.mark.parametrize("wrong", [None, NAN])
    def test_models_that_do_not_take_them(self, wrong):
        body = json.dumps({"inputs": [[0.5, wrong, 1]]})
        with served(self.echo(Session())) as client:
            answer = client.post("/decide", content=body)
            assert answer.status_code == 422
            assert "Expected 'inputs' of shape [any, 3]" in answer.json()["detail"]
        with served(Session(dtype="tensor(int32)"), missing_values=True) as client:
            assert client.post("/decide", content=body).status_code == 422


@pytest.fixture(scope="module")
def priced():
    with served(Session(matrix=("n", 3, 4)), max_bytes=2000, max_batch=3) as client:
        yield client


@pytest.mark.parametrize("costs", [PRICES, PRICES[None], np.stack([PRICES, 2 * PRICES])])
def test_costs_of_the_request_or_of_each_example(priced, costs):
    answer = decide(priced, INPUTS, cost_matrix=costs.tolist()).json()
    expected = [[0.0] * 4, [0.0] * 4]
    for n, row in enumerate(INPUTS):
        matrix = costs if costs.ndim == 2 else costs[n % len(costs)]
        for y, k in np.ndindex(3, 4):
            expected[n][k] += row[y] * matrix[y, k]
    assert answer == {"decisions": np.argmin(expected, axis=1).tolist(), "expected_costs": expected}


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.stack(3 * [PRICES]), r"the same number of examples; received \{.*3.*\}"),
        (np.stack(4 * [PRICES]), r"\[any, 3, 4\].* at \['cost_matrix'\]: .* at most 3 items"),
        (PRICES[:, :3], r"at \['cost_matrix', 0, 0\]: .* at least 4 items"),
        (np.full((3, 4), "1"), "'cost_matrix'.* received '1' at .*valid number"),
        (np.where(PRICES == 9, np.nan, PRICES), r"received None at \['cost_matrix', 0, 1, 0\]"),
        (np.where(PRICES == 9, 1e39, PRICES), r"received 1e\+39 at \['cost_matrix', 0, 1, 0\]"),
        (np.stack([PRICES, 1 - PRICES]), r"-3.0 at \['cost_matrix', 1, 0, 2\]: .* equal to 0"),
    ],
)
def test_wrong_costs(priced, costs, message):
    body = json.dumps({"inputs": INPUTS, "cost_matrix": np.asarray(costs, object).tolist()})
    answer = priced.post("/decide", content=body)
    assert answer.status_code == 422
    assert re.search(message, answer.json()["detail"])


def test_limits_of_costs(priced):
    assert decide(priced, 4 * INPUTS[:1], cost_matrix=PRICES.tolist()).status_code == 422
    assert decide(priced, INPUTS).status_code == 422
    long = [[[f"{cost:.60f}" for cost in row] for row in PRICES]] * 3
    assert decide(priced, 3 * INPUTS[:1], cost_matrix=long).status_code == 413
    health = priced.get("/health").json()
    assert health["shapes"] == {"inputs": [3], "cost_matrix": [3, 4]}
    assert health["max_cost_matrices"] == 3


class TestLoadTest:
    def test_table(self, client, capsys):
        url = f"{client.base_url}"
        load_test.main([url, "--concurrency", "1,3", "--requests", "20", "--batch", "2"])
        names, *rows = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert " ".join(names) == " ".join(load_test.COLUMNS)
        assert [row[:4] for row in rows] == [["1", "20", "0", "0"], ["3", "20", "0", "0"]]
        for row in rows:
            rate, p50, p95, p99 = map(float, row[4:])
            assert rate > 0 and 0 < p50 <= p95 <= p99

    def test_overload(self, capsys):
        session = Session()
        with served(session, concurrency=1, waiting=0) as client:
            session.free.clear()
            threading.Timer(0.5, session.free.set).start()
            load_test.main([f"{client.base_url}", "--concurrency", "4", "--requests", "30"])
        _, answered, refused, failed, *_ = capsys.readouterr().out.splitlines()[1].split()
        assert min(int(answered), int(refused)) >= 1 and failed == "0"
        assert int(answered) + int(refused) == 30

    @pytest.mark.parametrize("url", ["http://example.com", "http://10.0.0.1:8000", "here"])
    def test_other_machines(self, url, capsys):
        with pytest.raises(SystemExit):
            load_test.main([url])
        assert "on this machine" in capsys.readouterr().err
