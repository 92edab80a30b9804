"""
Net benefit against the threshold
=================================

Examining patients from a probability of 0.1 on accepts nine needless examinations for each tumour
found. A model is useful at a threshold if its net benefit is above that of examining everyone and
that of examining no one.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import csdl_keras as csdl

x, y = load_breast_cancer(return_X_y=True)  # class 0 is a dangerous tumour
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.5, random_state=0, stratify=y)
probabilities = {}
for name, columns in {"all measurements": slice(None), "texture alone": [1]}.items():
    classifier = make_pipeline(StandardScaler(), LogisticRegression())
    classifier.fit(x_train[:, columns], y_train)
    probabilities[name] = classifier.predict_proba(x_test[:, columns])

thresholds = np.arange(1, 51) / 100
curve = csdl.evaluation.decision_curve(y_test, probabilities, thresholds, positive=0)
figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
csdl.plots.decision_curve(curve, ax=axes)
