"""What importing and calling plots does to the rest of the process."""

from tests.support.fresh_process import run_python

CODE = """
import sys
import keras, matplotlib
# Keras imports pyplot; from here on the import fails.
sys.modules["matplotlib.pyplot"] = None
before = dict(matplotlib.rcParams)
import csdl_keras
print("csdl_keras.plots" in sys.modules)
module, sys.modules["matplotlib"] = matplotlib, None
try:
    import csdl_keras.plots
except ModuleNotFoundError as error:
    print("pip install 'csdl_keras[compare]'" in str(error))
sys.modules["matplotlib"] = module
from tests.plots.arguments_test import CALLS
for draw in CALLS.values():
    draw().figure.savefig("/dev/null", format="png")
print(dict(matplotlib.rcParams) == before, sys.modules["matplotlib.pyplot"])
"""


def test_no_pyplot_no_global_setting_and_an_error_without_matplotlib():
    assert run_python(CODE).split() == ["False", "True", "True", "None"]
