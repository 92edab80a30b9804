"""The command `csdl-keras serve`."""

import argparse
import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

from csdl_keras_cli.arguments import add_model, add_number
from csdl_keras_cli.optional import check_installed

if TYPE_CHECKING:
    from fastapi import FastAPI

    from csdl_keras_cli.saved_model import SavedModel

HELP = "serve the decisions of a saved model over HTTP"
DESCRIPTION = (
    "Serves a saved classifier over HTTP: POST raw rows of a table, or arrays, to /decide to get "
    "decisions and expected costs. The page /docs describes requests and answers. An .onnx file "
    "needs neither Keras nor TensorFlow."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    add_model(parser)
    text = "address to listen on (default %(default)s)"
    parser.add_argument("--host", default="127.0.0.1", help=text)
    parser.add_argument("--port", type=int, default=8000, help="port (default %(default)s)")
    text = "number of requests computed at the same time (default %(default)s)"
    add_number(parser, "--concurrency", text, 2)
    text = "number of requests that may wait; more get status 503 (default %(default)s)"
    add_number(parser, "--waiting", text, 16)
    text = "accept null in arrays of floats as a missing value (rows of tables always accept it)"
    parser.add_argument("--missing-values", action="store_true", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Serves a model until it is stopped; returns the exit status."""
    for package in ("fastapi", "uvicorn"):
        check_installed(package, "serving")
    import uvicorn

    from csdl_keras_cli.saved_model import load
    from csdl_keras_cli.slow_clients import KEEP_ALIVE, ClosingProtocol

    model = load(arguments.model)

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                host, port = self.servers[0].sockets[0].getsockname()[:2]
                print(ready(model, f"[{host}]" if ":" in host else host, port), flush=True)

    # Models written in Python compute in threads. With the default interval of 5 ms, they would
    # delay each of the many steps of a request, and hundreds of clients would wait for seconds.
    sys.setswitchinterval(0.0005)
    names = ("concurrency", "waiting", "missing_values")
    app = create_app(model, **{name: getattr(arguments, name) for name in names})
    limits: dict[str, Any] = {"http": ClosingProtocol, "timeout_keep_alive": KEEP_ALIVE}
    Server(uvicorn.Config(app, arguments.host, arguments.port, **limits)).run()
    return 0


def ready(model: "SavedModel", host: str, port: int) -> str:
    """Returns text with the address, the inputs and the decisions of a served model."""
    taken = [*model.inputs] if model.columns is None else [*model.columns.names, *model.amounts]
    decisions = ", ".join(map(str, model.labels))
    return (
        f"POST http://{host}:{port}/decide ({', '.join(map(str, dict.fromkeys(taken)))}) returns "
        f"{decisions}; see http://{host}:{port}/docs"
    )


def create_app(
    model: "SavedModel",
    max_bytes: int = 4_000_000,
    max_batch: int = 1000,
    concurrency: int = 2,
    waiting: int = 16,
    body_seconds: float = 10.0,
    missing_values: bool = False,
) -> "FastAPI":
    """Returns the application, which computes up to `concurrency` requests at the same time."""
    from fastapi import FastAPI, HTTPException, Request, Response
    from fastapi.concurrency import run_in_threadpool

    from csdl_keras_cli.request_body import Answer, RequestBody, has_batch
    from csdl_keras_cli.saved_model import COST_MATRIX, OutputError
    from csdl_keras_cli.slow_clients import Bodies

    fields = RequestBody(model, max_batch, missing_values)
    order = f"Expected costs are in the order {', '.join(map(str, model.labels))}."
    app = FastAPI(title="csdl_keras decisions", description=order)
    slots = asyncio.Semaphore(concurrency)
    bodies = Bodies(max_bytes, (concurrency + waiting) * max_bytes, body_seconds)
    admitted = 0

    def refuse_if_full() -> None:
        if admitted >= concurrency + waiting:
            raise HTTPException(503, "Too many requests at once.", {"Retry-After": "1"})

    def answer(body: bytes) -> bytes:
        try:
            # Python writes missing values as NaN.
            content = json.loads(body, parse_constant=lambda name: None if name == "NaN" else name)
        except (ValueError, RecursionError) as error:
            raise HTTPException(400, f"The body is not valid JSON: {error}.") from error
        try:
            decisions, costs = model.decide(*fields.read(content))
        except (ValueError, OverflowError) as error:
            status = 500 if isinstance(error, OutputError) else 422
            raise HTTPException(status, str(error)[:1000]) from error
        labels = [model.labels[decision] for decision in decisions]
        return json.dumps({"decisions": labels, "expected_costs": costs.tolist()}).encode()

    described = {"content": {"application/json": {"schema": fields.schema}}, "required": True}

    @app.post("/decide", response_model=Answer, openapi_extra={"requestBody": described})
    async def decide(request: Request) -> Response:
        nonlocal admitted
        refuse_if_full()
        body = await bodies.read(request)
        # Requests count only from here, so that slow clients do not block others.
        refuse_if_full()
        admitted += 1
        try:
            async with slots:
                # A thread leaves the event loop free to admit or reject other requests.
                content = await run_in_threadpool(answer, body)
            return Response(content, media_type="application/json")
        finally:
            admitted -= 1

    @app.get("/health")
    async def health() -> dict[str, Any]:
        arrays, costs = fields.arrays.items(), fields.arrays.get(COST_MATRIX)
        return {
            "status": "ok",
            "shapes": {name: end.shape[has_batch(name, end) :] for name, end in arrays},
            "dtypes": {name: end.dtype.name for name, end in arrays},
            "columns": fields.columns,
            "decisions": model.labels,
            "missing_values": missing_values,
            "max_batch": max_batch,
            "max_bytes": max_bytes,
            "max_cost_matrices": 0 if costs is None else max_batch ** has_batch(COST_MATRIX, costs),
            "requests": admitted,
        }

    return app
