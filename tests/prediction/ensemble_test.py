import keras
import numpy as np
import pandas
import pytest
from keras import layers

from csdl_keras import adjust_priors, bayes_classifier, calibrate, output_kind
from csdl_keras._utils.data_model import with_data
from csdl_keras.layers import CostOutput
from csdl_keras.models import ensemble, mlp, tabular
from tests.support.small_models import FEATURES, functional, inputs, sequential
from tests.support.testing import TestCase

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
X = inputs(20)


def members(number=3, **kwargs):
    return [mlp((FEATURES,), 3, (8,), "tanh", seed=seed, **kwargs) for seed in range(number)]


class TestEnsemble(TestCase):
    @pytest.mark.parametrize(
        "models,output",
        [
            (members(1), "probability"),
            (members(3, output="cost"), "cost"),
            (
                [make([layers.Dense(3, "softmax")]) for make in (functional, sequential)],
                "probability",
            ),
        ],
    )
    def test_the_mean_of_its_members(self, models, output):
        expected = np.mean([model.predict(X, verbose=0) for model in models], axis=0)
        together = ensemble(models)
        assert output_kind(together) == output
        self.assertAllClose(together.predict(X, verbose=0), expected)

    @pytest.mark.parametrize(
        "models,match",
        [
            ([], "`members` is empty"),
            ([*members(1), functional([layers.Dense(2, "softmax")])], "differ in the shapes"),
            ([keras.Model(x := keras.Input((3,)), [x, CostOutput(3)(x)])], "2 outputs"),
        ],
    )
    def test_errors(self, models, match):
        with pytest.raises(ValueError, match=match):
            ensemble(models)


def named(*classes):
    (model,) = members(1)
    return with_data(model, classes=np.array(classes))


def framed(**columns):
    return tabular(pandas.DataFrame(columns), 3, (4,), seed=0)


def in_units(unit, output="cost"):
    (model,) = members(1, output=output)
    return with_data(model, unit=unit)


def careful(matrix=MATRIX, prices=None, **arguments):
    (model,) = members(1)
    made = bayes_classifier(model, matrix, **arguments)
    if prices is not None:
        made.set_cost_matrix(prices)
    return made


def adjusted(*priors, then=lambda model: model):
    (model,) = members(1)
    return then(adjust_priors(model, [1, 1, 1], priors))


def calibrated(model):
    return calibrate(model, X, np.arange(len(X)) % 3)


#: Members that have nothing to average, by what they differ in.
DIFFERENT = {
    "names": lambda: (named("a", "b", "c"), named("b", "c", "z")),
    "order of names": lambda: (named("a", "b", "c"), named("b", "a", "c")),
    "no names": lambda: (named("a", "b", "c"), members(1)[0]),
    "names of the last": lambda: (*members(2), named("a", "b", "c")),
    "columns": lambda: (framed(a=[1, 2], b=[3, 4]), framed(a=[1, 2], c=[3, 4])),
    "order of columns": lambda: (framed(a=[1, 2], b=[3, 4]), framed(b=[3, 4], a=[1, 2])),
    "categories": lambda: (framed(a=["x", "y"]), framed(a=["x", "z"])),
    "unit": lambda: (in_units(9.0), in_units(90.0)),
    "unit and none": lambda: (in_units(9.0), members(1, output="cost")[0]),
    "matrix that was set": lambda: (careful(), careful(prices=MATRIX.T)),
    "mean costs": lambda: (careful(), careful(mean_costs=True)),
    "frequencies and none": lambda: (adjusted(1, 2, 3), members(1)[0]),
    "frequencies, calibrated": lambda: (
        adjusted(1, 2, 3, then=calibrated),
        calibrated(*members(1)),
    ),
    "kind": lambda: (members(1)[0], careful()),
}


@pytest.mark.parametrize("difference", DIFFERENT)
def test_members_that_differ_are_refused(difference, tmp_path, tried):
    models = DIFFERENT[difference]()
    with pytest.raises(ValueError, match="The members differ in"):
        ensemble(models)
    for index, model in enumerate(models):
        model.save(tmp_path / f"{index}.keras")
    models = [keras.saving.load_model(tmp_path / f"{i}.keras") for i in range(len(models))]
    with pytest.raises(ValueError, match="The members differ in"):
        ensemble(models)
    tried("differences of members", 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: framed(a=["x", "y"], b=[1, 2]),
        lambda: in_units(9.0),
        lambda: adjusted(1, 2, 3, then=calibrated),
        lambda: with_data(careful(), classes=np.array(["a", "b", "c"])),
    ],
)
def test_what_members_share_is_kept(make, tmp_path):
    together = ensemble([make(), make()])
    together.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    one = make()
    for model in (together, loaded):
        for name in ("classes", "unit"):
            np.testing.assert_array_equal(getattr(model, name, None), getattr(one, name, None))
        rows = pandas.DataFrame({"a": ["y"], "b": [3]}) if one.name == "tabular" else X
        found, expected = (it.predict(rows, verbose=0) for it in (model, one))
        np.testing.assert_allclose(found, expected, rtol=1e-5)
