"""Tiny networks train faster eagerly."""

import pytest

from tests.support.eager import eager_models


@pytest.fixture(autouse=True, scope="module")
def _quickly(request):
    if request.module.__name__.endswith("golden_test"):
        yield
        return
    with eager_models():
        yield
