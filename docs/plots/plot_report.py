"""
The figures of `csdl-keras report`
==================================

The report of a grid has two figures: costs relative to the lowest one in each data set, and curves
of beta. These are from the committed run `notebooks/results/small`.
"""

import io
import pathlib

import matplotlib.pyplot as plt

from csdl_keras.paper.figures import costs_png, curves_png
from csdl_keras.paper.report import read_contents

contents = read_contents(pathlib.Path("..", "..", "notebooks", "results", "small"))
for content in (costs_png(contents.columns), curves_png(contents.curves)):
    pixels = plt.imread(io.BytesIO(content))
    figure = plt.figure(figsize=(pixels.shape[1] / 100, pixels.shape[0] / 100), dpi=100)
    figure.add_axes((0, 0, 1, 1)).set_axis_off()
    figure.axes[0].imshow(pixels)
