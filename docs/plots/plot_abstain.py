"""
A price for not deciding
========================

`costs.with_abstain` adds a decision that costs the same for every class, such as asking a person.
The lower its price, the more often it is chosen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

import csdl_keras as csdl

data = csdl.datasets.load("digits")
costs = csdl.costs.randomized_proportional(data.y_train, seed=0)
x_train, x_test = (x.reshape(len(x), -1) for x in (data.x_train, data.x_test))
probabilities = LogisticRegression(max_iter=500).fit(x_train, data.y_train).predict_proba(x_test)

prices = np.linspace(0.05, 2, 40)
shares, averages = [], []
for price in prices:
    matrix = csdl.costs.with_abstain(costs, price)
    decisions = csdl.bayes_decisions(probabilities, matrix)
    shares.append((decisions == 10).mean())
    averages.append(csdl.evaluation.average_cost(data.y_test, decisions, matrix))

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].plot(prices, averages)
axes[0].set(xlabel="price of abstaining", ylabel="average cost", ylim=0)
axes[1].plot(prices, shares)
axes[1].set(xlabel="price of abstaining", ylabel="share of examples", ylim=0)
