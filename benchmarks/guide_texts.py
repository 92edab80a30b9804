"""Sentences of the guides whose figures come from the committed results."""

import functools
import re
from typing import TYPE_CHECKING

from committed import NOTEBOOKS, read

from csdl_keras import ALGORITHMS
from csdl_keras.experiments.reporting.claims import Claim
from csdl_keras.experiments.reporting.render import Contents, read_contents, render_markdown

if TYPE_CHECKING:
    from IPython.display import Markdown


@functools.cache
def paper_contents(run: str = "small") -> Contents:
    """Reads a committed run of the paper's Table 2, by the name of its folder."""
    return read_contents(NOTEBOOKS / run)


def paper_section(beginning: str, run: str = "small", until: str = "<details>") -> "Markdown":
    """Shows the section of the report on a run whose heading begins so, until some words."""
    from IPython.display import Markdown

    report = render_markdown(paper_contents(run))
    sections = re.findall(r"^##? (.+?)\n(.+?)(?=^## |\Z)", report, re.MULTILINE | re.DOTALL)
    text = next(text for heading, text in sections if heading.startswith(beginning))
    return Markdown(text.partition(until)[0])


def _claim(beginning: str) -> Claim:
    return next(it for it in paper_contents().claims if it.statement.startswith(beginning))


def in_words() -> "Markdown":
    """Says what the comparisons with the paper's claims come to."""
    from IPython.display import Markdown

    columns = paper_contents().table.columns
    cheapest = sorted({column.best for column in columns})
    cnn = sum(column.cell("cnn_sosr").bold for column in columns)
    networks = ("dnn", "sdae", "cnn")
    bayes = sum(
        column.cell(f"{name}_bayes").cost < column.cell(f"{name}_blind").cost
        for column in columns
        for name in networks
    )
    connected = [name for name, it in ALGORITHMS.items() if it.in_table2 and it.body == "mlp"]
    blind = [
        column
        for column in columns
        if column.cell("cnn_blind").cost < min(column.cell(name).cost for name in connected)
    ]
    sosr = _claim("algorithms of the SOSR series")
    cheaper, _, costlier = sosr.counts
    aware, rivals = _claim("CSDNN costs less than SEAE SOSR"), _claim("CSDNN is competitive")
    ends = [_claim(f"some β between 0 and 1 costs less than β = {end}") for end in (0, 1)]
    return Markdown(
        f"""\
- Costs have to be considered, and the place for them is the **decision**: the cheapest algorithm of
  all {len(columns)} columns is {" or ".join(f"`{name}`" for name in cheapest)}. `cnn_sosr` is not
  significantly costlier on {cnn} of them.
- Training on costs (SOSR) costs **more** than the Bayes decision on the same network in
  {costlier} of {len(sosr.comparisons)} comparisons and less in {cheaper}.
- Cost-aware pre-training is within noise of cost-blind pre-training in {aware.counts[1]} of
  {len(aware.comparisons)} comparisons, cheaper in {aware.counts[0]}.
- The Bayes decision lowers the mean cost of a network in {bayes} of {3 * len(columns)} cases (three
  networks on {len(columns)} sets).
- The cost-blind convolutional network costs less than every fully-connected algorithm on
  {len(blind)} sets: {"; ".join(column.title for column in blind)}. Elsewhere it needs the Bayes
  decision for that.
- `csdnn` keeps up with `cnn_sosr` on {rivals.counts[0]} of {len(rivals.comparisons)} sets; in the
  paper their costs are alike.
- For the one matrix that each curve has, a β between 0 and 1 beats β = 1 on {ends[1].counts[0]} of
  {len(ends[1].comparisons)} sets, and β = 0 on {ends[0].counts[0]}.
"""
    )


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def coverage(part: str, measure: str, method: str = "csdl_keras") -> dict[tuple, float]:
    """Returns the simulated values of a measure by case and size."""
    return {
        (row["case"], row["size"]): float(row["value"])
        for row in read("coverage")
        if (row["part"], row["measure"], row["method"]) == (part, measure, method)
    }


def intervals() -> "Markdown":
    """Says how wide intervals are, and what many comparisons at once do to them."""
    from IPython.display import Markdown

    widths = coverage("comparison", "width")
    students = coverage("comparison", "width", "Student's t")
    ratios = [width / students[key] for key, width in widths.items() if "log-normal" in key[0]]
    called = coverage("comparison", "called different")
    skewed = max(value for key, value in called.items() if "log-normal" in key[0])
    report = coverage("report", "any row")
    of_two, of_many = (report[f"{models} equal models", "1000"] for models in (2, 15))
    missed = coverage("verdicts", "of 15 equal rows, a given one is not bold")["equal", "5"]
    matrices = coverage("matrices", "called different")
    single = max(value for (_, size), value in matrices.items() if size == "1")

    def number(measure: str, method: str) -> str:
        return f"{coverage('results', measure, method).popitem()[1]:.0f}"

    bootstrap, ours = (
        [number(measure, method) for measure in ("decided", "bold")]
        for method in ("joint bootstrap", "csdl_keras")
    )
    return Markdown(
        f"""\
- With log-normal costs of each example, `compare_costs` called models of equal cost different
  in {_percent(skewed)} of the runs; its intervals are {min(ratios):.1f} to {max(ratios):.1f} times
  as wide as Student's.
- A p-value of `cost_report` is of one pair: among 15 equal models it was below .05 for some row in
  {_percent(of_many)} of all reports, among 2 in {_percent(of_two)}.
- In the [report of the paper's tables](paper.md), intervals are over cost matrices too, by
  Student's t, since these are few. One of 15 equal rows was not bold in {_percent(missed)} of
  tables with 5 matrices. With a single matrix nothing is known of others: rows that cost the same
  over many were called different in up to {_percent(single)}, so that the report says where a
  comparison has one.
- In the table of the paper's claims, a bootstrap that draws the few matrices as if they were many
  decides {bootstrap[0]} of {number("comparisons", "both")} comparisons, this rule {ours[0]};
  {number("verdicts seen otherwise", "both")} verdicts differ. By the bootstrap {bootstrap[1]} cells
  are bold, by this rule {ours[1]}.
"""
    )
