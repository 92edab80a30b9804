"""The paper's Table 1: how each stage of each algorithm treats costs."""

from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm

_HEADINGS = ("algorithm", "name", "pre-training", "training", "prediction")
LEGEND = """\
How each stage treats costs:
  O     cost-aware: it uses the costs of decisions
  E     error-aware: it uses labels, as if all mistakes cost the same
  X     cost-blind: it uses no costs
  none  there is no such stage

Stages:
  pre-training  hidden layers learn one by one to reconstruct their inputs,
                and with E or O to estimate errors or costs as well
  training      the whole network learns, from labels (X) or costs (O)
  prediction    the best output decides (X), or the lowest expected cost under
                class probabilities (O)"""


def table1() -> str:
    """Formats the paper's Table 1, one algorithm a line.

    >>> print(table1().splitlines()[14])
    CSDNN       csdnn       O             O         X
    """
    algorithms = map(get_algorithm, PAPER_ALGORITHMS)
    rows = [_HEADINGS, *((it.title, it.name, *it.awareness) for it in algorithms)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)
