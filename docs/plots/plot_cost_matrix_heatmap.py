"""
A cost matrix
=============

The heatmap shows the randomized proportional costs of the paper for ten classes of digits. Rows are
true classes, columns are decisions. `unit` names the unit of the costs.
"""

import matplotlib.pyplot as plt

import csdl_keras as csdl

data = csdl.datasets.load("digits")
costs = csdl.costs.randomized_proportional(data.y_train, seed=0)

figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
csdl.plots.cost_matrix_heatmap(costs, ax=axes)
