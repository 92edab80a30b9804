"""Decisions over HTTP, by a model that `csdl_keras.export` wrote as ONNX.

    python examples/serve.py careful.onnx --port 8000

`POST /decide` with `{"inputs": [[...]]}` answers `{"decisions": [...], "costs": [[...]]}`; requests
to a model of several inputs bring a field for each, and if it has the input `cost_matrix`, one.
`GET /health` tells shapes, dtypes and limits, and how many requests are being answered.
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
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.auto import AutoHTTPProtocol

WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
NAMES = {"float": "float32", "double": "float64", "string": "str"}
NAMES |= {name: name for name in (*WHOLE, "float16", "bool")}
DTYPES = {f"tensor({name})": np.dtype(dtype) for name, dtype in NAMES.items()}
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
        session: an `onnxruntime.InferenceSession` of a model whose inputs are called
            as the fields of requests (a single one `inputs`), and perhaps a cost matrix.
        max_bytes: the largest body of a request.
        max_batch: the most inputs in one request.
        concurrency: how many requests are computed at the same time.
        waiting: how many more may wait, whose bodies are there; others are told to
            come back later, so that waiting times stay bounded. Bodies on their way in
            have no number, but take no more memory than so many whole ones.
        body_seconds: how long a body may take to arrive.

    Raises:
        ValueError: if the model has an input of a dtype that JSON cannot bring.
    """
    ends = {end.name: end for end in session.get_inputs()}
    names = [name for name in ends if name != COST_MATRIX]
    fields = {"inputs" if len(names) == 1 else name: ends[name] for name in names}
    if COST_MATRIX in ends:
        fields[COST_MATRIX] = ends[COST_MATRIX]
    for name, end in fields.items():
        if end.type not in DTYPES:
            raise ValueError(f"Expected inputs of {sorted(DTYPES)}; {name!r} is {end.type}.")
    app = FastAPI(title="csdl_keras decisions")
    turns = asyncio.Semaphore(concurrency)
    bodies = Bodies(max_bytes, (concurrency + waiting) * max_bytes, body_seconds)
    within = 0

    def refuse_if_full() -> None:
        if within >= concurrency + waiting:
            raise HTTPException(503, "Too many requests at once.", {"Retry-After": "1"})

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
        refuse_if_full()
        body = await bodies.read(request)
        # Those who wait for a slow client's body do not count: it may be idle on purpose.
        refuse_if_full()
        within += 1
        try:
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
            "dtypes": {name: DTYPES[end.type].name for name, end in fields.items()},
            "max_batch": max_batch,
            "max_bytes": max_bytes,
            "requests": within,
        }

    return app


def row_shape(name: str, end: Any) -> list[Any]:
    """The shape of one input, or of the cost matrix; `None` for sizes that may differ."""
    shape = [size if isinstance(size, int) else None for size in end.shape]
    return shape if name == COST_MATRIX else shape[1:]


class Bodies:
    """Reads bodies of requests, which together take no more than so much memory.

    Args:
        max_bytes: of one body; a header that says so is not trusted.
        max_total: of all that have not arrived as a whole. Beyond, the largest of them
            is given up, so that small ones come through beside slow large ones.
        seconds: how long a body may take to arrive.
    """

    def __init__(self, max_bytes: int, max_total: int, seconds: float):
        self.max_bytes, self.max_total, self.seconds = max_bytes, max_total, seconds
        self.arriving: dict[asyncio.Timeout, bytearray] = {}

    async def read(self, request: Request) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(self.seconds) as limit:
                self.arriving[limit] = body
                async for part in request.stream():
                    body += part
                    if len(body) > self.max_bytes:
                        raise HTTPException(413, f"Expected at most {self.max_bytes} bytes.")
                    if sum(map(len, self.arriving.values())) > self.max_total:
                        largest = max(self.arriving, key=lambda key: len(self.arriving[key]))
                        self.arriving.pop(largest)
                        largest.reschedule(asyncio.get_running_loop().time())
        except TimeoutError as error:
            if limit not in self.arriving:
                message = "Too many bodies at once."
                raise HTTPException(503, message, {"Retry-After": "1"}) from error
            message = f"Expected the whole body within {self.seconds} seconds."
            raise HTTPException(408, message) from error
        except ClientDisconnect as error:
            raise HTTPException(400, "Expected the whole body; the client left.") from error
        finally:
            self.arriving.pop(limit, None)
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
    sizes = {len(array) for name, array in arrays.items() if name != COST_MATRIX}
    if len(sizes) != 1 or not 1 <= min(sizes) <= max_batch:
        raise HTTPException(422, f"Expected from 1 to {max_batch} inputs, as many in each field.")
    return arrays


def read_array(name: str, values: Any, end: Any) -> np.ndarray:
    """Numbers in nested lists, as the array that the model takes."""
    expected = row_shape(name, end)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise HTTPException(422, f"Expected {name!r} with rows of one length.") from error
    shape = array.shape if name == COST_MATRIX else array.shape[1:]
    sizes = zip(expected, shape, strict=False)
    right = array.ndim == len(end.shape) and all(size in (None, found) for size, found in sizes)
    if not right:
        message = f"Expected {name!r} of shape {expected}; received {list(array.shape)}."
        raise HTTPException(422, message)
    dtype = DTYPES[end.type]
    if dtype.kind == "U" or dtype.kind in "iu" and array.dtype.kind in "ifuO":
        # Floats do not hold all of 64 bits, and beside a string NumPy writes all as strings.
        array = np.asarray(values, dtype=object)
    return convert(name, array, dtype)


def convert(name: str, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """What JSON brought in the model's dtype, which has to hold it."""
    if dtype.kind == "U":
        if not all(isinstance(value, str) for value in array.flat):
            raise HTTPException(422, f"Expected strings in {name!r}.")
        return array
    if dtype.kind == "b":
        if array.dtype.kind != "b":
            raise HTTPException(422, f"Expected true and false in {name!r}.")
        return array
    if dtype.kind in "iu":
        try:
            converted = array.astype(dtype)
        except (TypeError, ValueError, OverflowError):
            converted = None
        if array.dtype != object or converted is None or converted.tolist() != array.tolist():
            raise HTTPException(422, f"Expected whole numbers in {name!r}, of {dtype}.")
    else:
        try:
            if array.dtype.kind not in "iufO":  # whole numbers beyond 64 bits are objects
                raise TypeError
            with np.errstate(over="ignore", invalid="ignore"):
                converted = array.astype(dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise HTTPException(422, f"Expected numbers in {name!r}.") from error
        if not np.isfinite(converted).all():
            raise HTTPException(422, f"Expected finite numbers in {name!r}, of {dtype}.")
    if name == COST_MATRIX and converted.min() < 0:
        raise HTTPException(422, f"Expected costs of at least 0 in {name!r}.")
    return converted


class Impatient(AutoHTTPProtocol):
    """Closes connections on which no whole request begins in time.

    The server itself does so between the requests of a connection, as long as not a
    byte comes: those that send nothing, or headers byte by byte, would hold it forever.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._look(seen=self)

    def _look(self, seen: Any) -> None:
        if self.transport.is_closing():
            return
        waits = self.cycle is None or self.cycle.response_complete
        if waits and seen is self.cycle:
            self.transport.close()
            return
        now = self.cycle if waits else self
        self.loop.call_later(2 * self.timeout_keep_alive, self._look, now)


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
    uvicorn.run(app, host=arguments.host, port=arguments.port, http=Impatient)


if __name__ == "__main__":
    main()
