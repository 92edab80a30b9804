"""What importing and calling plots does to the rest of the process."""

from tests.support.fresh_process import run_python

CODE = """
import sys
import keras, matplotlib
# Keras imports it; from here on nobody can.
sys.modules["matplotlib.pyplot"] = None
before = dict(matplotlib.rcParams)
import csdl_keras
print("csdl_keras.plots" in sys.modules)
import csdl_keras.plots as plots
for axes in (
    plots.beta_curve([0, 1], [[1.0, 2.0], [1.0, 3.0]]),
    plots.cost_against([1, 2], [3, 4], "depth"),
    plots.cost_against_threshold([0, 1], [0.2, 0.7], [[0, 1], [9, 0]]),
    plots.cost_confusion([0, 1], [0, 0], [[0, 1], [9, 0]]),
    plots.cost_matrix_heatmap([[0, 1], [9, 0]]),
    plots.risk_coverage([0, 1], [[0.5, 0.9], [0.8, 0.1]], [[0, 1], [9, 0]]),
):
    axes.figure.savefig("/dev/null", format="png")
print(dict(matplotlib.rcParams) == before, sys.modules["matplotlib.pyplot"])
"""


class TestImport:
    def test_no_pyplot_and_no_global_setting(self):
        assert run_python(CODE).split() == ["False", "True", "None"]

    def test_without_matplotlib(self):
        code = (
            "import sys\nsys.modules['matplotlib'] = None\nimport csdl_keras\n"
            "try:\n    import csdl_keras.plots\n"
            "except ModuleNotFoundError as error:\n    print(error)"
        )
        assert "pip install 'csdl_keras[compare]'" in run_python(code)
