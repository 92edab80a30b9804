"""
Deciding only where it is cheap
===============================

The curve shows the cost if the model makes only the decisions that it expects to be cheapest, and a
person makes the rest. If a model estimates the costs of its decisions well, its curve rises late.
"""

import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

import csdl_keras as csdl

data = csdl.datasets.load("digits")
costs = csdl.costs.randomized_proportional(data.y_train, seed=0)
x_train, x_test = (x.reshape(len(x), -1) for x in (data.x_train, data.x_test))

figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
classifiers = {
    "naive Bayes": GaussianNB(var_smoothing=1e-3),
    "random forest": RandomForestClassifier(random_state=0),
}
for name, classifier in classifiers.items():
    expected = classifier.fit(x_train, data.y_train).predict_proba(x_test) @ costs
    csdl.plots.risk_coverage(data.y_test, expected, costs, ax=axes, label=name)
