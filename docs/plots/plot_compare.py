"""
The figure of `csdl-keras compare`
==================================

`costs.png`, here of the committed run `notebooks/results/five`: bars are averages over
cost matrices, dots single matrices.
"""

import pathlib
import tempfile

import matplotlib.pyplot as plt
import pandas

from csdl_keras_cli.comparison import plot_costs

folder = pathlib.Path("..", "..", "notebooks", "results", "five")
results = pandas.read_csv(folder / "results.csv")

with tempfile.TemporaryDirectory() as temporary:
    path = pathlib.Path(temporary, "costs.png")
    plot_costs(results, "What decisions cost on mnist_5k", path)
    pixels = plt.imread(path)
figure = plt.figure(figsize=(pixels.shape[1] / 100, pixels.shape[0] / 100), dpi=100)
figure.add_axes((0, 0, 1, 1)).set_axis_off()
figure.axes[0].imshow(pixels)
