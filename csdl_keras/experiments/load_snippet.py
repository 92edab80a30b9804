"""The lines of Python that load a saved model."""

import pathlib


def load_snippet(model_path: pathlib.Path, dataset: str) -> str:
    """Lines that load a model and decide on the first test examples of a data set."""
    if model_path.suffix == ".keras":
        lines = ["import keras", "import csdl_keras as csdl  # before loading: it registers layers"]
        load = "keras.saving.load_model"
    else:
        lines = ["import csdl_keras as csdl"]
        load = "csdl.baselines.CSOSR.load"
    return "\n".join(
        [
            *lines,
            f"model = {load}({str(model_path)!r})",
            f"data = csdl.datasets.load({dataset!r})",
            "print(csdl.decide(model, data.x_test[:10]), data.y_test[:10])",
        ]
    )
