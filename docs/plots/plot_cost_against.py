"""
Trials of a search
==================

Each dot is a trial; the line joins the lowest costs. `csdl-keras tune` draws one such panel for
each setting that it searches, and saves them as `search.png`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

import csdl_keras as csdl

data = csdl.datasets.load("digits")
costs = csdl.costs.randomized_proportional(data.y_train, seed=0)
x_train, x_val = (x.reshape(len(x), -1) for x in (data.x_train, data.x_val))

penalties, found = 10.0 ** np.linspace(-3, 2, 11), []
for penalty in penalties:
    classifier = LogisticRegression(C=1 / penalty, max_iter=500).fit(x_train, data.y_train)
    decisions = csdl.bayes_decisions(classifier.predict_proba(x_val), costs)
    found.append(csdl.evaluation.average_cost(data.y_val, decisions, costs))

figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
csdl.plots.cost_against(penalties, found, "penalty of the weights", ax=axes, log=True)
