"""Commands and grids train tiny networks eagerly, which takes less time than compiling them."""

import pytest

from tests.support.eager import eager_models

#: Modules whose commands train as those of a user do.
COMPILED = ("cli_test", "tiny_test")


@pytest.fixture(autouse=True, scope="module")
def _quickly(request):
    if request.module.__name__.rpartition(".")[2] in COMPILED:
        yield
        return
    with eager_models():
        yield
