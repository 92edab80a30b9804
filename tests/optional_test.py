import math

import pytest

from csdl_keras._optional import optional_module


class TestOptionalModule:
    def test_what_is_installed(self):
        assert optional_module("math", "compare") is math

    @pytest.mark.parametrize("name", ["no_such_module", "no_such_package.module"])
    def test_what_is_missing(self, name):
        with pytest.raises(ModuleNotFoundError) as caught:
            optional_module(name, "compare")
        message = str(caught.value)
        assert repr(name) in message
        assert "pip install 'csdl_keras[compare]'" in message
        assert caught.value.name == name.partition(".")[0]
