import functools
import json
import subprocess
import sys
import threading
import types

import keras
import numpy as np
import pytest

from csdl_keras.training.descriptions import describe
from tests.support.fresh_process import REPOSITORY

HELPERS = types.ModuleType("helpers")
exec("factor = 2\ndef times(x):\n    return x * factor", HELPERS.__dict__)


def loss(costs, outputs):
    return HELPERS.times(costs) - keras.ops.abs(outputs)


class Parts:
    size = 3

    def plain(self):
        return 1

    @staticmethod
    def static():
        return 1

    @classmethod
    def of_class(cls):
        return 1

    @property
    def computed(self):
        return 1

    @functools.cached_property
    def kept(self):
        return 1

    @functools.lru_cache  # noqa: B019
    def remembered(self):
        return 1


OTHERS = {
    "size": 4,
    "plain": lambda self: 2,
    "static": staticmethod(lambda: 2),
    "of_class": classmethod(lambda cls: 2),
    "computed": property(lambda self: 2),
    "kept": functools.cached_property(lambda self: 2),
    "remembered": functools.lru_cache(lambda self: 2),
}


class TestDescribe:
    @pytest.mark.parametrize("name", OTHERS)
    def test_every_part_of_a_class(self, name, monkeypatch):
        before = describe(Parts), describe(Parts())
        monkeypatch.setattr(Parts, name, OTHERS[name])
        assert describe(Parts) != before[0] and describe(Parts()) != before[1]
        monkeypatch.undo()
        assert (describe(Parts), describe(Parts())) == before

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

    def test_another_process_describes_alike(self):
        code = (
            "import json; from tests.training import descriptions_test as t;"
            "print('\\n' + json.dumps(t.describe([t.loss, t.Parts, {'b', 'a', 'c'}])))"
        )
        process = [sys.executable, "-c", code]
        found = subprocess.run(process, cwd=REPOSITORY, capture_output=True, text=True, check=True)
        assert json.loads(found.stdout.splitlines()[-1]) == describe([loss, Parts, {"a", "b", "c"}])
