import math
import pathlib

import pytest

import csdl_keras
from csdl_keras_cli.optional import check_installed, optional_module
from tests.support.fresh_process import REPOSITORY


class TestOptionalModule:
    def test_what_is_installed(self):
        assert optional_module("math", "compare") is math

    @pytest.mark.parametrize("name", ["no_such_module", "no_such_module.part"])
    def test_what_is_missing(self, name):
        message = "no_such_module is not installed. Run: pip install 'csdl_keras.compare.'"
        for call in (optional_module, check_installed):
            with pytest.raises(ModuleNotFoundError, match=message) as caught:
                call(name, "compare")
            assert caught.value.name == "no_such_module"

    def test_what_an_installed_module_lacks(self, tmp_path, monkeypatch):
        (tmp_path / "half_there.py").write_text("import no_such_dependency")
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_dependency'"):
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
