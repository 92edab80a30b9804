"""Test tables of the benchmarks, and their splits.

    python benchmarks/table_data.py

writes the fingerprints of the test examples of each split to `results/tables/splits.csv`. The
tables of `mlbench` and `kernlab` are read from R's site library (on Debian,
`apt install r-cran-mlbench r-cran-kernlab`), the others from `empulse`. Needs that and `pyreadr`.
"""

import pathlib

import numpy as np
import pandas as pd
from results import RESULTS, Results
from sklearn.model_selection import train_test_split

from csdl_keras._utils.files import fingerprint

R_LIBRARY = pathlib.Path("/usr/lib/R/site-library")
#: Tables of `empulse`, whose examples have costs of their own.
AMOUNTS = {
    "churn": "churn_tv_subscriptions",
    "credit": "credit_scoring_pakdd",
    "credit_vub": "vub_credit_scoring",
    "upsell": "upsell_bank_telemarketing",
}
#: Package, table and label of tables whose costs are drawn as matrices.
CLASSES = {
    "letter": "mlbench LetterRecognition lettr",
    "satellite": "mlbench Satellite classes",
    "vehicle": "mlbench Vehicle Class",
    "vowel": "mlbench Vowel Class",
    "dna": "mlbench DNA Class",
    "spam": "kernlab spam type",
}
SPLITS = 5
_MOST_ROWS = 10_000


def load_classes(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Returns numbers, texts with at most 30 values, and labels with at least 25 examples."""
    import pyreadr

    package, table, label = CLASSES[name].split()
    frame = pyreadr.read_r(str(R_LIBRARY / package / "data" / f"{table}.rda"))[table]
    frame = frame[frame[label].notna() & (frame[label].astype("str") != "")]
    counts = frame[label].value_counts()
    frame = frame[frame[label].isin(counts.index[counts >= 25])]
    frame = frame.sample(min(_MOST_ROWS, len(frame)), random_state=0).reset_index(drop=True)
    y, inputs = pd.factorize(frame[label].astype("str"), sort=True)[0], frame.drop(columns=label)
    numeric = inputs.select_dtypes(["number", "bool"]).columns
    texts = [it for it in inputs if it not in numeric and inputs[it].nunique() <= 30]
    kinds = {**dict.fromkeys(numeric, "float"), **dict.fromkeys(texts, "str")}
    return inputs[list(kinds)].astype(kinds), y


def load_amounts(name: str) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Returns a table, its labels, and the costs `(N, 2, 2)`, `[true, decision]`."""
    import empulse.datasets

    found = getattr(empulse.datasets, f"load_{AMOUNTS[name]}")(backend="pandas")
    own = {key: np.asarray(value, float) for key, value in found.instance_costs.items()}
    none = np.zeros(len(found.target))
    # The costs that the package documents for each table, with its default parameters.
    if name == "churn":
        outcomes = own["tn_cost"], own["fp_cost"], own["fn_cost"], own["tp_cost"]
    elif name == "upsell":
        missed = np.maximum(0.02463333 * 0.25 * own["balance"], 1.0)
        outcomes = none, none + 1.0, missed, none + 1.0
    else:  # Credit: the profit lost by declining, or the loss given default of the loan.
        outcomes = none, own["fp_cost"], 0.75 * own["cl"], none
    costs = np.stack(outcomes, axis=-1).reshape(-1, 2, 2)
    return found.data, np.asarray(found.target, dtype="int64"), costs


def split_rows(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns rows of training (50 %), validation (20 %) and test (30 %), stratified."""
    rest, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
    train, validation = train_test_split(rest, test_size=2 / 7, stratify=y[rest], random_state=seed)
    return train, validation, test


def main() -> None:
    """Writes the fingerprints of all splits of the test tables."""
    fields = ("table", "split", "rows", "columns", "classes", "test", "fingerprint")
    found = []
    for name in (*AMOUNTS, *CLASSES):
        frame, y = load_classes(name) if name in CLASSES else load_amounts(name)[:2]
        for seed in range(SPLITS):
            test = split_rows(y, seed)[2]
            size = (*frame.shape, len(np.unique(y)))
            row = (name, seed, *size, len(test), fingerprint(test, y)[:16])
            found.append(dict(zip(fields, row, strict=True)))
    results = Results(RESULTS / "tables", "splits", fields)
    results.write(found)
    results.report(f"{len(found)} splits, made before the networks of tables were chosen anew.")


if __name__ == "__main__":
    main()
