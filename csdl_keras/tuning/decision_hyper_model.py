"""The search space of the decision of a trained classifier."""

from collections.abc import Sequence
from typing import Any

import keras
import keras_tuner
from keras_tuner.errors import FatalValueError

from csdl_keras._utils.checks import check_choice
from csdl_keras._utils.structure import inputs_of
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_cost_matrix, zero_one
from csdl_keras.layers import BayesDecision, ClassProbabilities, TemperatureScaling
from csdl_keras.losses import expected_cost
from csdl_keras.metrics import AverageCost
from csdl_keras.models import bayes_classifier
from csdl_keras.tuning.hyper_models import FitData
from csdl_keras.tuning.space import Range, Space, check_positive, check_space, declare

_TEMPERATURE = Range(0.25, 4.0, sampling="log")


class DecisionHyperModel(keras_tuner.HyperModel):
    """Searches the decision rule of a trained classifier, and the temperature before it.

    Nothing is trained. A trial scales the classifier's probabilities by a temperature
    and scores the Bayes decision or the argmax on the validation data.

    Args:
        classifier: a trained model whose output is `(batch, K)` probabilities (or
            logits), or `(batch, 1)`, the probability (or logit) of class 1. Its
            layers are shared, not copied.
        cost_matrix: `(K, D)`, `C[true, decision]`.
        prediction: space of `"bayes"` (default) and `"argmax"`, see `CSDNNHyperModel`.
            The argmax requires `D = K`.
        temperature: space of the temperature; 1 leaves probabilities unchanged.
        from_logits: whether the output is logits. Defaults to False.

    Example:

    >>> import csdl_keras
    >>> classifier = csdl_keras.models.mlp((4,), num_classes=2, hidden_units=(5,))
    >>> hyper_model = DecisionHyperModel(classifier, [[0, 1], [9, 0]])
    >>> model = hyper_model.build(keras_tuner.HyperParameters())
    >>> csdl_keras.output_kind(model)
    'cost'
    """

    def __init__(
        self,
        classifier: keras.Model,
        cost_matrix: ArrayLike,
        prediction: Space = "bayes",
        temperature: Space = _TEMPERATURE,
        from_logits: bool = False,
    ):
        super().__init__()
        # Called for its checks of the matrix and of the classifier's output.
        bayes_classifier(classifier, cost_matrix, from_logits)
        self.trained = classifier
        self.cost_matrix = check_cost_matrix(cost_matrix, square=False)
        self.num_classes, decisions = self.cost_matrix.shape
        rules = ("bayes", "argmax") if decisions == self.num_classes else ("bayes",)
        self.prediction = check_space(
            "prediction", prediction, lambda n, v: check_choice(n, v, rules)
        )
        self.temperature = check_space("temperature", temperature, check_positive)
        self.from_logits = from_logits

    def build(self, hp: keras_tuner.HyperParameters) -> keras.Model:
        """Builds the classifier with temperature and decision, compiled to report its cost."""
        prediction = declare(hp, "prediction", self.prediction)
        temperature = declare(hp, "temperature", self.temperature)
        # The argmax is the Bayes decision where all mistakes cost the same.
        matrices = {"bayes": self.cost_matrix, "argmax": zero_one(self.num_classes)}
        outputs = ClassProbabilities(self.from_logits)(self.trained.outputs[0])
        outputs = TemperatureScaling(temperature)(outputs)
        model = keras.Model(inputs_of(self.trained), BayesDecision(matrices[prediction])(outputs))
        optimizer = keras.optimizers.SGD()  # Checkpoints expect one, though nothing is trained.
        optimizer.build(model.trainable_variables)
        model.compile(
            optimizer, loss=expected_cost, metrics=[AverageCost(self.cost_matrix, "cost")]
        )
        return model

    def fit(
        self,
        hp: keras_tuner.HyperParameters,
        model: keras.Model,
        x: FitData = None,
        y: FitData = None,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        validation_data: FitData = None,
        batch_size: int | None = None,
        **fit_arguments: Any,
    ) -> dict[str, float]:
        """Returns `"val_average_cost"` on the validation data; called by KerasTuner.

        Callbacks are called for one epoch; `hp`, `x`, `y` and other arguments are ignored.
        """
        if validation_data is None:
            raise FatalValueError("Expected `validation_data` in tuner.search(...); received none.")
        pair = isinstance(validation_data, (tuple, list))
        data = validation_data if pair else (validation_data,)
        scores = model.evaluate(*data, batch_size=batch_size, verbose=0, return_dict=True)
        logs = {f"val_{name}": float(value) for name, value in scores.items()}
        called = keras.callbacks.CallbackList(list(callbacks), model=model, epochs=1)
        called.on_train_begin()
        called.on_epoch_begin(0)
        called.on_epoch_end(0, logs)
        called.on_train_end(logs)
        return logs

    def classifier(self, model: keras.Model) -> keras.Model:
        """Returns a model of the search unchanged, since it contains its decision rule."""
        return model
