"""The names of the command line are those of the package."""

import pytest

from csdl_keras.paper.profiles import PROFILES
from csdl_keras.training import EFFORTS, CaffeCNN
from csdl_keras.training.algorithms import ALGORITHMS, PAPER_ALGORITHMS, get_algorithm
from csdl_keras_cli import choices
from csdl_keras_cli.baselines import _MADE
from csdl_keras_cli.main import COMMANDS, build_parser


def test_names():
    assert [get_algorithm(name).name for name in choices.ALIASES] == ["csdnn"]
    names = choices.PAPER_ALGORITHMS
    assert names == PAPER_ALGORITHMS and choices.EFFORTS == tuple(EFFORTS)
    assert (*names, *choices.OTHER_ALGORITHMS) == tuple(ALGORITHMS)
    assert {*choices.BY_SPEED} == {*ALGORITHMS}
    assert choices.OF_LABELS == tuple(it for it in ALGORITHMS if ALGORITHMS[it].shares_training)
    assert {*choices.PACKAGED} < {*names}
    images = [name for name in ALGORITHMS if get_algorithm(name).body_kind.takes_images]
    assert {*choices.OF_IMAGES} == {*images}
    arrays = [name for name in ALGORITHMS if not get_algorithm(name).body_kind.is_network]
    assert {*choices.OF_ARRAYS} == {*arrays}
    assert choices.PROFILES == (*PROFILES,)
    for variant in choices.CNN_VARIANTS:
        CaffeCNN(variant=variant)
    assert (*_MADE,) == choices.BASELINES


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name, capsys):
    with pytest.raises(SystemExit, match="0"):
        build_parser().parse_args([name, "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert COMMANDS[name].DESCRIPTION.split(".")[0] in printed
    assert name != "compare" or all(algorithm in printed for algorithm in ALGORITHMS)
