"""
Data sets and their imbalanced variants
=======================================

The figure shows the first digits of `mnist_5k`, and how many of each class its imbalanced variant
keeps: four random classes lose 70 % of their examples, as in the paper.
"""

import matplotlib.pyplot as plt
import numpy as np

import csdl_keras as csdl

data = csdl.datasets.load("mnist_5k")
variant = csdl.datasets.imbalance(data, seed=0)

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].imshow(
    np.hstack([np.vstack(data.x_train[i : i + 6, ..., 0]) for i in range(0, 60, 6)]), "gray_r"
)
axes[0].set_axis_off()
for name, labels in {"balanced": data.y_train, "imbalanced": variant.y_train}.items():
    width = {"balanced": -0.4, "imbalanced": 0.4}[name]
    axes[1].bar(range(10), np.bincount(labels), width, align="edge", label=name)
axes[1].set(xlabel="class", ylabel="training examples", xticks=range(10))
figure.legend(loc="outside upper right", frameon=False, ncols=2)
