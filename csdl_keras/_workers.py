"""Processes in which stages run."""

import contextlib
import os
from collections.abc import Iterator

from csdl_keras._optional import optional_module


@contextlib.contextmanager
def workers(jobs: int = 1, scheduler: str | None = None) -> Iterator[None]:
    """Inside the `with`, stages run in `jobs` processes, or on the workers of a Dask cluster.

    Args:
        jobs: number of processes on this machine; 1 (default) is this one.
        scheduler: address of a Dask scheduler, such as `"tcp://10.0.0.1:8786"`;
            its workers must see the data and the folder of the cache under the
            same paths.

    Raises:
        ValueError: if no scheduler answers at that address.
    """
    joblib = optional_module("joblib", "compare")
    if scheduler is not None:
        distributed = optional_module("distributed", "dask")
        try:
            client = distributed.Client(scheduler, timeout="20s")
        except (OSError, ValueError) as error:
            raise ValueError(
                f"Expected a Dask scheduler at {scheduler!r}, such as tcp://10.0.0.1:8786; {error}"
            ) from error
        with client, joblib.parallel_config("dask", n_jobs=-1, wait_for_workers_timeout=60):
            yield
    elif jobs == 1:
        with joblib.parallel_config("sequential", n_jobs=1):
            yield
    else:
        threads = max(1, (os.cpu_count() or 1) // jobs)
        # Processes inherit these; TensorFlow does not heed the variables that joblib sets.
        names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
        before = {name: os.environ.get(name) for name in names}
        os.environ.update({name: value or str(threads) for name, value in before.items()})
        try:
            with joblib.parallel_config("loky", n_jobs=jobs, inner_max_num_threads=threads):
                yield
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                os.environ.update({} if value is None else {name: value})
