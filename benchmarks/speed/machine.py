"""Limits of the machine as a backend reaches them: matrix products and updates of weights."""

import ctypes
from collections.abc import Callable, Iterable, Sequence

import keras
import numpy as np

Product = tuple[int, int, int]


def product(rows: int, inner: int, columns: int):
    """Returns a call that multiplies matrices of those sizes on the backend in use.

    If the backend allows it, the result is written to existing memory: otherwise the time in
    which the system provides pages would count as arithmetic.
    """
    rng = np.random.default_rng(0)
    left = rng.normal(size=(rows, inner)).astype("float32")
    right = rng.normal(size=(inner, columns)).astype("float32")
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        a, b = tf.constant(left), tf.constant(right)
        multiply = tf.function(lambda a, b: tf.reduce_sum((a @ b)[0, :1]))
        return lambda: multiply(a, b).numpy()
    if backend == "jax":
        import jax

        a, b = jax.device_put(left), jax.device_put(right)
        out = [a @ b]
        multiply = jax.jit(lambda a, b, out: a @ b, donate_argnums=2, keep_unused=True)

        def run() -> None:
            out[0] = multiply(a, b, out[0])
            out[0].block_until_ready()

        return run
    import torch

    a, b = torch.from_numpy(left), torch.from_numpy(right)
    result = a @ b
    return lambda: torch.mm(a, b, out=result)


def operations(products: Iterable[Product]) -> float:
    """Counts the floating point operations of matrix products."""
    return 2.0 * sum(rows * inner * columns for rows, inner, columns in products)


def one_by_one(products: Iterable[Product]) -> Callable[[], None]:
    """Returns a call that computes matrix products one by one, equal sizes with equal matrices."""
    sizes = list(products)
    calls = {each: product(*each) for each in set(sizes)}

    def run() -> None:
        for each in sizes:
            calls[each]()

    return run


def update(shapes: Sequence[tuple[int, ...]]) -> Callable[[], None]:
    """Returns a call that computes `w - rate * g` for weights of those shapes."""
    arrays = [np.ones(shape, "float32") for shape in shapes]
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        weights = [tf.Variable(array) for array in arrays]
        slopes = [tf.constant(array) for array in arrays]

        @tf.function
        def step() -> None:
            for weight, slope in zip(weights, slopes, strict=True):
                weight.assign_sub(0.01 * slope)

    elif backend == "jax":
        import jax

        state = [jax.device_put(array) for array in arrays]
        slopes = [jax.device_put(array) for array in arrays]
        move = jax.jit(
            lambda w, g: [a - 0.01 * b for a, b in zip(w, g, strict=True)], donate_argnums=0
        )

        def step() -> None:
            state[:] = move(state, slopes)
            jax.block_until_ready(state)

    else:
        import torch

        weights = [torch.tensor(array) for array in arrays]
        slopes = [torch.tensor(array) for array in arrays]

        def step() -> None:
            for weight, slope in zip(weights, slopes, strict=True):
                weight.sub_(slope, alpha=0.01)

    return step


def keep_memory() -> bool:
    """Makes the process keep memory that it frees, and returns whether that succeeded.

    glibc returns arrays of more than 32 MB, such as the gradient of 3000 x 3000 weights, to
    the system, which provides new pages at every step. `MALLOC_MMAP_MAX_=0
    MALLOC_TRIM_THRESHOLD_=2000000000` in the environment of a process does the same.
    """
    try:
        library = ctypes.CDLL("libc.so.6")
    except OSError:
        return False
    most_mapped, trim_threshold = -4, -1
    return bool(library.mallopt(most_mapped, 0) and library.mallopt(trim_threshold, 2**31 - 1))


def layer_products(inputs: int, outputs: int, batch: int, below: bool) -> list[Product]:
    """Returns the products of a dense layer in a training step.

    They are the forward pass, the kernel's gradient and, if there is a layer below, the
    inputs' gradient.
    """
    products = [(batch, inputs, outputs), (inputs, batch, outputs)]
    return products + [(batch, outputs, inputs)] * below
