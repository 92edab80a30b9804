"""Cost matrices in files."""

import pathlib

import numpy as np

from csdl_keras.costs import check_cost_matrix


def read_cost_matrix(path: pathlib.Path, num_classes: int) -> np.ndarray:
    """Reads a `(K, K)` cost matrix, `C[true, decision]`, from a .npy or .csv file.

    Args:
        path: the file; a .csv file holds numbers separated by commas, and no names.
        num_classes: `K`.

    Returns:
        A checked matrix.

    Raises:
        ValueError: if the file is missing, cannot be read, or holds something else.
    """
    if path.suffix not in (".npy", ".csv"):
        raise ValueError(f"Expected a cost matrix in a .npy or .csv file; received {path}.")
    try:
        if path.suffix == ".npy":
            matrix = np.load(path, allow_pickle=False)
        else:
            matrix = np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(
            f"Expected {path} to hold a cost matrix of {num_classes} x {num_classes} numbers; "
            f"{error}"
        ) from error
    return check_cost_matrix(matrix, num_classes)
