"""Keeps TensorFlow from advice that nobody can follow."""

import contextlib
import logging
from collections.abc import Iterator


@contextlib.contextmanager
def quiet_tracing() -> Iterator[None]:
    """Hides TensorFlow's warning of functions that are traced again and again.

    Several networks in a row, such as the members of an ensemble, have a function each to predict,
    which it takes for one that is traced anew in each call.
    """
    logger = logging.getLogger("tensorflow")

    def hide(record: logging.LogRecord) -> bool:
        return "triggered tf.function retracing" not in str(record.msg)

    logger.addFilter(hide)
    try:
        yield
    finally:
        logger.removeFilter(hide)
