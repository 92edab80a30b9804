"""
The figure of `csdl-keras compare`
==================================

This is the plot of a :func:`csdl_keras.compare` result. The command saves it as `costs.png`. Each
row shows the cost of a method's decisions, with the lowest on top.
"""

import matplotlib.pyplot as plt

import csdl_keras as csdl

data = csdl.datasets.load("digits")
cost_matrix = csdl.costs.randomized_proportional(data.y_train, seed=0)
found = csdl.compare(data.x_train, data.y_train, cost_matrix, verbose=0)
_, ax = plt.subplots(figsize=(8, 3), layout="constrained")
found.plot(ax)
