"""The last line of `compare` and `tune` where nothing costs less than a constant decision."""

import json

import numpy as np
import pytest

from csdl_keras.experiments.reporting.render import read_contents, render_page
from csdl_keras_cli.main import main
from tests.experiments.own_tables import FRAME


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """A table whose columns say nothing of its labels, and costs; arguments of a command."""
    folder = tmp_path_factory.mktemp("noise")
    labels = np.random.default_rng(3).choice(["exaggerated", "fair"], len(FRAME), p=[0.7, 0.3])
    path = folder / "claims.csv"
    FRAME.assign(answer=labels)[["id", "age", "job", "answer"]].to_csv(path, index=False)
    costs = folder / "costs.csv"
    costs.write_text(",exaggerated,fair\nexaggerated,0,90\nfair,60,0\n")
    files = ["--data", str(path), "--cost-matrix", str(costs)]
    return [*files, "--label", "answer", "--drop", "id", "--epochs", "1"]


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "--algorithms", "dnn_bayes,dnn_sosr", "--jobs", "1"],
        ["compare", "--algorithms", "dnn_blind", "--jobs", "1"],
        "tune --max-trials 1 --pretraining-epochs 1 --depth 1 --units 4".split(),
        "tune --algorithm dnn_bayes --max-trials 1 --depth 1 --units 4".split(),
    ],
    ids=["compare", "compare one", "tune", "tune dnn_bayes"],
)
def test_the_last_line_and_the_record(command, noise, tmp_path, capsys):
    assert main([*command, *noise, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    last = printed.strip().splitlines()[-1]
    assert "beyond chance" in last and "always deciding exaggerated" in last
    exec(printed[printed.index("import keras") :], {})  # The line is a comment of the code.
    record = json.loads((tmp_path / "run.json").read_text())
    found = record.get("runs", [record])[-1]["findings"]
    assert last == f"# {found['warning']}"
    for saving in found["savings"].values():
        assert saving["constant_decision"] == "exaggerated"
        assert saving["saved_low"] <= saving["saved"] <= saving["saved_high"]
        assert saving["saved_low"] <= 0
    if command[0] == "compare":
        told = " ".join(printed.split())
        assert "best constant decision: exaggerated" in told and "against the best" in told
        assert "Nothing here costs less" in render_page(read_contents(tmp_path))
