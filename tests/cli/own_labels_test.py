"""Labels of a file as they are written in it."""

import numpy as np
import pandas
import pytest

from csdl_keras_cli.image_folder import read_images
from tests.cli.own_files import csv, images, load, save


@pytest.mark.parametrize(
    "written, labels",
    [
        (["1e2", "100", "1.0", "1"], ("1", "1.0", "100", "1e2")),
        (["1.0", "2.0", "10.0"], ("1.0", "2.0", "10.0")),
        (["1", "01", "001"], ("001", "01", "1")),
        (["1", "+1"], ("+1", "1")),
        (["-0", "0"], ("-0", "0")),
        (["10", "9", "-1"], (-1, 9, 10)),
        (["1", "2", "other"], ("1", "2", "other")),
        (["1.50", "1.5", "low"], ("1.5", "1.50", "low")),
        (["TRUE", "True"], ("TRUE", "True")),
        (["True", "False"], (False, True)),
        (["9223372036854775807", "9223372036854775806"], (2**63 - 2, 2**63 - 1)),
        (["18446744073709551615", "18446744073709551614"], (2**64 - 2, 2**64 - 1)),
        (["New York", "new york"], ("New York", "new york")),
        (["0x10", "16"], ("0x10", "16")),
        (["1_0", "10"], ("10", "1_0")),
        (["yes ", " no"], (" no", "yes ")),
        ([" 1", " 2"], (1, 2)),
    ],
)
def test_labels_stay_as_they_are_written(written, labels, tmp_path):
    lines = [f"{i},{written[i % len(written)]}" for i in range(6 * len(written))]
    data = load(csv(tmp_path, "\n".join(["x,y", *lines])), label="y")
    assert data.labels == labels
    own = [str(data.labels[number]) for number in np.concatenate([*data.y.values()])]
    assert sorted(own) == sorted(6 * [str(one) for one in labels])


@pytest.mark.parametrize(
    "labels, told",
    [
        (["yes", "yes ", "no"], r"'yes' \(4\) and 'yes ' \(4\)"),
        (["yes", " yes", "no"], "and 'yes'"),
        (["New York", "NewYork"], "'New York' .* and 'NewYork'"),
        (["a b", "a  b"], "'a  b' .* and 'a b'"),
        (["a b", "a\u00a0b"], "'a b'"),
        (["a", "a\t", "a "], "'a' .* and 'a.t' .* and 'a '"),
        (["1.0", "1.0 ", "x"], "'1.0' .* and '1.0 '"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_labels_that_differ_by_blanks_alone(labels, told, suffix, tmp_path):
    table = pandas.DataFrame({"y": labels * 4, "x": range(4 * len(labels))})
    path = save(table, tmp_path / f"table{suffix}")
    with pytest.raises(
        ValueError, match=f"in 'y' that differ in more than blanks; received .*{told}"
    ):
        load(path, label="y")


def test_folders_that_differ_by_blanks_alone(tmp_path):
    folder = images(tmp_path / "pets")
    (folder / "dog").rename(folder / "cat ")
    with pytest.raises(ValueError, match="differ in more than blanks"):
        read_images(folder)
