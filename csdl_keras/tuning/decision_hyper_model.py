"""The search space of the decision of a trained classifier."""

from typing import Any

import keras
import keras_tuner

from csdl_keras._utils.checks import check_choice
from csdl_keras._utils.structure import inputs_of
from csdl_keras.costs import check_cost_matrix, zero_one
from csdl_keras.layers import BayesDecision, ClassProbabilities, TemperatureScaling
from csdl_keras.losses import expected_cost
from csdl_keras.metrics import AverageCost
from csdl_keras.models import bayes_classifier
from csdl_keras.tuning._same_search import check_same_trial
from csdl_keras.tuning._search_data import check_search_data
from csdl_keras.tuning.algorithm_hyper_model import check_positive
from csdl_keras.tuning.space import Range, Space, check_space, declare

_TEMPERATURE = Range(0.25, 4.0, sampling="log")


class DecisionHyperModel(keras_tuner.HyperModel):
    """Searches how a trained classifier decides: the rule, and the temperature before it.

    Nothing is trained: a trial scores the classifier's probabilities, softened or
    sharpened by a temperature, with the Bayes decision or the argmax, on the
    validation data. The models are complete: they output expected costs and
    decide by argmin.

    Args:
        classifier: a trained model whose output is `(batch, K)` probabilities (or
            logits), or `(batch, 1)`, the probability (or logit) of class 1. Its
            layers are shared, not copied.
        cost_matrix: `(K, D)`, `C[true, decision]`.
        prediction: space of `"bayes"` and `"argmax"`; see `CSDNNHyperModel` for
            what a space is. The argmax needs `D = K`. Defaults to `"bayes"`.
        temperature: space; 1 leaves probabilities as they are.
        from_logits: whether the output is logits. Defaults to False.
        name: as in `keras_tuner.HyperModel`.
        tunable: as in `keras_tuner.HyperModel`.

    Raises:
        ValueError: if an argument, or a value in a space, is out of range.

    Example:

    >>> import csdl_keras
    >>> classifier = csdl_keras.models.mlp((4,), num_classes=2, hidden_units=(5,))
    >>> hyper_model = DecisionHyperModel(classifier, [[0, 1], [9, 0]])
    >>> model = hyper_model.build(keras_tuner.HyperParameters())
    >>> csdl_keras.output_kind(model)
    'cost'
    """

    bounded = False

    def __init__(
        self,
        classifier: keras.Model,
        cost_matrix: Any,
        prediction: Space = "bayes",
        temperature: Space = _TEMPERATURE,
        from_logits: bool = False,
        name: str | None = None,
        tunable: bool = True,
    ):
        super().__init__(name=name, tunable=tunable)
        # Its checks are ours: of the matrix, and of what the classifier outputs.
        bayes_classifier(classifier, cost_matrix, from_logits)
        self.trained = classifier
        self.cost_matrix = check_cost_matrix(cost_matrix, square=False)
        self.num_classes, decisions = self.cost_matrix.shape
        self.input_shape = tuple(classifier.inputs[0].shape[1:])
        rules = ("bayes", "argmax") if decisions == self.num_classes else ("bayes",)
        self.prediction = check_space(
            "prediction", prediction, lambda n, v: check_choice(n, v, rules)
        )
        self.temperature = check_space("temperature", temperature, check_positive)
        self.from_logits = from_logits

    def build(self, hp: keras_tuner.HyperParameters) -> keras.Model:
        """The classifier with temperature and decision, compiled with its cost as a metric."""
        prediction = declare(hp, "prediction", self.prediction)
        temperature = declare(hp, "temperature", self.temperature)
        # The argmax is the Bayes decision where all mistakes cost the same.
        matrices = {"bayes": self.cost_matrix, "argmax": zero_one(self.num_classes)}
        outputs = ClassProbabilities(self.from_logits)(self.trained.outputs[0])
        outputs = TemperatureScaling(temperature)(outputs)
        model = keras.Model(inputs_of(self.trained), BayesDecision(matrices[prediction])(outputs))
        optimizer = keras.optimizers.SGD()  # nothing is trained; checkpoints expect one
        optimizer.build(model.trainable_variables)
        model.compile(optimizer, loss=expected_cost, metrics=[AverageCost(self.cost_matrix)])
        return model

    def fit(
        self,
        hp: keras_tuner.HyperParameters,
        model: keras.Model,
        x: Any = None,
        y: Any = None,
        callbacks: Any = (),
        validation_data: Any = None,
        batch_size: int | None = None,
        **fit_arguments: Any,
    ) -> dict[str, float]:
        """Scores the decisions on the validation data. KerasTuner calls it.

        Args:
            hp: the trial's values.
            model: what `build` made of them.
            x: not looked at, nor are `y` and other arguments of training.
            y: see `x`.
            callbacks: KerasTuner's and yours; they see one epoch.
            validation_data: `(x_val, y_val)` or a dataset, labels as targets.
            batch_size: as in `keras.Model.evaluate`.
            **fit_arguments: see `x`.

        Returns:
            A dict with `"val_average_cost"`.
        """
        check_search_data(self, None, None, {"validation_data": validation_data})
        # Of training data and epochs nothing depends.
        check_same_trial(hp, None, None, callbacks, {"validation_data": validation_data})
        pair = isinstance(validation_data, (tuple, list))
        data = validation_data if pair else (validation_data,)
        scores = model.evaluate(*data, batch_size=batch_size, verbose=0, return_dict=True)
        logs = {f"val_{name}": float(value) for name, value in scores.items()}
        callbacks = keras.callbacks.CallbackList(list(callbacks), model=model, epochs=1)
        callbacks.on_train_begin()
        callbacks.on_epoch_begin(0)
        callbacks.on_epoch_end(0, logs)
        callbacks.on_train_end(logs)
        return logs

    def classifier(self, model: keras.Model) -> keras.Model:
        """A model of the search as it is: its decision rule is part of it."""
        return model
