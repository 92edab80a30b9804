"""
Losses that train cost estimates
================================

The curves show how much the estimate of one cost adds to each loss. One-sided losses accept an
estimate that is too low for the cheapest decision or too high for another one, since the argmin
stays the same. Regression losses have their minimum at the cost itself.
"""

import keras
import matplotlib.pyplot as plt
import numpy as np

import csdl_keras as csdl

figure, panels = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained", sharey=True)
losses = {  # the loss, from which output it takes an estimated cost, and which estimates it has
    "SOSR": (csdl.sosr, lambda r: r, np.linspace(-1.5, 3, 181)),
    "one-sided": (csdl.losses.one_sided, lambda r: r, np.linspace(-1.5, 3, 181)),
    "Poisson": (csdl.losses.poisson_cost, np.log, np.linspace(0.01, 3, 181)),
    "logistic": (
        csdl.losses.logistic_cost,
        lambda r: np.log(r / (1 - r)),
        np.linspace(0.01, 0.99, 99),
    ),
}
for axes, column, title in zip(panels, (0, 1), ("cheapest, cost 0", "other, cost 1"), strict=True):
    for name, (loss, output, estimates) in losses.items():
        outputs = np.full((len(estimates), 2), output(0.5))
        outputs[:, column] = output(estimates)
        costs = np.tile([0.0, 1.0], (len(estimates), 1))
        values = keras.ops.convert_to_numpy(loss(costs, outputs))
        axes.plot(estimates, values - values.min(), label=name)
    axes.axvline(column, color="grey", linestyle=":", linewidth=1)
    axes.set(title=title, xlabel="estimated cost of this decision", ylim=(-0.1, 3))
panels[0].set_ylabel("loss above its minimum")
panels[1].legend(frameon=False)
