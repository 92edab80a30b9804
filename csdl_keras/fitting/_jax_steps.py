"""Several training steps of JAX in one loop of the compiler.

`steps_per_execution` of `fit` is a loop in Python on JAX: each step hands all variables to
the compiled step and takes them back. For a small network that is most of its time, and
for a large one the system gives the arrays of every step anew.

Small networks (2x50) train 1.4 to 1.7 times as fast as with `steps_per_execution` alone; those
of 3x3000 train 1.2 times as fast as with plain `fit` on arrays, and as fast where the system keeps
freed memory (benchmarks/results/speed). Every training of fully-connected networks on JAX on a
CPU gains.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np

#: Most bytes of the batches of a loop, which are all handed over before it begins.
_BYTES = 2**25


def use_looped_steps(model: keras.Model) -> None:
    """Lets `fit` take the steps of an execution in one loop: on JAX, compiled, on one CPU.

    The results are those of `fit` as it is, to rounding. Other devices work while Python
    prepares the next step; what a loop gives there has not been measured.
    """
    if keras.backend.backend() != "jax":
        return
    import jax

    if (
        jax.default_backend() == "cpu"
        and model.train_function is None
        and model.steps_per_execution > 1
        and model.jit_compile
        and not model.run_eagerly
        and keras.distribution.distribution() is None
    ):
        model.train_function = looped(model.train_step, model.steps_per_execution)


def looped(train_step: Callable, most: int) -> Callable:
    """A `train_function` as `fit` calls it.

    Args:
        train_step: `(state, batch) -> (logs, state)`, a function of JAX.
        most: batches an execution.

    Returns:
        `(state, iterator) -> (logs, state)` after up to `most` batches of the iterator, whose
        leaves are arrays of NumPy; the logs are those of the last one.
    """
    import jax

    step = jax.jit(train_step, donate_argnums=0)

    def loop(state: Any, block: Any, count: Any) -> Any:
        def batch(index: Any) -> Any:
            return jax.tree.map(
                lambda array: jax.lax.dynamic_index_in_dim(array, index, keepdims=False), block
            )

        logs, _ = jax.eval_shape(step, state, batch(0))
        logs = jax.tree.map(lambda one: jax.numpy.zeros(one.shape, one.dtype), logs)
        return jax.lax.fori_loop(0, count, lambda i, it: step(it[1], batch(i)), (logs, state))

    run = jax.jit(loop, donate_argnums=0)
    room: int | None = None

    def train(state: Any, iterator: Iterator[Any]) -> tuple[Any, Any]:
        nonlocal room
        logs, batches = None, itertools.islice(iterator, most)
        for _, alike in itertools.groupby(batches, key=_shapes):
            first = next(alike)
            if room is None:
                room = most if _can_loop(step, state, first) else 1
            for block, count in _blocks(itertools.chain([first], alike), room):
                logs, state = run(state, block, count) if count else step(state, block)
        return logs, state

    return train


def _can_loop(step: Any, state: Any, batch: Any) -> bool:
    """Returns True if a loop over the step is possible, and not slower."""
    import jax

    def types(tree: Any) -> list[tuple]:
        return [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(tree)]

    traced = step.trace(state, batch)
    if types(traced.out_info[1]) != types(state):
        return False
    # XLA convolves in loops on one core, five times slower.
    return "conv_general_dilated" not in set(_primitives(traced.jaxpr.jaxpr))


def _primitives(jaxpr: Any) -> Iterator[str]:
    """The names of the operations of a program of JAX, and of the functions it calls."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for called in keras.tree.flatten(list(equation.params.values())):
            inner = getattr(called, "jaxpr", called)
            if hasattr(inner, "eqns"):
                yield from _primitives(inner)


def _shapes(batch: Any) -> list[tuple[int, ...]]:
    import jax

    return [array.shape for array in jax.tree.leaves(batch)]


def _blocks(batches: Iterator[Any], most: int) -> Iterator[tuple[Any, int]]:
    """Blocks of batches of equal shapes, all with room for equally many, and how many they hold.

    So one compiled loop is enough. Large batches come as they are, with the number 0.
    """
    import jax

    first = next(batches)
    batches = itertools.chain([first], batches)
    room = min(most, _BYTES // max(1, sum(array.nbytes for array in jax.tree.leaves(first))))
    if room < 2:
        yield from ((batch, 0) for batch in batches)
        return
    while part := list(itertools.islice(batches, room)):

        def stacked(*arrays: np.ndarray) -> np.ndarray:
            block = np.zeros((room, *arrays[0].shape), arrays[0].dtype)
            np.stack(arrays, out=block[: len(arrays)])
            return block

        yield jax.tree.map(stacked, *part), len(part)
