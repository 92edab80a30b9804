"""A server of `csdl-keras serve` on this machine, and a stand-in for its model."""

import contextlib
import importlib
import pathlib
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras_cli.saved_model import SavedModel, of_session
from csdl_keras_cli.serve import create_app

httpx = pytest.importorskip("httpx")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("fastapi")
uvicorn = pytest.importorskip("uvicorn")

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(pathlib.Path(__file__).parents[2] / "examples"))
    load_test = importlib.import_module("load_test")


class Session:
    """Stands for a model whose costs are its inputs, times a cost matrix if it has that input."""

    def __init__(self, shape=("batch", 3), dtype="tensor(float)", matrix=None):
        ends = {"inputs": (shape, dtype)}
        if matrix is not None:
            ends["cost_matrix"] = (matrix, "tensor(float)")
        self.ends = [SimpleNamespace(name=n, shape=list(s), type=t) for n, (s, t) in ends.items()]
        self.free = threading.Event()
        self.free.set()
        self.running = threading.Semaphore(0)

    def get_inputs(self):
        return self.ends

    def get_outputs(self):
        last = self.ends[-1].shape[-1]
        return [SimpleNamespace(name="costs", shape=["batch", last if type(last) is int else 3])]

    def get_modelmeta(self):
        return SimpleNamespace(custom_metadata_map={})

    def run(self, names, feed):
        assert list(names) == ["decision", "costs"]
        self.running.release()
        assert self.free.wait(60)
        matrix = feed.get("cost_matrix", np.eye(3, dtype="float32"))
        costs = (feed["inputs"][:, None] @ matrix)[:, 0] if matrix.ndim == 3 else None
        costs = feed["inputs"] @ matrix if costs is None else costs
        return [costs.argmin(axis=1).astype("int32"), costs.astype("float32")]


@contextlib.contextmanager
def served(session, options=None, **limits):
    """A client of a server of a session or a `SavedModel` on a free port."""
    model = session if isinstance(session, SavedModel) else of_session(session)
    app = create_app(model, **limits)
    # Its logging would close the streams that others write to, such as those that pytest captures.
    silent = {"log_level": "critical", "log_config": None}
    options = {"host": "127.0.0.1", "port": 0, **silent, **(options or {})}
    server = uvicorn.Server(uvicorn.Config(app, **options))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield client
    finally:
        getattr(session, "free", threading.Event()).set()
        server.should_exit = True
        thread.join()


def decide(client, inputs, **more):
    return client.post("/decide", json={"inputs": inputs, **more})


def exported(model, folder):
    csdl.export(model, folder / "model.onnx", "onnx")
    return onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
