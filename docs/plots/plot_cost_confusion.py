"""
What each kind of mistake costs
===============================

The same classifier decides twice: by the most probable class, and at the lowest expected cost.
Each cell shows how many digits of a class got a decision, and their share of the average cost.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression

import csdl_keras as csdl

data = csdl.datasets.load("digits")
costs = csdl.costs.randomized_proportional(data.y_train, seed=0)
x_train, x_test = (x.reshape(len(x), -1) for x in (data.x_train, data.x_test))
probabilities = LogisticRegression(max_iter=500).fit(x_train, data.y_train).predict_proba(x_test)

figure, axes = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")
csdl.plots.cost_confusion(data.y_test, probabilities.argmax(axis=1), costs, ax=axes[0])
decisions = csdl.bayes_decisions(probabilities, costs)
csdl.plots.cost_confusion(data.y_test, decisions, costs, ax=axes[1])
figure.suptitle("most probable class, and lowest expected cost")
