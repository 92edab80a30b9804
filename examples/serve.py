"""Serves decisions over HTTP, by a model that `csdl_keras.export` wrote as ONNX.

    python examples/serve.py careful.onnx --port 8000

`POST /decide` with `{"inputs": [[...]]}` answers `{"decisions": [...], "costs": [[...]]}`, and
`"labels"` of the decisions if the model was trained on labels that are not row numbers. If the
model has several inputs, or the input `cost_matrix`, requests have a field for each of them. Costs
are one matrix `[[...]]` for the request or, if the model takes them, one for each example.
With `--missing-values`, null in inputs of floats is a missing value, NaN for the model.
`GET /health` returns shapes, dtypes, limits and the number of requests being answered.
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
from json_arrays import COST_MATRIX, DTYPES, read_arrays, row_shape
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.auto import AutoHTTPProtocol


def create_app(
    session: Any,
    max_bytes: int = 4_000_000,
    max_batch: int = 1000,
    concurrency: int = 2,
    waiting: int = 16,
    body_seconds: float = 10.0,
    missing_values: bool = False,
) -> FastAPI:
    """Creates the application.

    Args:
        session: an `onnxruntime.InferenceSession` of a model. Its inputs, perhaps with
            costs, have the names of the fields of requests; a single input is the field
            `inputs`.
        max_bytes: largest size of a request's body in bytes, with its costs.
        max_batch: largest number of inputs, and of cost matrices, in a request.
        concurrency: number of requests computed at the same time.
        waiting: number of further requests that may wait with a complete body. Others
            are told to retry later, so that waiting times stay bounded. Incomplete
            bodies are not counted, but limited to the memory of as many complete ones.
        body_seconds: seconds that a body may take to arrive.
        missing_values: whether the model takes NaN for missing values of its inputs, which
            are null or NaN in requests. Defaults to False, which refuses them.

    Raises:
        ValueError: if the model has an input of a dtype that JSON cannot express.
    """
    ends = {end.name: end for end in session.get_inputs()}
    names = [name for name in ends if name != COST_MATRIX]
    fields = {"inputs" if len(names) == 1 else name: ends[name] for name in names}
    if COST_MATRIX in ends:
        fields[COST_MATRIX] = ends[COST_MATRIX]
    for name, end in fields.items():
        if end.type not in DTYPES:
            raise ValueError(f"Expected inputs of {sorted(DTYPES)}; {name!r} is {end.type}.")
    classes = json.loads(session.get_modelmeta().custom_metadata_map.get("classes", "null"))
    app = FastAPI(title="csdl_keras decisions")
    slots = asyncio.Semaphore(concurrency)
    bodies = Bodies(max_bytes, (concurrency + waiting) * max_bytes, body_seconds)
    admitted = 0

    def refuse_if_full() -> None:
        if admitted >= concurrency + waiting:
            raise HTTPException(503, "Too many requests at once.", {"Retry-After": "1"})

    def answer(body: bytes) -> bytes:
        arrays = read_arrays(body, fields, max_batch, missing_values)
        feed = {fields[name].name: array for name, array in arrays.items()}
        try:
            decisions, costs = session.run(["decision", "costs"], feed)
        except Exception as error:
            # Shapes and numbers are valid, so a string may be unknown to the model.
            raise HTTPException(422, "The model cannot compute with these inputs.") from error
        if not np.isfinite(costs).all():
            raise HTTPException(500, "The model's output was no number.")
        content = {"decisions": decisions.tolist(), "costs": costs.tolist()}
        if classes is not None:
            others = [f"decision_{index}" for index in range(len(classes), costs.shape[-1])]
            content["labels"] = np.array([*classes, *others], dtype=object)[decisions].tolist()
        return json.dumps(content).encode()

    @app.post("/decide")
    async def decide(request: Request) -> Response:
        nonlocal admitted
        refuse_if_full()
        body = await bodies.read(request)
        # Requests count only now, so that clients that send slowly keep nobody out.
        refuse_if_full()
        admitted += 1
        try:
            async with slots:
                # In a thread, so that other requests are admitted or refused meanwhile.
                content = await run_in_threadpool(answer, body)
            return Response(content, media_type="application/json")
        finally:
            admitted -= 1

    @app.get("/health")
    async def health() -> dict[str, Any]:
        shapes = {name: row_shape(name, end) for name, end in fields.items()}
        costs = fields.get(COST_MATRIX)
        return {
            "status": "ok",
            "shapes": shapes,
            "dtypes": {name: DTYPES[end.type].name for name, end in fields.items()},
            "missing_values": missing_values,
            "max_batch": max_batch,
            "max_bytes": max_bytes,
            "max_cost_matrices": 0 if costs is None else max_batch ** (len(costs.shape) - 2),
            "requests": admitted,
        }

    return app


class Bodies:
    """Reads bodies of requests within a limit on their memory.

    Args:
        max_bytes: largest size of a body, counted as it arrives.
        max_total: largest size of all incomplete bodies together. Beyond it, the
            largest is dropped, so that slow large bodies do not block small ones.
        seconds: seconds that a body may take to arrive.
    """

    def __init__(self, max_bytes: int, max_total: int, seconds: float):
        self.max_bytes, self.max_total, self.seconds = max_bytes, max_total, seconds
        self.arriving: dict[asyncio.Timeout, bytearray] = {}

    async def read(self, request: Request) -> bytes:
        """Returns the body of a request; raises an HTTPException beyond a limit."""
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


class ClosingProtocol(AutoHTTPProtocol):
    """Closes connections on which no complete request header arrives in time.

    The server itself does so only after the first request of a connection and while no byte
    arrives. A client that sends nothing, or its header byte by byte, would stay forever.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._close_if_idle(seen=self)

    def _close_if_idle(self, seen: Any) -> None:
        """Closes the connection if it waits for the same request as when last looked at."""
        if self.transport.is_closing():
            return
        idle = self.cycle is None or self.cycle.response_complete
        if idle and seen is self.cycle:
            self.transport.close()
            return
        now = self.cycle if idle else self
        self.loop.call_later(2 * self.timeout_keep_alive, self._close_if_idle, now)


def main() -> None:
    """Serves a model until it is stopped."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", help="the .onnx file")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--concurrency", type=int, default=2, help="requests computed at once")
    parser.add_argument("--waiting", type=int, default=16, help="requests that may wait")
    help = "null in inputs is a missing value, which the model takes"
    parser.add_argument("--missing-values", action="store_true", help=help)
    arguments = parser.parse_args()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # Concurrent requests share the cores.
    session = onnxruntime.InferenceSession(
        arguments.model, options, providers=["CPUExecutionProvider"]
    )
    app = create_app(
        session,
        concurrency=arguments.concurrency,
        waiting=arguments.waiting,
        missing_values=arguments.missing_values,
    )
    uvicorn.run(app, host=arguments.host, port=arguments.port, http=ClosingProtocol)


if __name__ == "__main__":
    main()
