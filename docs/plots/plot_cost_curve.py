"""
Costs that are not known yet
============================

The figure compares two classifiers over all ratios of the costs of both mistakes and of the
frequencies of both classes. One makes the Bayes decision for each ratio; the other keeps its
threshold of 0.5. A constant decision, the dashed line, costs less if one class or one mistake
outweighs the other.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import csdl_keras as csdl

x, y = load_breast_cancer(return_X_y=True)
x = x[:, :2]
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.5, random_state=0, stratify=y)
classifier = make_pipeline(StandardScaler(), LogisticRegression()).fit(x_train, y_train)
models = {
    "Bayes decisions": classifier.predict_proba(x_test),
    "threshold of 0.5": classifier.predict(x_test),
}

figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
csdl.plots.cost_curve(csdl.evaluation.cost_curve(y_test, models), ax=axes)
