import functools
import importlib
import json
import pathlib
import sys
import threading
import types

import keras
import numpy as np
import pytest

from csdl_keras.training.descriptions import describe
from tests.support.fresh_process import run_python

HELPERS = types.ModuleType("helpers")
exec("factor = 2\ndef times(x):\n    return x * factor", HELPERS.__dict__)


def loss(costs, outputs):
    return HELPERS.times(costs) - keras.ops.abs(outputs)


#: What a class may contain, by its name: functions of the number that it returns.
CONTENTS = {
    "size": lambda number: number,
    "plain": lambda number: lambda self: number,
    "static": lambda number: staticmethod(lambda: number),
    "of_class": lambda number: classmethod(lambda cls: number),
    "computed": lambda number: property(lambda self: number),
    "kept": lambda number: functools.cached_property(lambda self: number),
    "remembered": lambda number: functools.lru_cache(lambda self: number),
}
Parts = type("Parts", (), {name: make(1) for name, make in CONTENTS.items()})


class TestDescribe:
    @pytest.mark.parametrize("name", CONTENTS)
    def test_every_part_of_a_class(self, name, monkeypatch):
        before = describe(Parts), describe(Parts())
        monkeypatch.setattr(Parts, name, CONTENTS[name](2))
        assert describe(Parts) != before[0] and describe(Parts()) != before[1]
        monkeypatch.undo()
        assert (describe(Parts), describe(Parts())) == before

    @pytest.mark.parametrize("folder", ["lib/python3/dist-packages", "home/site-packages"])
    def test_packages_of_the_system_are_installed_too(self, monkeypatch, folder):
        monkeypatch.setitem(sys.modules, "helpers", HELPERS)
        monkeypatch.setattr(HELPERS, "__file__", f"/{folder}/helpers.py", raising=False)
        monkeypatch.setattr(HELPERS, "__version__", "1.2", raising=False)
        monkeypatch.setattr(HELPERS.times, "__module__", "helpers")
        assert describe(HELPERS.times) == "helpers.times 1.2"
        monkeypatch.setattr(HELPERS, "__file__", "/home/user/helpers.py")
        assert describe(HELPERS.times).startswith("helpers.times ")
        assert describe(HELPERS.times) != "helpers.times 1.2"

    def test_what_a_function_refers_to(self, monkeypatch):
        before = describe(loss)
        monkeypatch.setattr(HELPERS, "factor", 3)
        after = describe(loss)
        assert after != before
        monkeypatch.setattr(HELPERS, "times", lambda x: x)
        assert describe(loss) not in (before, after)

    @pytest.mark.parametrize(
        "values",
        [
            (1, 2, 1.5, float("nan"), "1", None, True, b"1", 1j, ...),
            ([1, 2], [2, 1], {1, 2, 3}, {1: 2}, {2: 1}),
            (np.arange(3), np.arange(3.0), np.arange(4), np.float32(2)),
            (functools.partial(loss, 1), functools.partial(loss, 2)),
            (keras.initializers.Constant(1), keras.initializers.Constant(2)),
            (keras.losses.Huber, keras.losses.Huber(2.0), keras.losses.Huber(3.0)),
            (lambda x: x, lambda x: x + 1, lambda x, y=2: x, lambda x, y=3: x),
        ],
    )
    def test_values_that_differ(self, values):
        texts = [json.dumps(describe(value), sort_keys=True) for value in values]
        assert len(set(texts)) == len(texts)
        assert texts == [json.dumps(describe(value), sort_keys=True) for value in values]

    def test_functions_that_refer_to_each_other(self):
        def even(n):
            return n == 0 or odd(n - 1)

        def odd(n):
            return n != 0 and even(n - 1)

        assert describe(even) == describe(even) != describe(odd)

    def test_what_has_no_contents(self):
        with pytest.raises(ValueError, match="can be told from others; received <unlocked"):
            describe({"a": [threading.Lock()]})

    @pytest.mark.parametrize("folder", ["site-packages", "dist-packages", "target", "project"])
    @pytest.mark.parametrize("file", ["module.py", "package/__init__.py"])
    def test_a_package_is_described_by_its_version_wherever_it_is_installed(
        self, folder, file, tmp_path, monkeypatch
    ):
        kind = pathlib.PurePath(file).parts[0].removesuffix(".py")
        name = f"{kind}_in_{folder.partition('-')[0]}"
        path = tmp_path / folder / file.replace(kind, name)
        path.parent.mkdir(parents=True)
        if folder == "target":
            (tmp_path / folder / f"{name}-1.2.dist-info").mkdir()
        path.write_text("__version__ = '1.2'\ndef function(): return 1\n")
        monkeypatch.syspath_prepend(str(tmp_path / folder))
        described = describe(importlib.import_module(name).function)
        assert (described == f"{name}.function 1.2") == (folder != "project")

    @pytest.mark.slow
    def test_another_process_describes_alike(self):
        printed = run_python(
            "import json; from tests.training import descriptions_test as t;"
            "print('\\n' + json.dumps(t.describe([t.loss, t.Parts, {'b', 'a', 'c'}])))"
        )
        assert json.loads(printed.splitlines()[-1]) == describe([loss, Parts, {"a", "b", "c"}])
