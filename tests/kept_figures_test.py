"""`table2 --profile tiny` gives the figures of version 0.2.0, `tests/data/figures`."""

import keras
import pandas
import pytest

from csdl_keras_cli.main import main
from tests.support.fresh_process import REPOSITORY

FOLDER = REPOSITORY / "tests" / "data" / "figures"


@pytest.mark.slow
@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="made on TensorFlow")
def test_same_figures(tmp_path):
    """Other processors round in other ways, which training enlarges."""
    assert main(["table2", "--profile", "tiny", "--out", str(tmp_path)]) == 0
    for name in ("results", "choices", "beta_curve"):
        # Patience counts other epochs now.
        expected = pandas.read_csv(FOLDER / f"table2_tiny.{name}.csv").drop(
            columns="epochs", errors="ignore"
        )
        found = pandas.read_csv(tmp_path / f"{name}.csv")[expected.columns]
        by = list(expected)[:6]  # the columns that tell rows apart come first
        found, expected = (it.sort_values(by, ignore_index=True) for it in (found, expected))
        pandas.testing.assert_frame_equal(found, expected, rtol=0.05, atol=0.02)
