"""`csdl-keras decide` and `serve` to their end, for files of all kinds."""

import contextlib
import io
import json
import re

import joblib
import keras
import numpy as np
import pandas
import pytest
from PIL import Image
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import csdl_keras as csdl
from csdl_keras._utils.data_model import with_data
from csdl_keras.sklearn import BayesClassifier
from csdl_keras_cli.classifier import SavedClassifier
from csdl_keras_cli.columns import Columns
from csdl_keras_cli.main import main
from csdl_keras_cli.saved_model import load
from csdl_keras_cli.slow_clients import ClosingProtocol
from tests.support.fresh_process import run_python
from tests.support.server import load_test, served

FRAME = pandas.DataFrame(
    {
        "age": [31, None, 40, 25],
        "job": ["01", "02", None, "01"],
        "when": pandas.to_datetime(["2026-03-01", "2026-05-17", None, "2026-01-09"]),
        "amount": [100.0, 7.5, 30.0, 1000.0],
    }
)
#: As in JSON, with another category and dates as texts.
ROWS = [
    {"age": 31, "job": "01", "when": "2026-03-01", "amount": 100},
    {"age": None, "job": "99", "when": None, "amount": 2.5},
]
CSV = "id;when;job;age;amount;answer\n1;2026-03-01;01;31;100;yes\n2;;99;?;2,5;no\n"
INPUTS = ["age", "job", "when"]
KNOWN = [["0", "5 + 0.1*amount", "1"], ["amount", "0", "1"]]
NAMES = {"classes": ["no", "yes"], "decisions": ["no", "yes", "ask"]}
MATRIX = [[0, 6, 1], [50, 0, 1]]


def expected_costs(probabilities, known=KNOWN):
    costs = []
    for (no, yes), row in zip(probabilities, ROWS, strict=True):
        given = (row["amount"], 5 + 0.1 * row["amount"]) if known else (50, 6)
        costs.append([yes * given[0], no * given[1], 1.0])
    return costs


@pytest.fixture(scope="module", params=[".keras", ".onnx", ".joblib"])
def kind(request):
    if request.param == ".onnx" and keras.backend.backend() != "tensorflow":
        pytest.skip("exports by this code")
    return request.param


@pytest.fixture(scope="module", params=[KNOWN, None], ids=["known costs", "matrix"])
def model(request, kind, tmp_path_factory):
    """The path of a model with three decisions, its known costs, and costs expected of `ROWS`."""
    path, known = tmp_path_factory.mktemp("models") / f"model{kind}", request.param
    x = FRAME[INPUTS]
    columns = Columns.of(x)
    rows = {name: [row[name] for row in ROWS] for name in INPUTS}
    if kind == ".joblib":
        network = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
        classifier = BayesClassifier(network, MATRIX, calibration=None)
        classifier.fit(columns.encode(x), [0, 1, 1, 0])
        saved = SavedClassifier(classifier, "Bayes", *map(tuple, NAMES.values()), columns, known)
        joblib.dump(saved, path)
        return path, known, expected_costs(classifier.predict_proba(columns.encode(rows)), known)
    classifier = csdl.models.tabular(x, 2, hidden_units=(5,), seed=0)
    expected = expected_costs(classifier.predict(rows, verbose=0), known)
    if known is None:
        classifier = csdl.bayes_classifier(classifier, MATRIX)
    classifier = with_data(classifier, **NAMES, known_costs=known)
    if kind == ".keras":
        classifier.save(path)
    else:
        csdl.export(classifier, path, "onnx")
    return path, known, expected


def test_decide(model, tmp_path, capsys):
    path, known, expected = model
    (tmp_path / "new.csv").write_text(CSV)
    command = ["decide", str(path), str(tmp_path / "new.csv"), "--missing", "?"]
    assert main([*command, "--out", str(tmp_path / "decisions.csv")]) == 0
    written = pandas.read_csv(tmp_path / "decisions.csv")
    names = ["decision", "expected_cost", "cost of no", "cost of yes", "cost of ask"]
    assert list(written) == (["amount", *names] if known else names)
    np.testing.assert_allclose(written[names[2:]], expected, rtol=1e-4)
    best = np.argmin(expected, axis=1)
    assert written["decision"].tolist() == np.array(NAMES["decisions"])[best].tolist()
    np.testing.assert_allclose(written["expected_cost"], np.min(expected, axis=1), rtol=1e-4)
    assert not capsys.readouterr().out
    (tmp_path / "new.csv").write_text(CSV.replace("amount", "loan"))
    assert main([*command, "--costs", "loan"]) == (0 if known else 2)
    told = capsys.readouterr()
    if known:
        again = pandas.read_csv(io.StringIO(told.out))
        assert list(again) == ["loan", *names]
        np.testing.assert_allclose(again[names[2:]], expected, rtol=1e-4)
        assert main(command) == 2
        assert "has no column 'amount'" in capsys.readouterr().err
    else:
        assert "has fixed costs, so --costs cannot be used" in told.err


def test_a_column_that_lacks(model, tmp_path, capsys):
    (tmp_path / "new.csv").write_text(CSV.replace("when", "When"))
    assert main(["decide", str(model[0]), str(tmp_path / "new.csv"), "--missing=?"]) == 2
    assert "has no column 'when'" in (told := capsys.readouterr().err)
    assert "Did you mean 'When'?" in told


def test_a_folder_for_a_table(model, tmp_path, capsys):
    assert main(["decide", str(model[0]), str(tmp_path)]) == 2
    assert f"{model[0]} needs a table" in capsys.readouterr().err


def test_serve(model):
    path, known, expected = model
    rows = [row if known else {name: row[name] for name in INPUTS} for row in ROWS]
    with served(load(path)) as client:
        answer = client.post("/decide", json={"rows": rows}).json()
        np.testing.assert_allclose(answer["expected_costs"], expected, rtol=1e-4)
        best = np.argmin(expected, axis=1)
        assert answer["decisions"] == np.array(NAMES["decisions"])[best].tolist()
        one = client.post("/decide", json=rows[0]).json()
        np.testing.assert_allclose(one["expected_costs"], expected[:1], rtol=1e-4)
        schema = client.get("/openapi.json").json()["paths"]["/decide"]["post"]
        (body,) = schema["requestBody"]["content"].values()
        columns = body["schema"]["anyOf"][1]["properties"]
        assert columns["age"]["type"] == ["number", "boolean", "null"]
        assert columns["job"]["enum"] == ["01", "02", None]
        assert columns["when"]["type"] == ["string", "null"]
        assert ("amount" in columns) == bool(known)
        assert client.get("/docs").status_code == 200
        health = client.get("/health").json()
        assert health["decisions"] == NAMES["decisions"]
        assert health["columns"]["job"]["type"] == ["string", "null"]
        # Not by `capsys`, whose streams what an export imports would keep after they are closed.
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            load_test.main([str(client.base_url), "--concurrency", "2", "--requests", "4"])
        assert printed.getvalue().splitlines()[1].split()[:4] == ["2", "4", "0", "0"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Job": "01"}, "the name 'Job' is unknown. Did you mean 'job'?"),
        ({"age": "31"}, "Expected numbers in column 'age'; received '31'"),
        ({"age": [31]}, "Column 'age' must have one value per row"),
        ({"age": float("inf")}, "Expected numbers in column 'age'; received 'Infinity'"),
        ({"age": 1e39}, "Column 'age' has numbers of a size larger than 1e+38"),
        ({"age": 10**400}, "too large"),
        ({"job": 1}, "Expected strings in column 'job'; received 1"),
        ({"when": "in May"}, "'when'"),
        ({"amount": None}, "Column 'amount' has nan"),
        ({"amount": -500}, "Costs must be at least 0; '5 + 0.1*amount' is -45"),
    ],
)
def test_wrong_rows(kind, model, change, message):
    if model[1] is None:
        pytest.skip("has no amounts")
    with served(load(model[0]), max_batch=3) as client:
        for body in ({"rows": [ROWS[0] | change]}, ROWS[0] | change):
            answer = client.post("/decide", content=json.dumps(body))
            assert answer.status_code == 422 and message in answer.json()["detail"]


def test_onnx_needs_no_keras(kind, model, tmp_path):
    if kind != ".onnx":
        pytest.skip("needs what it was made with")
    (tmp_path / "new.csv").write_text(CSV)
    code = (
        "import sys\nfrom csdl_keras_cli.main import main\nfrom csdl_keras_cli.serve import "
        f"create_app\nmain(['decide', {str(model[0])!r}, {str(tmp_path / 'new.csv')!r}, "
        "'--missing=?'])\nprint({'keras', 'csdl_keras', 'sklearn'} & {*sys.modules})"
    )
    head, *rows, modules = run_python(code).splitlines()
    assert "decision,expected_cost" in head and len(rows) == 2 and modules == "set()"


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    (folder / "more").mkdir()
    for name, colour in (("white.png", 255), ("more/black.png", 0)):
        Image.new("L", (4, 4), colour).save(folder / name)
    return folder


@pytest.mark.parametrize("suffix", [".keras", ".joblib"])
def test_images(suffix, images, tmp_path, capsys):
    """Bright images are of class 1."""
    path = tmp_path / f"model{suffix}"
    if suffix == ".keras":
        network = keras.Sequential(
            [keras.Input((4, 4, 1)), keras.layers.Flatten(), keras.layers.Dense(1, "sigmoid")]
        )
        network.layers[-1].set_weights([np.ones((16, 1)), np.full(1, -8)])
        csdl.bayes_classifier(network, [[0, 1], [9, 0]]).save(path)
    else:
        x, y = np.repeat([[0.0], [1.0]], 9, axis=0) * np.ones(16), np.repeat([0, 1], 9)
        classifier = BayesClassifier(LogisticRegression(), [[0, 1], [9, 0]], calibration=None)
        names = (("0", "1"), ("0", "1"))
        shape = {"input_shape": (4, 4, 1)}
        joblib.dump(SavedClassifier(classifier.fit(x, y), "Bayes", *names, **shape), path)
    assert main(["decide", str(path), str(images)]) == 0
    written = pandas.read_csv(io.StringIO(capsys.readouterr().out))
    assert written["file"].tolist() == ["more/black.png", "white.png"]
    assert written["decision"].tolist() == [0, 1]
    with served(load(path)) as client:
        body = {"inputs": [np.ones((4, 4, 1)).tolist()]}
        assert list(map(int, client.post("/decide", json=body).json()["decisions"])) == [1]
    (tmp_path / "new.csv").write_text(CSV)
    assert main(["decide", str(path), str(tmp_path / "new.csv")]) == 2
    assert "needs a folder of images" in capsys.readouterr().err


def test_unit_of_costs(kind, tmp_path):
    if kind == ".joblib":
        pytest.skip("has costs in their unit")
    network = csdl.models.mlp((3,), 2, (4,), output="cost", seed=0)
    x, path = np.eye(3, dtype="float32"), tmp_path / f"model{kind}"
    model = with_data(network, unit=10.0)
    model.save(path) if kind == ".keras" else csdl.export(model, path, "onnx")
    decisions, costs = load(path).decide(x)
    expected = 10 * network.predict(x, verbose=0)
    np.testing.assert_allclose(costs, expected, rtol=1e-4)
    assert decisions.tolist() == expected.argmin(axis=1).tolist()


def test_options_of_serve(model, monkeypatch, capsys):
    configs = []

    async def leave(server):
        configs.append(server.config)

    monkeypatch.setattr("uvicorn.Server.main_loop", leave)
    monkeypatch.setattr("sys.setswitchinterval", lambda seconds: None)
    # Its logging would close the streams that pytest captures.
    monkeypatch.setattr("uvicorn.Config.configure_logging", lambda config: None)
    assert main(["serve", str(model[0]), "--host", "localhost", "--port", "0"]) == 0
    (config,) = configs
    found = (config.host, config.http, config.timeout_keep_alive)
    assert found == ("localhost", ClosingProtocol, 30)
    taken = "age, job, when, amount" if model[1] else "age, job, when"
    assert re.fullmatch(
        rf"POST http://127.0.0.1:\d+/decide \({taken}\) returns no, yes, ask; "
        r"see http://127.0.0.1:\d+/docs\n",
        capsys.readouterr().out,
    )


@pytest.mark.parametrize("name", ["missing.onnx", "model.h5", "model.joblib"])
def test_what_is_no_model(name, tmp_path, capsys):
    joblib.dump(LogisticRegression(), tmp_path / "model.joblib")
    assert main(["serve", str(tmp_path / name)]) == 2
    assert name in (told := capsys.readouterr().err) and told.startswith("csdl-keras: ")
