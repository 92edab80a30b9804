"""
The figure of `csdl-keras compare`
==================================

`costs.png`, here of the committed run `notebooks/results/mnist_5k_default`: bars are averages over
cost matrices, dots single matrices.
"""

import dataclasses
import pathlib
import tempfile

import matplotlib.pyplot as plt

from csdl_keras.experiments.comparison import ComparedResult, plot_costs, summarise
from csdl_keras.experiments.reporting.reading import read_csv
from csdl_keras.experiments.results import Result

folder = pathlib.Path("..", "..", "notebooks", "results", "mnist_5k_default")
rows = read_csv(folder / "results.csv", Result)
results = [ComparedResult(**dataclasses.asdict(row), effort="quick") for row in rows]

with tempfile.TemporaryDirectory() as temporary:
    path = pathlib.Path(temporary, "costs.png")
    plot_costs(summarise(results), results, "What decisions cost on mnist_5k", path)
    pixels = plt.imread(path)
figure = plt.figure(figsize=(pixels.shape[1] / 100, pixels.shape[0] / 100), dpi=100)
figure.add_axes((0, 0, 1, 1)).set_axis_off()
figure.axes[0].imshow(pixels)
