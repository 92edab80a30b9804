"""
The figure of `csdl-keras compare`
==================================

`plot` of what :func:`csdl_keras.compare` returns, which the command writes as `costs.png`: what
each row costs, the lowest on top.
"""

import matplotlib.pyplot as plt

import csdl_keras as csdl

data = csdl.datasets.load("digits")
cost_matrix = csdl.costs.randomized_proportional(data.y_train, seed=0)
found = csdl.compare(
    data.x_train, data.y_train, cost_matrix, ["dnn_bayes", "dnn_sosr"], epochs=10, verbose=0
)
_, ax = plt.subplots(figsize=(8, 3), layout="constrained")
found.plot(ax)
