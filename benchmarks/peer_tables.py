"""Formats what decisions of other packages cost, beside those of this one, in Markdown."""

import re
from collections.abc import Collection

import numpy as np
from committed import RESULTS, read
from formats import MeanRatio, markdown_table

SINGLE = "csdl_keras one network, Bayes"
OURS = ("calibrated_bayes", "ensemble_bayes")


def costs_by_method(rows: list[dict[str, str]]) -> dict[tuple[str, str], np.ndarray]:
    """Returns costs by data set and method, one for each split and matrix."""
    found: dict = {}
    for row in rows:
        found.setdefault((row["dataset"], row["method"]), []).append(float(row["average_cost"]))
    return {key: np.array(values) for key, values in found.items()}


def peers_table() -> list[str]:
    """Formats the best peer on each data set, and the default algorithms."""
    costs = costs_by_method(read("peers"))
    measured = [set(d for d, m in costs if m == f"csdl_keras {name}") for name in OURS]
    datasets = [d for d in dict.fromkeys(d for d, _ in costs) if all(d in s for s in measured)]
    peers = {method for _, method in costs if not method.startswith("csdl_keras")}
    body = [[f"the best of {len(peers)} peers"]]
    for dataset in datasets:
        best = min(
            (m for d, m in costs if d == dataset and m in peers),
            key=lambda m: costs[dataset, m].mean(),
        )
        body[0].append(f"{costs[dataset, best].mean():.3f} ({best})")
    for name in OURS:
        values = [costs[dataset, f"csdl_keras {name}"] for dataset in datasets]
        body.append([f"`{name}`", *(f"{value.mean():.3f}" for value in values)])
    return markdown_table(["average test cost", *(f"`{name}`" for name in datasets)], body)


#: Methods on the same linear learner.
LINEAR = (
    "logistic, argmax",
    "costsensitive weighted one-vs-rest",
    "logistic, Bayes",
    "logistic, temperature, Bayes",
)
REDUCTIONS = (
    "costsensitive weighted one-vs-rest",
    "costsensitive weighted all-pairs",
    "costsensitive regression one-vs-rest",
    "costsensitive filter tree",
    "Vowpal Wabbit csoaa",
    "csdl_keras calibrated_bayes",
)


def chosen_peers_table(methods: Collection[str]) -> list[str]:
    """Formats the mean cost of some methods on each data set."""
    costs = costs_by_method(read("peers"))
    datasets = list(dict.fromkeys(dataset for dataset, _ in costs))
    body = [
        [method, *(f"{costs[dataset, method].mean():.3f}" for dataset in datasets)]
        for method in methods
    ]
    return markdown_table(["average test cost", *(f"`{name}`" for name in datasets)], body)


def ensembles_table() -> list[str]:
    """Formats the cost of the ensemble relative to one network."""
    costs = costs_by_method(read("peers", "ensembles"))
    datasets = list(dict.fromkeys(dataset for dataset, _ in costs))
    body = [[f"`{name}`"] for name in OURS]
    for row, name in zip(body, OURS, strict=True):
        for dataset in datasets:
            own = costs[dataset, f"csdl_keras {name}"]
            row.append(MeanRatio.of(own, costs[dataset, SINGLE]).text())
    return markdown_table(["cost beside one network's", *(f"`{name}`" for name in datasets)], body)


#: A table of the report of the benchmark of tables, from its heading to the next empty line.
_TABLES = r"Costs {} when deciding:\n\n(.+?)\n\n"


def tables_table(knowledge: str, parts: Collection[str] = ("",)) -> list[str]:
    """Returns methods on tables whose costs are `"known"` or `"unknown"` when deciding.

    Args:
        knowledge: the one or the other.
        parts: a method is returned if one of them is in its name. Defaults to all methods.
    """
    text = (RESULTS / "tables" / "tables.md").read_text()
    found = re.search(_TABLES.format(knowledge), text, flags=re.DOTALL)
    if found is None:
        raise ValueError(f"Expected costs {knowledge} when deciding in tables.md; received none.")
    head, rule, *body = found[1].splitlines()
    return [head, rule, *(line for line in body if any(part in line for part in parts))]


def empulse_table() -> list[str]:
    """Returns empulse's methods and this package's, by what they know of costs."""
    known = tables_table("known", ("csdl_keras", "empulse"))
    unknown = tables_table("unknown", ("csdl_keras cost_model", "empulse"))

    def marked(lines: list[str], knowledge: str) -> list[str]:
        return [f"| {knowledge} {line}" for line in lines]

    head, rule = f"| costs when deciding {known[0]}", f"| --- {known[1]}"
    return [head, rule, *marked(known[2:], "known"), *marked(unknown[2:], "unknown")]
