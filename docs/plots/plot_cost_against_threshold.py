"""
Cost against the threshold
==========================

Missing a tumour costs twenty times as much as a needless examination. The curve shows the cost of
deciding by each threshold. The dashed line is the best threshold for correct probabilities.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import csdl_keras as csdl

x, y = load_breast_cancer(return_X_y=True)  # class 1 is harmless
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.5, random_state=0, stratify=y)
costs = [[0, 20], [1, 0]]  # C[true, decision]

figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
classifiers = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "naive Bayes": GaussianNB(),
}
for name, classifier in classifiers.items():
    probabilities = classifier.fit(x_train, y_train).predict_proba(x_test)
    csdl.plots.cost_against_threshold(y_test, probabilities, costs, ax=axes, label=name)
