"""Clients of `csdl-keras serve` that send slowly, or nothing."""

import contextlib
import socket
import time

import pytest

from csdl_keras_cli.slow_clients import ClosingProtocol
from tests.support.server import Session, decide, served

HEADERS = b"POST /decide HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n\r\n"


def connect(client, sent=b""):
    connection = socket.create_connection((client.base_url.host, client.base_url.port), timeout=60)
    connection.sendall(sent)
    return connection


def test_bodies_that_do_not_arrive():
    with served(Session(), body_seconds=0.1) as client, connect(client, HEADERS + b"{") as slow:
        assert slow.recv(100).startswith(b"HTTP/1.1 408")


class TestSlowClients:
    """They neither keep others out nor stay."""

    @pytest.mark.parametrize("sent", [b"", b"POST", HEADERS, HEADERS + b"{", HEADERS + 900 * b" "])
    def test_many_connections(self, sent):
        with served(Session()) as client, contextlib.ExitStack() as stack:
            for number in range(60):
                connection = stack.enter_context(connect(client, sent))
                if sent and number % 2:  # closed on the client's side
                    connection.shutdown(socket.SHUT_WR)
            for _ in range(3):
                assert decide(client, [[1, 2, 3]]).status_code == 200
            assert client.get("/health").json()["requests"] == 0

    def test_bodies_share_their_memory(self):
        """The largest is given up, and small ones come through."""
        body = b'{"inputs": [[1, 2, 3]]}'
        limits = {"max_bytes": 1000, "concurrency": 1, "waiting": 1}
        with served(Session(), **limits) as client, contextlib.ExitStack() as stack:
            slow = []
            for size in (700, 800, 750):
                slow.append(stack.enter_context(connect(client, HEADERS + size * b" ")))
                time.sleep(0.1)
            assert slow[1].recv(100).startswith(b"HTTP/1.1 503")
            assert decide(client, [[1, 2, 3]]).status_code == 200
            slow[0].sendall(body + (300 - len(body)) * b" ")
            assert slow[0].recv(100).startswith(b"HTTP/1.1 200")

    def test_the_server_closes_them(self):
        server = {"http": ClosingProtocol, "timeout_keep_alive": 0.1}
        beginnings = (b"", b"POST /dec", b"GET /health HTTP/1.1\r\nHost: here\r\n\r\nGET")
        with served(Session(), server) as client, contextlib.ExitStack() as stack:
            for end in [stack.enter_context(connect(client, sent)) for sent in beginnings]:
                while end.recv(1000):  # until it is closed
                    pass
