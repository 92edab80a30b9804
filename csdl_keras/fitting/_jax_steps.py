"""Runs the training steps of one execution in one compiled loop on JAX.

On JAX, Keras goes through the `steps_per_execution` in a Python loop: each step passes all
variables to the compiled function and takes them back. For a small network this is most of the
time; for a wide one, the system allocates all arrays anew at each step.

Throughput relative to a loop written by hand in JAX, on two CPU cores (docs/guides/speed.md):

| network | `fit` on arrays | `fit`, 100 steps an execution | these loops |
| --- | ---: | ---: | ---: |
| 2x50, batch 1 | 0.21 | 0.66 | 1.11 |
| 2x50, batch 20 | 0.37 | 0.97 | 1.33 |
| 3x3000, batch 128 | 0.99 | | 1.17 |

The gain for 3x3000 vanishes where the process keeps freed memory (0.99 and 0.98).
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import keras
import numpy as np

#: Nested tuples, lists and dicts of arrays.
Tree: TypeAlias = Any

#: Largest size of a loop's batches in bytes; all of them are passed to it at once.
_BYTES = 2**25


def use_looped_steps(model: keras.Model) -> None:
    """Makes `fit` run the steps of an execution in one loop: on JAX, compiled, on one CPU.

    The results equal those of plain `fit` up to rounding. Other devices compute while Python
    prepares the next step, so loops may gain nothing there; this has not been measured.
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
    """Makes a `train_function`, which `fit` calls, out of a training step.

    Args:
        train_step: function `(state, batch) -> (logs, state)` that JAX can trace.
        most: largest number of batches in an execution.

    Returns:
        A function `(state, iterator) -> (logs, state)` that trains on up to `most` batches of
        NumPy arrays and returns the logs of the last one.
    """
    import jax

    step = jax.jit(train_step, donate_argnums=0)

    def loop(state: Tree, block: Tree, count: int) -> tuple[Tree, Tree]:
        def batch(index: int) -> Tree:
            return jax.tree.map(
                lambda array: jax.lax.dynamic_index_in_dim(array, index, keepdims=False), block
            )

        logs, _ = jax.eval_shape(step, state, batch(0))
        logs = jax.tree.map(lambda one: jax.numpy.zeros(one.shape, one.dtype), logs)
        return jax.lax.fori_loop(0, count, lambda i, it: step(it[1], batch(i)), (logs, state))

    run = jax.jit(loop, donate_argnums=0)
    room: int | None = None

    def train(state: Tree, iterator: Iterator[Tree]) -> tuple[Tree, Tree]:
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


def _can_loop(step: Callable, state: Tree, batch: Tree) -> bool:
    """Returns True if JAX can loop over the step without making it slower."""
    import jax

    def types(tree: Tree) -> list[tuple]:
        return [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(tree)]

    traced = step.trace(state, batch)  # type: ignore[attr-defined]
    if types(traced.out_info[1]) != types(state):
        return False
    # XLA runs convolutions in loops on one core, five times slower.
    return "conv_general_dilated" not in set(_primitives(traced.jaxpr.jaxpr))


def _primitives(jaxpr: Tree) -> Iterator[str]:
    """Yields the names of the operations of a traced function and of those that it calls."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for called in keras.tree.flatten(list(equation.params.values())):
            inner = getattr(called, "jaxpr", called)
            if hasattr(inner, "eqns"):
                yield from _primitives(inner)


def _shapes(batch: Tree) -> list[tuple[int, ...]]:
    import jax

    return [array.shape for array in jax.tree.leaves(batch)]


def _blocks(batches: Iterator[Tree], most: int) -> Iterator[tuple[Tree, int]]:
    """Stacks batches of equal shapes into blocks of one size, for which one loop is compiled.

    Yields each block with the number of batches in it. Batches too large to stack are yielded as
    they are, with the number 0.
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
