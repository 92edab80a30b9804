"""Measures the latency of `csdl-keras serve`, and what it does under overload.

    python examples/load_test.py http://127.0.0.1:8000 --concurrency 1,4,16,64

Sends a fixed number of requests with random inputs to this machine from several clients at once,
and prints a row for each number of clients. `pip install ".[serving]" httpx`.
"""

import argparse
import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
import numpy as np

ANY_LENGTH = 20
LOOPBACK = ("127.0.0.1", "localhost", "::1")
COLUMNS = ("clients", "answered", "refused", "failed", "requests/s", "p50 ms", "p95 ms", "p99 ms")


class Load(NamedTuple):
    """Outcomes of requests from several clients."""

    clients: int
    seconds: float
    latencies: list[float]
    statuses: Counter

    def row(self) -> list[str]:
        """Returns its row of the table, with the latencies of answered requests."""
        answered, refused = self.statuses[200], self.statuses[503]
        failed = self.statuses.total() - answered - refused
        counts = [str(count) for count in (self.clients, answered, refused, failed)]
        if not answered:
            return [*counts, "0", "-", "-", "-"]
        percentiles = 1000 * np.percentile(self.latencies, [50, 95, 99])
        rates = [answered / self.seconds, *percentiles]
        return [*counts, *(f"{rate:.1f}" for rate in rates)]


async def put_load(url: str, body: dict, clients: int, requests: int) -> Load:
    """Sends `requests` requests, `clients` of them at a time."""
    latencies: list[float] = []
    statuses: Counter = Counter()
    left = iter(range(requests))
    limits = httpx.Limits(max_connections=clients)

    async def work(client: httpx.AsyncClient) -> None:
        for _ in left:
            start = time.perf_counter()
            try:
                status = (await client.post(f"{url}/decide", json=body)).status_code
            except httpx.HTTPError as error:
                status = type(error).__name__
            statuses[status] += 1
            if status == 200:
                latencies.append(time.perf_counter() - start)

    async with httpx.AsyncClient(limits=limits, timeout=30.0) as client:
        start = time.perf_counter()
        await asyncio.gather(*(work(client) for _ in range(clients)))
        seconds = time.perf_counter() - start
    return Load(clients, seconds, latencies, statuses)


def random_body(url: str, batch: int) -> dict:
    """Makes a request: random zeros and ones in arrays; 1 or null in rows."""
    health = httpx.get(f"{url}/health").raise_for_status().json()
    rng = np.random.default_rng(0)
    body = {}
    if health["columns"] is not None:
        types = {name: column["type"] for name, column in health["columns"].items()}
        row = {name: 1 if "number" in kinds else None for name, kinds in types.items()}
        body["rows"] = [row] * batch
    for name, shape in health["shapes"].items():
        if name != "cost_matrix":
            shape = [batch, *(size or ANY_LENGTH for size in shape)]
        dtype = health["dtypes"][name]
        numbers = rng.integers(2, size=shape)
        body[name] = numbers.astype(dtype if dtype in ("bool", "str") else int).tolist()
    return body


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Prints columns of equal width below their names."""
    for row in (COLUMNS, *rows):
        print("  ".join(f"{cell:>10}" for cell in row), flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the load test."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("url", help="where csdl-keras serve listens, on this machine")
    parser.add_argument("--concurrency", default="1,4,16,64", help="numbers of clients")
    parser.add_argument("--requests", type=int, default=500, help="for each number of clients")
    parser.add_argument("--batch", type=int, default=1, help="inputs in a request")
    arguments = parser.parse_args(argv)
    url = arguments.url.rstrip("/")
    if urlsplit(url).hostname not in LOOPBACK:
        parser.error(f"expected a server on this machine, {LOOPBACK}; received {url}")
    body = random_body(url, arguments.batch)
    loads = [
        asyncio.run(put_load(url, body, int(clients), arguments.requests))
        for clients in arguments.concurrency.split(",")
    ]
    print_table([load.row() for load in loads])


if __name__ == "__main__":
    main()
