"""Ends a worker process together with the process that started it."""

import os
import threading
import time

_SECONDS_BETWEEN_LOOKS = 0.5


def end_with(parent: int) -> None:
    """Ends this process soon after `parent`, the process that started it, has ended.

    A signal may end the parent at once, so that it cannot stop its workers.
    """

    def watch() -> None:
        # A process whose parent has ended gets another one.
        while os.getppid() == parent:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, name="end with parent", daemon=True).start()
