"""
Cost against beta
=================

The curves show the test costs of CSDNN for each beta, the weight of costs in pre-training. The data
are two sets of the committed run `notebooks/results/small`.
"""

import csv
import pathlib

import matplotlib.pyplot as plt
import numpy as np

import csdl_keras as csdl

folder = pathlib.Path("..", "..", "notebooks", "results", "small")
with (folder / "beta_curve.csv").open(newline="") as file:
    rows = list(csv.DictReader(file))

figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
for name in ("mnist", "bg_img_rot_synthetic"):
    own = [row for row in rows if (row["dataset"], row["imbalanced"]) == (name, "False")]
    betas = np.unique([float(row["beta"]) for row in own])
    seeds = np.unique([row["cost_seed"] for row in own])
    costs = np.full((len(seeds), len(betas)), np.nan)
    for row in own:
        where = (
            np.flatnonzero(seeds == row["cost_seed"])[0],
            np.searchsorted(betas, float(row["beta"])),
        )
        costs[where] = float(row["test_cost"])
    csdl.plots.beta_curve(betas, costs, ax=axes, label=name, relative=True)
