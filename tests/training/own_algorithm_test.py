"""Bodies, pre-trainings and objectives of one's own run wherever an algorithm does."""

import dataclasses
import threading

import keras
import pytest

import csdl_keras as csdl
from csdl_keras.training import Algorithm, Body, Objective, Pretraining
from tests.support.trainers import DATA, MATRICES, VALIDATION, make_trainer
from tests.support.weights import assert_same_weights

X, Y, C = DATA.x_train, DATA.y_train, MATRICES[0]


def squared(costs, outputs):
    return keras.ops.mean(keras.ops.square(costs - outputs), axis=-1)


squared.version = 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Narrow(Body):
    units: int = 4
    can_pretrain = True
    version = 1

    def build(self, x, num_outputs, output, seed):
        return csdl.models.mlp(x.shape[1:], num_outputs, (self.units,), output=output, seed=seed)


class Halved(Pretraining):
    """Halves the weights of hidden layers."""

    version = 1

    def run(self, model, x, costs, **others):
        for layer in self.layers(model):
            layer.set_weights([array / 2 for array in layer.get_weights()])


BODY = Narrow(epochs=2, min_steps=1)
TOY = Algorithm(
    "toy", "Toy", BODY, Halved(sees="inputs"), Objective("squared", squared), "argmin", False
)


class TestWhereItRuns:
    def test_train_and_the_estimator(self, run_eagerly):
        model = csdl.train(TOY, X, Y, C, VALIDATION, seed=0)
        assert csdl.decide(model, DATA.x_test).shape == DATA.y_test.shape
        estimator = csdl.sklearn.CostSensitiveClassifier(TOY, C, random_state=0)
        flat = X.reshape(len(X), -1)
        assert estimator.fit(flat, Y).predict_cost(flat).shape == (len(X), 10)

    def test_costs_of_examples_and_a_cache(self, run_eagerly, tmp_path):
        first = make_trainer(cache=csdl.StageCache(tmp_path)).train(TOY, C)
        again = make_trainer(cache=csdl.StageCache(tmp_path)).train(TOY, C)
        assert again.seconds == first.seconds
        assert_same_weights(first.model, again.model)
        own = make_trainer(costs=C[Y]).train(TOY)
        assert_same_weights(own.model, first.model, rtol=1e-4, atol=1e-5)

    def test_tune(self, run_eagerly, tmp_path):
        hyper_model = csdl.tuning.CSDNNHyperModel(X.shape[1:], C, TOY, optimizer="sgd")
        tuner = csdl.tuning.RandomSearch(hyper_model, max_trials=1, directory=str(tmp_path))
        tuner.search(X, Y, validation_data=VALIDATION, epochs=1, verbose=0)
        (trial,) = tuner.oracle.trials.values()
        assert trial.status == "COMPLETED"
        assert csdl.output_kind(hyper_model.classifier(tuner.get_best_models()[0])) == "cost"


def other_squared(version):
    """A function of the name of `squared`, of another version."""

    def squared(costs, outputs):
        return 2 * keras.ops.mean(keras.ops.square(costs - outputs), axis=-1)

    squared.__module__, squared.__qualname__, squared.version = __name__, "squared", version
    return squared


def other(kind):
    """A class of the same name, of another version."""
    return type(kind.__name__, (kind,), {"__module__": __name__, "version": 2})


class TestKeys:
    def keys(self, **change):
        stages = make_trainer().stages(dataclasses.replace(TOY, **change), C)
        return {name: csdl.StageCache.key(stage) for name, stage in stages.items()}

    @pytest.mark.parametrize(
        ("change", "stages"),
        [
            ({"name": "other"}, []),
            ({"training": Objective("squared", other_squared(2))}, ["training"]),
            ({"training": Objective("squared", squared, unit="mean")}, ["training"]),
            ({"body": dataclasses.replace(BODY, units=5)}, ["pretraining", "training"]),
            ({"body": dataclasses.replace(BODY, learning_rate=0.1)}, ["pretraining", "training"]),
            ({"body": other(Narrow)(epochs=2, min_steps=1)}, ["pretraining", "training"]),
            ({"pretraining": Halved(sees="errors")}, ["pretraining", "training"]),
            ({"pretraining": other(Halved)(sees="inputs")}, ["pretraining", "training"]),
        ],
    )
    def test_objects_of_one_name_share_no_stage(self, change, stages):
        before, after = self.keys(), self.keys(**change)
        assert [name for name in before if before[name] != after[name]] == stages

    def test_equal_versions_share_their_stages(self):
        twice = [Objective("squared", other_squared(version)) for version in (1, 2, 2)]
        keys = [self.keys(training=it)["training"] for it in twice]
        assert keys[0] == self.keys()["training"] and keys[1] == keys[2] != keys[0]


class TestRefused:
    def test_objects_that_no_process_can_be_sent(self):
        body = dataclasses.replace(BODY)
        object.__setattr__(body, "lock", threading.Lock())
        with pytest.raises(ValueError, match="with several jobs; received .*cannot be pickled"):
            make_trainer(jobs=2).train(dataclasses.replace(TOY, body=body), C)

    @pytest.mark.parametrize(
        ("name", "value"),
        [("name", 3), ("loss", 3), ("output", "logit"), ("unit", "sum"), ("link", "exp")]
        + [("predictions", ("argmax",)), ("searched", ("beta",)), ("on_costs", 1)],
    )
    def test_objectives(self, name, value):
        with pytest.raises(ValueError, match=f"Expected `{name}`"):
            Objective(**{"name": "squared", "loss": squared, name: value})

    def test_other_decisions(self):
        able = Objective("squared", squared, other_decisions=True)
        matrix = csdl.costs.with_abstain(C, 0.5)
        model = make_trainer().train(dataclasses.replace(TOY, training=able), matrix).model
        assert model.output_shape == (None, 11)
