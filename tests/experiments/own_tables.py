"""Files as users have them."""

import numpy as np
import pandas
from PIL import Image

from csdl_keras.experiments.own_data import OwnSource

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


def source(path, **choices):
    choices = {"label_column": "answer", "drop": ("id",), **choices}
    return OwnSource(path.stem, path=path, **choices)


def csv(folder, content):
    path = folder / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def table(folder, suffix=".csv"):
    path = folder / f"table{suffix}"
    if suffix == ".csv":
        FRAME.to_csv(path, index=False)
    elif suffix == ".parquet":
        FRAME.to_parquet(path)
    else:
        arrays = {name: FRAME[name].fillna("") if name == "job" else FRAME[name] for name in FRAME}
        kept = {name: np.array(it.tolist()) for name, it in arrays.items()}
        np.savez(path, **kept)
    return path


def images(folder, sizes=((6, 4),), mode="L"):
    for label in ("cat", "dog"):
        (folder / label).mkdir(parents=True)
        for number in range(5):
            size = sizes[number % len(sizes)]
            shape = size if mode == "L" else (*size, 3)
            pixels = RNG.integers(0, 256, shape, dtype=np.uint8)
            Image.fromarray(pixels).save(folder / label / f"{number}.png")
    return folder
