"""
The figure of `csdl-keras compare`
==================================

`costs.png`, here of the committed run `notebooks/results/five`: bars are averages over
cost matrices, dots single matrices.
"""

import pathlib
import tempfile

import matplotlib.pyplot as plt

from csdl_keras.experiments.comparison import ComparedResult, plot_costs
from csdl_keras.experiments.csv_files import read_csv
from csdl_keras.experiments.summaries import summarise

folder = pathlib.Path("..", "..", "notebooks", "results", "five")
results = read_csv(folder / "results.csv", ComparedResult)

with tempfile.TemporaryDirectory() as temporary:
    path = pathlib.Path(temporary, "costs.png")
    plot_costs(summarise(results), results, "What decisions cost on mnist_5k", path)
    pixels = plt.imread(path)
figure = plt.figure(figsize=(pixels.shape[1] / 100, pixels.shape[0] / 100), dpi=100)
figure.add_axes((0, 0, 1, 1)).set_axis_off()
figure.axes[0].imshow(pixels)
