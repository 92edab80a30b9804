import math
import pathlib

import pytest

import csdl_keras
from csdl_keras._utils.optional import check_installed, optional_module
from tests.support.fresh_process import REPOSITORY, run_python

# Of setup.cfg: a package by its module, and what installs it.
OPTIONAL = {
    "distributed": "dask",
    "matplotlib": "compare",
    "mlxtend": "compare",
    "onnx": "export",
    "skimage": "compare",
    "tf2onnx": "export",
}
# As for a package that is not installed: importing it raises, `find_spec` finds nothing.
BLOCK = """
import sys
sys.modules[{package!r}] = None
"""
# What the public functions do that need more than the package's own requirements.
USES = """
import csdl_keras as csdl, numpy as np
import keras, tempfile, os
from csdl_keras.datasets.bg_img_rot_synthetic import photographs
matrix = [[0, 1], [5, 0]]
network = csdl.models.mlp((4,), 2, (3,))
folder = tempfile.mkdtemp()
uses = {
    "plots": lambda: csdl.plots.cost_matrix_heatmap(matrix),
    "tuning": lambda: csdl.tuning.Range,
    "mnist_5k": lambda: csdl.datasets.load("mnist_5k"),
    "pictures": photographs,
    "onnx": lambda: csdl.export(network, os.path.join(folder, "a.onnx"), "onnx"),
    "tfds": lambda: csdl.datasets.load("mnist", data_dir=folder),
}
for name, use in uses.items():
    try:
        use()
    except ModuleNotFoundError as error:
        print(name, "|", error)
    except (ValueError, AttributeError):
        pass
"""

# An algorithm of every kind, by what is not Keras in it.
TRAIN = """
import csdl_keras as csdl, numpy as np
x, y = np.random.default_rng(0).random((30, 4)), np.arange(30) % 2
settings = csdl.Settings().replace({"mlp.hidden_units": (3,)}).limit_epochs(1)
for name in ("csosr", "calibrated_bayes", "cost_model", "csdnn"):
    model = csdl.train(
        name, x, y, [[0, 1], [5, 0]], validation_data=(x, y), settings=settings, verbose=0
    )
    print(name, csdl.decide(model, x).shape)
table = csdl.evaluation.cost_report({name: y}, y, [[0, 1], [5, 0]])
csdl.sklearn.CostSensitiveClassifier, csdl.tuning.BayesianOptimization
print(csdl.datasets.load("digits", train_size=100).x_train.shape)
"""


class TestOptionalModule:
    def test_what_is_installed(self):
        assert optional_module("math", "compare") is math

    @pytest.mark.parametrize("name", ["no_such_module", "no_such_package.module"])
    def test_what_is_missing(self, name):
        for call in (optional_module, check_installed):
            with pytest.raises(ModuleNotFoundError) as caught:
                call(name.partition(".")[0] if call is check_installed else name, "compare")
            message = str(caught.value)
            assert repr(name.partition(".")[0])[:-1] in message
            assert "pip install 'csdl_keras[compare]'" in message
            assert caught.value.name == name.partition(".")[0]

    def test_without_an_extra(self):
        with pytest.raises(ModuleNotFoundError, match="pip install no_such_module$"):
            optional_module("no_such_module")

    def test_what_an_installed_module_lacks(self, tmp_path, monkeypatch):
        (tmp_path / "half_there.py").write_text("import no_such_dependency")
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(ModuleNotFoundError, match="module 'no_such_dependency'"):
            optional_module("half_there", "compare")


def test_every_extra_exists():
    """No message names an extra that setup.cfg has not."""
    setup = (REPOSITORY / "setup.cfg").read_text()
    extras = setup[setup.index("[options.extras_require]") :]
    for path in pathlib.Path(csdl_keras.__file__).parent.rglob("*.py"):
        for line in path.read_text().splitlines():
            for call in ("optional_module(", "check_installed("):
                arguments = line.partition(call)[2].partition(")")[0].split(", ")
                if len(arguments) == 2 and arguments[1].startswith('"'):
                    assert f"\n{arguments[1][1:-1]} =\n" in extras, line


@pytest.mark.parametrize(
    "package",
    [
        pytest.param(package, marks=() if package == "mlxtend" else pytest.mark.slow)
        for package in [*OPTIONAL, "keras_tuner", "tensorflow_datasets"]
    ],
)
def test_without_a_package(package):
    """The package imports, and what needs more says what to install."""
    said = run_python(BLOCK.format(package=package) + USES).splitlines()
    if package in OPTIONAL:
        command = f"pip install 'csdl_keras[{OPTIONAL[package]}]'"
    else:
        command = f"pip install {package.replace('_', '-')}"
    for line in said:
        assert command in line and f"'{package}" in line, line
    if package in ("mlxtend", "skimage", "matplotlib", "tf2onnx", "keras_tuner"):
        assert said


@pytest.mark.slow
def test_a_plain_installation_trains():
    """Every kind of algorithm runs without the packages of the extras."""
    hidden = "".join(BLOCK.format(package=package) for package in OPTIONAL)
    printed = run_python(hidden + TRAIN).split("\n")
    assert [line.partition(" ")[0] for line in printed[-6:-2]] == [
        *("csosr", "calibrated_bayes", "cost_model", "csdnn")
    ]
