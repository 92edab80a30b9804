"""Rules that keep a budget: promises against simulation, the rule against a literal loop."""

import numpy as np
import pytest

import csdl_keras
from csdl_keras.evaluation.bounded_mean import BoundedMean
from tests.support.fresh_process import run_python

COSTS = {2: [[0, 1], [100, 0]], 3: [[0, 1, 4], [2, 0, 1], [30, 5, 0]]}


def draw(num_examples, num_classes, kind, seed):
    """Draws probabilities and labels; the probabilities may be too sure, or say nothing."""
    random = np.random.default_rng(seed)
    right = np.exp(2 * random.normal(size=(num_examples, num_classes)))
    right /= right.sum(axis=1, keepdims=True)
    labels = (right.cumsum(axis=1) > random.uniform(size=(num_examples, 1))).argmax(axis=1)
    given = {"right": right, "sure": right**3, "random": random.permutation(right)}[kind]
    return given / given.sum(axis=1, keepdims=True), labels


def cost_of(rule, probabilities, labels):
    """The average cost, with a loop."""
    paid = []
    for row, label in zip(probabilities, labels, strict=True):
        expected = [
            sum(p * rule.costs[y, k] for y, p in enumerate(row))
            for k in range(rule.costs.shape[1] - 1)
        ]
        asks = min(expected) > rule.price
        paid.append(rule.costs[label, -1 if asks else int(np.argmin(expected))])
        if asks and rule.per == "decided":
            paid.pop()
    return np.mean(paid)


@pytest.mark.parametrize("per", ("case", "decided"))
@pytest.mark.parametrize("kind", ("right", "sure", "random"))
@pytest.mark.parametrize("num_classes", (2, 3))
def test_few_rules_break_their_promise(num_classes, kind, per):
    costs = np.array(COSTS[num_classes], float)
    new, true = draw(40_000, num_classes, kind, seed=1000)
    asking = 0.4 if per == "case" else 0.0
    budget = 0.42 if per == "case" else 8.0
    broken, attained = 0, 0
    for seed in range(40):
        given = draw(300, num_classes, kind, seed)
        rule = csdl_keras.guarantee(*given, costs, budget=budget, abstain_cost=asking, per=per)
        attained += rule.attained
        outcome = rule.outcome(true, rule.decide(new))
        broken += rule.attained and outcome > budget
        assert not rule.attained or rule.upper <= budget * (1 + 1e-9)
    assert (
        attained or kind == "random"
    ) and broken <= 5  # More are drawn with probability .014 at a rate of 5 %.


def test_the_rule_and_its_outcome_follow_the_equation():
    probabilities, labels = draw(400, 3, "right", 0)
    for per in ("case", "decided"):
        rule = csdl_keras.guarantee(
            probabilities, labels, COSTS[3], budget=2.0, abstain_cost=0.5, per=per
        )
        decisions = rule.decide(probabilities)
        assert rule.attained and 0 < rule.coverage == np.mean(decisions < 3)
        expected = cost_of(rule, probabilities, labels)
        np.testing.assert_allclose(rule.outcome(labels, decisions), expected)
        assert expected < rule.upper <= 2.0


def test_the_bound_is_the_one_of_the_level_that_was_left():
    # Without a price of asking all tests begin at the lowest price, at the whole level.
    probabilities, labels = draw(500, 2, "right", 3)
    rule = csdl_keras.guarantee(probabilities, labels, COSTS[2], budget=0.9, confidence=0.9)
    paid = rule.costs[labels, rule.decide(probabilities)]
    np.testing.assert_allclose(rule.upper, BoundedMean(paid, 0, 100).upper(0.9), rtol=1e-9)


def test_more_examples_and_larger_budgets_decide_more():
    coverages = [
        csdl_keras.guarantee(*draw(size, 3, "right", 5), COSTS[3], budget=budget).coverage
        for size, budget in ((300, 0.3), (3000, 0.3), (3000, 0.6), (3000, 40.0))
    ]
    assert coverages == sorted(coverages) and coverages[0] < coverages[1] and coverages[-1] == 1


def test_a_budget_below_what_can_be_promised():
    given = draw(300, 2, "random", 0)
    rule = csdl_keras.guarantee(*given, COSTS[2], budget=0.01, abstain_cost=0.5)
    assert not rule.attained and rule.coverage == 0 and (rule.decide(given[0]) == 2).all()
    # Probabilities of 0 cost nothing in expectation, and are passed on all the same.
    assert rule.decide([[1.0, 0.0]]) == 2 and "cannot be promised" in rule.sentence
    again = csdl_keras.guarantee(*given, COSTS[2], budget=rule.upper, abstain_cost=0.5)
    assert again.attained


def test_budgets_of_classes_and_a_column_for_asking():
    probabilities, labels = draw(2000, 3, "right", 7)
    names = np.array(["a", "b", "c"])
    costs = np.hstack([COSTS[3], [[0.2], [0.3], [0.4]]])
    budget = {"c": 1.5, "a": 0.5}
    rule = csdl_keras.guarantee(probabilities, names[labels], costs, budget=budget, classes=names)
    outcome = rule.outcome(names[labels], rule.decide(probabilities))
    assert rule.attained and rule.coverage > 0 and list(rule.upper) == list(outcome) == ["c", "a"]
    assert all(outcome[label] < rule.upper[label] <= budget[label] for label in budget)
    np.testing.assert_array_equal(rule.costs, costs)


def test_a_limit_of_questions_is_promised_as_well():
    given = draw(2000, 3, "right", 7)
    free = csdl_keras.guarantee(*given, COSTS[3], budget=1.0)
    kept, broken = (
        csdl_keras.guarantee(*given, COSTS[3], budget=1.0, max_asked=share)
        for share in (1.3 * free.upper_asked, 0.5 * free.upper_asked)
    )
    assert kept.attained and not broken.attained
    assert 1 - kept.coverage < kept.upper_asked <= 1.3 * free.upper_asked


def test_a_model_decides_by_the_rule_in_a_fresh_process(tmp_path):
    model = csdl_keras.models.mlp((2,), 2, (4,), seed=0)
    x = np.random.default_rng(0).normal(size=(500, 2)).astype("float32")
    probabilities = model.predict(x, verbose=0)
    labels = (probabilities[:, 1] > np.random.default_rng(1).uniform(size=500)).astype(int)
    np.save(tmp_path / "x.npy", x)
    expected = []
    for number, budget in enumerate((0.25, 0.1)):
        rule = csdl_keras.guarantee(
            model, (x, labels), 1 - np.eye(2), budget=budget, abstain_cost=0.2
        )
        assert rule.attained == (budget > 0.2)
        expected.append(rule.decide(probabilities).tolist())
        np.testing.assert_array_equal(csdl_keras.decide(rule.model, x), expected[-1])
        rule.model.save(tmp_path / f"{number}.keras")
    code = (
        "import csdl_keras, keras, numpy as np; "
        f"models = [keras.saving.load_model(f'{tmp_path}/{{i}}.keras') for i in range(2)]; "
        f"x = np.load('{tmp_path}/x.npy'); "
        "print([csdl_keras.decide(model, x).tolist() for model in models])"
    )
    assert str(expected) in run_python(code)


def test_the_report_says_what_came_of_a_promise():
    given = draw(2000, 3, "right", 7)
    rule = csdl_keras.guarantee(*given, COSTS[3], budget=1.0, abstain_cost=0.2)
    new, labels = draw(500, 3, "right", 8)
    decisions = {"network": rule.decide(new)}
    report = csdl_keras.evaluation.cost_report(
        decisions, labels, rule.costs, promises={"network": rule}
    )
    (promise,) = report.remarks
    assert promise.startswith(f"network: {rule.sentence}")
    assert f"{rule.outcome(labels, decisions['network']):.4g}" in promise
    assert promise.split()[0] in str(report)


@pytest.mark.parametrize(
    "changes, words",
    (
        ({"budget": float("nan")}, "budget"),
        ({"budget": {7: 1.0}}, "7"),
        ({"probabilities": csdl_keras.models.mlp((2,), 2, (4,))}, "tuple"),
    ),
)
def test_refusals(changes, words):
    probabilities, labels = draw(300, 2, "right", 0)
    arguments = {"probabilities": probabilities, "y": labels, "costs": COSTS[2], "budget": 1.0}
    with pytest.raises(ValueError, match=words):
        csdl_keras.guarantee(**{**arguments, **changes})
