"""Help, the version and wrong arguments need no Keras, and other libraries stay silent."""

import json
import os
import subprocess
import sys

import pytest

import csdl_keras as csdl
from csdl_keras_cli.main import main
from tests.cli.own_files import FRAME, save
from tests.support.fresh_process import REPOSITORY, run_python

RUN = """
import contextlib, io, json, sys
from csdl_keras_cli.main import main
answers = []
for arguments in json.loads(sys.argv[1]):
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = main(arguments)
        except SystemExit as exit:
            status = exit.code
    answers.append((output.getvalue(), errors.getvalue(), status))
heavy = {"csdl_keras", "keras", "numpy", "pandas", "sklearn", "tensorflow"} & set(sys.modules)
assert not heavy, heavy
print(json.dumps(answers))
"""
HELP = {
    "": "compare",
    **{name: f"usage: csdl-keras {name}" for name in ("compare", "decide", "serve")},
}
WRONG = {
    "compare --algorithms csdnm": "Did you mean 'csdnn'?",
    "tune --algorithm csdnm": "invalid choice: 'csdnm' (choose from",
    "compare --cost-seeds 0": "must be 1 to 2**32 - 1; received '0'",
    f"compare --seed {2**32}": f"received '{2**32}'",
    "compare --label x": "--label applies to .csv or .parquet or .npz only; received --dataset.",
    "compare --data nowhere.csv --label x": "there is no file or folder nowhere.csv",
    "compare --data {csv}": "--label is missing. Name the column or array of labels in",
    "compare --data {csv} --label x --train-size 9": "--train-size applies to --dataset only",
    "table2 --datasets ,": "must be names separated by commas; received ','",
    "compare --data {npz} --label x --split-by y": ".csv or .parquet only; received .npz",
    "compare --data {csv} --label x --split-by y --split-by z": "name one column each",
    "compare --data {csv} --label x --date-format when": "--date-format must be COLUMN=FORMAT; r",
    "compare --data {csv} --label x --cost-columns y --cost z": "--cost cannot be combined with",
    "compare --data {csv} --label x --cost-columns y --known-costs z": "not allowed with argument",
    "compare --data {xlsx} --label x": ".parquet or .npz file or a folder of images, not",
    "export {csv} model.h5": "must end in .onnx, .tflite or .xml, or have no suffix",
}


def test_answers_without_the_package(tmp_path):
    files = {name: tmp_path / f"a.{name}" for name in ("csv", "xlsx", "npz")}
    for path in files.values():
        path.write_text("a,b\n1,2\n")
    wrong = [it.format(**files, folder=tmp_path).split() for it in WRONG]
    calls = [["--version"], *([*name.split(), "--help"] for name in HELP), *wrong]
    command = [sys.executable, "-c", RUN, json.dumps(calls)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert not done.returncode, done.stderr
    version, *answers = json.loads(done.stdout)
    assert version == [f"{csdl.__version__}\n", "", 0]
    for told, (output, errors, status) in zip(HELP.values(), answers, strict=False):
        assert told in output and not errors and status == 0
    for told, (_, errors, status) in zip(WRONG.values(), answers[len(HELP) :], strict=True):
        assert told in errors and status == 2 and "Traceback" not in errors


def test_lines_of_native_code_do_not_reach_the_terminal():
    """They are written to the stream by its number, as TensorFlow does when it is imported."""
    code = (
        "import os, subprocess, sys\n"
        "from csdl_keras_cli.output import tolerant_output\n"
        "with tolerant_output():\n"
        "    os.write(2, b'native\\n')\n"
        "    subprocess.run([sys.executable, '-c', 'import sys; print(1, file=sys.stderr)'])\n"
        "    print('own', file=sys.stderr)\n"
        "os.write(2, b'later\\n')"
    )
    for level, told in (("3", "own\nlater\n"), ("0", "native\n1\nown\nlater\n")):
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": level, "PYTHONPATH": str(REPOSITORY)}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.stderr == told


@pytest.mark.parametrize("command", ["compare", "tune", "table2"])
def test_missing_optional_packages_are_named(command, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main([command]) == 2
    assert "pip install 'csdl_keras[compare]'" in capsys.readouterr().err


def test_columns_need_numpy_alone():
    """The command reads tables by them, and serves files, without Keras."""
    heavy = "{'csdl_keras', 'keras', 'pandas', 'sklearn'} & set(sys.modules)"
    assert run_python(f"import sys, csdl_keras_cli.columns; print({heavy})") == "set()\n"


#: Runs the command on one list of arguments after the other, and ends each with the first row.
FIRST_ROW = """
import json, sys, threading
from csdl_keras_cli.main import main
from csdl_keras_cli.progress import Lines
start, row = threading.Thread.start, Lines.row

def start_others(self):
    if tuple(self._args) != ("keras",):
        start(self)

def first_row(self, comparison):
    row(self, comparison)
    raise KeyboardInterrupt

# Keras is imported meanwhile, which says nothing of what the row needs.
threading.Thread.start, Lines.row = start_others, first_row
for arguments in ARGUMENTS:
    print("status", main(arguments), flush=True)
    sys.stderr.flush()
assert not {"csdl_keras", "keras", "tensorflow"} & set(sys.modules)
"""
WRONG_DATA = {
    "--label anwser": "Did you mean 'answer'?",
    "--label price_no": "Each label in 'price_no' needs at least 3 examples",
    "--label answer --split-by job": "--split-by 'job' must contain dates or numbers",
    "--label answer --group member": "at least 5 groups; received 2.",
    "--label answer --today age": "which is not among the decisions no, yes",
    "--label answer --known-costs age,id": "Column 'age' has nan in row 3",
    "--label answer --cost-matrix {costs}": "rows and columns of {costs} are named",
    "--label answer --algorithms cnn_bayes": "'cnn_bayes' has a convolutional network and needs",
    "--label answer --known-costs id,member --algorithms csdnn": "known when deciding",
}


def test_the_first_row_and_errors_of_data_come_without_keras(tmp_path):
    path, costs = save(FRAME, tmp_path / "table.csv"), tmp_path / "costs.csv"
    costs.write_text("0,1,2\n1,0,2\n1,2,0\n")
    base = ["compare", "--data", str(path), "--out"]
    right = ["--label", "answer", "--known-costs", "price_no,price_yes"]
    calls = [[*base, str(tmp_path / "right"), *right]]
    calls += [[*base, str(tmp_path / "new"), *it.format(costs=costs).split()] for it in WRONG_DATA]
    code = FIRST_ROW.replace("ARGUMENTS", repr(calls))
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert not done.returncode, done.stderr
    first, *others = done.stdout.split("status ")
    assert "\nalways " in first and "Costs" not in first.splitlines()[0]
    assert [it.strip() for it in others] == ["130", *["2"] * len(WRONG_DATA)]
    errors = done.stderr.splitlines()
    for told, error in zip(WRONG_DATA.values(), errors, strict=True):
        assert told.format(costs=costs) in error
    assert not (tmp_path / "new").exists()
