"""
Are probabilities right?
========================

Naive Bayes is overconfident: its curve lies below the diagonal. One temperature, fitted on held-out
examples, moves the probabilities, and with them the expected costs, closer to the truth.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV
from sklearn.naive_bayes import GaussianNB

import csdl_keras as csdl

data = csdl.datasets.load("digits")
x_train, x_test = (x.reshape(len(x), -1) for x in (data.x_train, data.x_test))

figure, axes = plt.subplots(figsize=(7, 6), layout="constrained")
classifiers = {
    "naive Bayes": GaussianNB(var_smoothing=0.1),
    "with a temperature": CalibratedClassifierCV(
        GaussianNB(var_smoothing=0.1), method="temperature", ensemble=False
    ),
}
for name, classifier in classifiers.items():
    probabilities = classifier.fit(x_train, data.y_train).predict_proba(x_test)
    csdl.plots.reliability_diagram(data.y_test, probabilities, ax=axes, label=name)
