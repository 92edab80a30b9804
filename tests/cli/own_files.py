"""Files as users have them, and what the commands read from them."""

import argparse

import numpy as np
import pandas
from PIL import Image

from csdl_keras_cli.data import Data, read_data
from csdl_keras_cli.main import build_parser
from csdl_keras_cli.own_table import OwnFile, read_table

ROWS = 60
RNG = np.random.default_rng(0)
FRAME = pandas.DataFrame(
    {
        "id": np.arange(ROWS),
        "age": np.where(RNG.random(ROWS) < 0.2, np.nan, RNG.integers(18, 80, ROWS)),
        "job": RNG.choice(["nurse", "baker", None], ROWS),
        "member": RNG.random(ROWS) < 0.5,
        "price_no": np.arange(ROWS) % 7.0 + 7 * (np.arange(ROWS) % 3 == 1),
        "price_yes": np.arange(ROWS) % 5.0 + 7 * (np.arange(ROWS) % 3 != 1),
        "answer": ["no", "yes", "no"] * (ROWS // 3),
    }
)


def _arguments(path, options):
    arguments = build_parser().parse_args("compare --dataset digits --label answer".split())
    return argparse.Namespace(**{**vars(arguments), "data": path, **options})


def load(path=None, **options) -> Data:
    """What a command reads by its options."""
    return read_data(_arguments(path, options))


def read(path, **options) -> OwnFile:
    """What is read of a table, the labels in its column `answer`."""
    return read_table(_arguments(path, options))


def run(code):
    """The inputs that printed lines read."""
    names: dict = {}
    exec(code, names)
    return names["x"]


def csv(folder, content):
    path = folder / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def save(frame, path):
    """Writes a table as the suffix of the path says."""
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        np.savez(path, **{name: np.array(frame[name].tolist()) for name in frame})
    return path


def table(folder, suffix=".csv"):
    filled = FRAME.fillna({"job": ""}) if suffix == ".npz" else FRAME
    return save(filled, folder / f"table{suffix}")


def images(folder, sizes=((6, 4),), mode="L"):
    for label in ("cat", "dog"):
        (folder / label).mkdir(parents=True)
        for number in range(5):
            size = sizes[number % len(sizes)]
            shape = size if mode == "L" else (*size, 3)
            pixels = RNG.integers(0, 256, shape, dtype=np.uint8)
            Image.fromarray(pixels).save(folder / label / f"{number}.png")
    return folder
