"""Limits clients that send slowly, too much or nothing, so that they do not block others."""

import asyncio
from typing import Any

from fastapi import HTTPException, Request
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.auto import AutoHTTPProtocol

#: Seconds after which idle connections are closed. It is longer than clients keep connections
#: (httpx: 5), so that they never send a request on one that is being closed.
KEEP_ALIVE = 30


class Bodies:
    """Reads bodies of at most `max_bytes` each within a number of seconds."""

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
                        raise HTTPException(413, f"The body exceeds {self.max_bytes} bytes.")
                    if sum(map(len, self.arriving.values())) > self.max_total:
                        # Slow large bodies should not block small ones.
                        largest = max(self.arriving, key=lambda key: len(self.arriving[key]))
                        self.arriving.pop(largest)
                        largest.reschedule(asyncio.get_running_loop().time())
        except TimeoutError as error:
            if limit not in self.arriving:
                message = "Too many bodies at once."
                raise HTTPException(503, message, {"Retry-After": "1"}) from error
            message = f"The body did not arrive within {self.seconds} seconds."
            raise HTTPException(408, message) from error
        except ClientDisconnect as error:
            raise HTTPException(400, "The client left before the body was complete.") from error
        finally:
            self.arriving.pop(limit, None)
        return bytes(body)


class ClosingProtocol(AutoHTTPProtocol):  # type: ignore[valid-type, misc]
    """Closes connections on which no complete request header arrives in `timeout_keep_alive`.

    Uvicorn itself does so only after the first request of a connection and while no byte arrives,
    so a client that sends nothing, or its header byte by byte, could stay forever.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._close_if_idle(seen=self)

    def _close_if_idle(self, seen: Any) -> None:
        """Closes the connection if it still waits for the same request as at the last check."""
        if self.transport.is_closing():
            return
        idle = self.cycle is None or self.cycle.response_complete
        if idle and seen is self.cycle:
            self.transport.close()
            return
        now = self.cycle if idle else self
        self.loop.call_later(self.timeout_keep_alive, self._close_if_idle, now)
