"""Decisions over HTTP, by a model that `csdl_keras.export` wrote as ONNX.

    python examples/serve.py careful.onnx --port 8000

`POST /decide` with `{"inputs": [[...]]}` answers `{"decisions": [...], "costs": [[...]]}`; if the
model has the input `cost_matrix`, requests bring one. `GET /health` tells shapes and limits,
and how many requests are being answered.
Neither Keras nor TensorFlow is needed: `pip install ".[serving]"`.
"""

import argparse
import asyncio
import json
from typing import Any

import numpy as np
import onnxruntime
import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool

DTYPES = {"tensor(float)": np.float32, "tensor(int32)": np.int32, "tensor(int64)": np.int64}
COST_MATRIX = "cost_matrix"


def create_app(
    session: Any,
    max_bytes: int = 4_000_000,
    max_batch: int = 1000,
    concurrency: int = 2,
    waiting: int = 16,
    body_seconds: float = 10.0,
) -> FastAPI:
    """The application.

    Args:
        session: an `onnxruntime.InferenceSession` of a model with one input, and
            perhaps a cost matrix.
        max_bytes: the largest body of a request.
        max_batch: the most inputs in one request.
        concurrency: how many requests are computed at the same time.
        waiting: how many more may wait, or be on their way in; others are told to
            come back later, so that memory and waiting times stay bounded.
        body_seconds: how long a body may take to arrive.
    """
    ends = {end.name: end for end in session.get_inputs()}
    names = [name for name in ends if name != COST_MATRIX]
    if len(names) != 1:
        raise ValueError(f"Expected a model with one input; received {names}.")
    fields = {"inputs": ends[names[0]]}
    if COST_MATRIX in ends:
        fields[COST_MATRIX] = ends[COST_MATRIX]
    app = FastAPI(title="csdl_keras decisions")
    turns = asyncio.Semaphore(concurrency)
    within = 0

    def answer(body: bytes) -> bytes:
        arrays = read_arrays(body, fields, max_batch)
        feed = {fields[name].name: array for name, array in arrays.items()}
        try:
            decisions, costs = session.run(["decision", "costs"], feed)
        except Exception as error:
            # Shapes and numbers are right, so it may be a word that the model does not know.
            raise HTTPException(422, "The model cannot compute with these inputs.") from error
        if not np.isfinite(costs).all():
            raise HTTPException(500, "The model's output was no number.")
        return json.dumps({"decisions": decisions.tolist(), "costs": costs.tolist()}).encode()

    @app.post("/decide")
    async def decide(request: Request) -> Response:
        nonlocal within
        if within >= concurrency + waiting:
            raise HTTPException(503, "Too many requests at once.", {"Retry-After": "1"})
        within += 1
        try:
            body = await read_body(request, max_bytes, body_seconds)
            async with turns:
                # In a thread, so that others are let in, or told to come back, at once.
                content = await run_in_threadpool(answer, body)
            return Response(content, media_type="application/json")
        finally:
            within -= 1

    @app.get("/health")
    async def health() -> dict[str, Any]:
        shapes = {name: row_shape(name, end) for name, end in fields.items()}
        return {
            "status": "ok",
            "shapes": shapes,
            "max_batch": max_batch,
            "max_bytes": max_bytes,
            "requests": within,
        }

    return app


def row_shape(name: str, end: Any) -> list[Any]:
    """The shape of one input, or of the cost matrix; `None` for sizes that may differ."""
    shape = [size if isinstance(size, int) else None for size in end.shape]
    return shape if name == COST_MATRIX else shape[1:]


async def read_body(request: Request, max_bytes: int, seconds: float) -> bytes:
    """The body, if it is no larger than allowed: a header that says so is not trusted."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                body += part
                if len(body) > max_bytes:
                    raise HTTPException(413, f"Expected at most {max_bytes} bytes.")
    except TimeoutError as error:
        raise HTTPException(408, f"Expected the whole body within {seconds} seconds.") from error
    return bytes(body)


def read_arrays(body: bytes, fields: dict[str, Any], max_batch: int) -> dict[str, np.ndarray]:
    """Arrays of a body in JSON, whose shapes and dtypes are the model's."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"Expected JSON; {error}.") from error
    if not isinstance(content, dict) or content.keys() != fields.keys():
        raise HTTPException(422, f"Expected an object with exactly the fields {sorted(fields)}.")
    arrays = {name: read_array(name, content[name], end) for name, end in fields.items()}
    if not 1 <= len(arrays["inputs"]) <= max_batch:
        raise HTTPException(422, f"Expected from 1 to {max_batch} inputs.")
    return arrays


def read_array(name: str, values: Any, end: Any) -> np.ndarray:
    """Numbers in nested lists, as the array that the model takes."""
    expected = row_shape(name, end)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise HTTPException(422, f"Expected {name!r} with rows of one length.") from error
    shape = array.shape if name == COST_MATRIX else array.shape[1:]
    right = len(shape) == len(expected) and all(
        size in (None, found) for size, found in zip(expected, shape, strict=True)
    )
    if not right or array.ndim != len(end.shape):
        raise HTTPException(
            422, f"Expected {name!r} of shape {expected}; received {list(array.shape)}."
        )
    if array.dtype.kind not in "iuf":
        raise HTTPException(422, f"Expected numbers in {name!r}.")
    with np.errstate(over="ignore", invalid="ignore"):
        converted = array.astype(DTYPES[end.type])
    if not np.isfinite(converted).all():
        raise HTTPException(422, f"Expected finite numbers in {name!r}.")
    if converted.dtype.kind == "i" and not np.array_equal(converted, array):
        raise HTTPException(422, f"Expected whole numbers in {name!r}.")
    if name == COST_MATRIX and converted.min() < 0:
        raise HTTPException(422, f"Expected costs of at least 0 in {name!r}.")
    return converted


def main() -> None:
    """Serves a model until it is stopped."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", help="the .onnx file")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--concurrency", type=int, default=2, help="requests computed at once")
    parser.add_argument("--waiting", type=int, default=16, help="requests that may wait")
    arguments = parser.parse_args()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # requests share the cores, not each one all of them
    session = onnxruntime.InferenceSession(
        arguments.model, options, providers=["CPUExecutionProvider"]
    )
    app = create_app(session, concurrency=arguments.concurrency, waiting=arguments.waiting)
    uvicorn.run(app, host=arguments.host, port=arguments.port)


if __name__ == "__main__":
    main()
