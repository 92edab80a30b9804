"""Runs what `csdl_keras.export` wrote, without Keras."""

import pathlib

import keras
import numpy as np
import pytest

PATHS = {
    "savedmodel": "model",
    "onnx": "model.onnx",
    "litert": "model.tflite",
    "openvino": "model.xml",
}
Arrays = dict[str, np.ndarray]


class OnnxFile:
    def __init__(self, path: pathlib.Path):
        runtime = pytest.importorskip("onnxruntime")
        self.session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.inputs = {end.name: end.shape for end in self.session.get_inputs()}
        self.outputs = {end.name: end.shape for end in self.session.get_outputs()}

    def __call__(self, inputs: Arrays) -> Arrays:
        return dict(zip(self.outputs, self.session.run(None, inputs), strict=True))


class LiteRTFile:
    def __init__(self, path: pathlib.Path):
        runtime = pytest.importorskip("ai_edge_litert.interpreter")
        self.run = runtime.Interpreter(str(path)).get_signature_runner()
        self.inputs = self.run.get_input_details()
        self.outputs = self.run.get_output_details()

    def __call__(self, inputs: Arrays) -> Arrays:
        return self.run(**inputs)


class SavedModelFolder:
    def __init__(self, path: pathlib.Path):
        tensorflow = pytest.importorskip("tensorflow")
        self.loaded = tensorflow.saved_model.load(path)  # its weights live as long as it does
        self.run = self.loaded.signatures["serving_default"]
        self.inputs, self.outputs = (
            self.run.structured_input_signature[1],
            self.run.structured_outputs,
        )

    def __call__(self, inputs: Arrays) -> Arrays:
        return {name: value.numpy() for name, value in self.run(**inputs).items()}


class OpenVINOFile:
    def __init__(self, path: pathlib.Path):
        self.run = pytest.importorskip("openvino").Core().compile_model(path)
        self.inputs = {end.get_any_name(): end for end in self.run.inputs}
        self.outputs = {end.get_any_name(): end for end in self.run.outputs}

    def __call__(self, inputs: Arrays) -> Arrays:
        found = self.run(inputs)
        return {name: found[end] for name, end in self.outputs.items()}


OPENERS = {
    "savedmodel": SavedModelFolder,
    "onnx": OnnxFile,
    "litert": LiteRTFile,
    "openvino": OpenVINOFile,
}


@keras.saving.register_keras_serializable(package="tests")
class InverseErrorFunction(keras.layers.Layer):
    """An operation that neither ONNX nor LiteRT has."""

    def build(self, input_shape):
        self.built = True

    def call(self, inputs):
        return keras.ops.erfinv(inputs)

    def compute_output_shape(self, input_shape):
        return input_shape
