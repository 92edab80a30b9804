import copy
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from csdl_keras.experiments.reporting.beta_curve import BetaCurve
from csdl_keras.experiments.reporting.figures import costs_svg, curve_svg
from csdl_keras.experiments.reporting.reading import BetaRow
from csdl_keras.experiments.reporting.render import read_contents, render_page
from csdl_keras.experiments.reporting.svg import PALETTE
from csdl_keras.experiments.reporting.table import read_table, relative_costs
from csdl_keras.experiments.reporting.text import format_title
from csdl_keras.training.algorithms import ALGORITHMS
from tests.experiments.reporting.made_up_folder import DATA, write_folder

matplotlib = pytest.importorskip("matplotlib")
textpath = pytest.importorskip("matplotlib.textpath")


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    write_folder(folder, skip=lambda d, i, n, s: n == "csosr" and i)
    return read_contents(folder)


@pytest.fixture(scope="module")
def page(contents):
    return render_page(contents)


@pytest.fixture(scope="module")
def figures(page):
    """The figures of a page; parsing them shows that they are well-formed."""
    found = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert len(found) == 4 + 2
    return [ElementTree.fromstring(each) for each in found]


def beta_curve(costs, error=0.01):
    points = zip(np.linspace(0, 1, len(costs)), costs, strict=True)
    return BetaCurve(
        [BetaRow("mnist", False, "csdnn", 1000, x, cost, error * cost, cost) for x, cost in points]
    )


def point_texts(curve):
    """The words for each point of a curve."""
    points = zip(curve.betas, curve.costs, curve.standard_errors, strict=True)
    return [f"β = {beta:g}: {cost:.4g} ± {error:.2g}" for beta, cost, error in points]


def times(ratio):
    return f"{ratio:.2f}×" if np.isfinite(ratio) else "none"


def tooltips(figure):
    """Positions of the points by their tooltips."""
    return {
        group.find("title").text: [float(marker.get(axis)) for axis in "xy"]
        for group in figure.iter("g")
        if group.find("title") is not None
        for marker in group.iter("use")
    }


def tick_scale(figure, axis, transform=float):
    """A function from positions to values, by the labels of the ticks."""
    found = {}
    for tick in figure.iter("g"):
        line, text = tick.find("./g/path"), tick.find("./g/text")
        label = re.fullmatch(r"([\d.]+)×?", text.text or "") if text is not None else None
        if label and ("middle" if axis == "x" else "end") in text.get("style"):
            # Labels are centred below, but not quite beside their position: grid lines are at it.
            place = text.get("x") if axis == "x" else line.get("d").split()[2]
            found[float(place)] = transform(float(label[1]))
    assert 2 <= len(found) <= 9 and len(set(found.values())) == len(found)
    slope, start = np.polyfit(list(found), list(found.values()), 1)
    return lambda positions: start + slope * np.array(positions)


class TestSvg:
    def test_elements(self, page, figures):
        """Ids are unique, references stay within a figure, and sizes are those of the page."""
        ids = re.findall(r'\bid="([^"]*)"', page)
        assert len(ids) == len(set(ids))
        for figure in figures:
            own = {element.get("id") for element in figure.iter()}
            text = ElementTree.tostring(figure, encoding="unicode")
            references = re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', text)
            assert references and {a or b for a, b in references} <= own
            assert set(figure.attrib) == {"viewBox", "role", "aria-labelledby"}
            left, top, width, height = map(float, figure.get("viewBox").split())
            assert (left, top, width) == (0, 0, 340) and 150 < height < 500
            styles = [text.get("style") for text in figure.iter("text")]
            sizes = [float(size) for style in styles for size in re.findall(r"([\d.]+)px", style)]
            assert sizes and min(sizes) >= 12

    def test_labels_lie_within_the_figure(self, tmp_path):
        """In the widest font and in bold, whatever algorithms there are."""
        names = list(ALGORITHMS)
        write_folder(tmp_path, data=DATA[:1], errors=dict.fromkeys(names, 0.3), seeds=(1,))
        figure = ElementTree.fromstring(costs_svg(read_table(tmp_path).columns[0], "a"))
        font = textpath.FontProperties(family="DejaVu Sans", weight="bold")
        height = float(figure.get("viewBox").split()[-1])
        labels = list(figure.iter("text"))
        assert len(labels) > len(names)
        for text in labels:
            size = float(re.search(r"([\d.]+)px", text.get("style"))[1])
            width = textpath.TextPath((0, 0), text.text, size, prop=font).get_extents().width
            anchor = re.search(r"text-anchor: (\w+)", text.get("style"))[1]
            left = float(text.get("x")) - {"end": width, "middle": width / 2}[anchor]
            assert left >= 0 and left + width <= 340 and 0 < float(text.get("y")) < height

    def test_colours_and_fonts_are_the_page_s(self, page, figures):
        style = re.search(r"<style>(.*?)</style>", page, flags=re.DOTALL)[1]
        light, dark = style, "".join(re.findall(r"dark\) \{ :root \{(.*?)\}", style, re.DOTALL))
        for figure in figures:
            text = ElementTree.tostring(figure, encoding="unicode")
            # Text, lines and points: whatever is drawn has a colour of the palette.
            assert not re.search(r"#[0-9a-f]{3,8}[;\"]|rgb|black|DejaVu|url|<style", text)
            used = set(re.findall(r"var\(--(\w+)\)", text))
            assert {"ink", "line", "SOSR", "font"} <= used and "--font:" in style
            for name in used - {"font"}:
                assert f"--{name}: {PALETTE[name].light};" in light
                assert f"--{name}: {PALETTE[name].dark};" in dark
            for element in figure.iter("text"):
                assert "var(--ink)" in element.get("style")

    def test_the_same_under_any_style_of_the_user(self, contents):
        curve, column = contents.curves[0], contents.table.columns[2]
        before = curve_svg(curve, "a"), costs_svg(column, "b")
        changed = {"text.color": "red", "font.size": 30, "svg.fonttype": "path", "axes.grid": True}
        with matplotlib.rc_context(changed):
            assert (curve_svg(curve, "a"), costs_svg(column, "b")) == before
            assert matplotlib.rcParams["font.size"] == 30


class TestAlternativeText:
    def test_it_names_the_figure_and_tells_its_content(self, contents, figures):
        for figure, column in zip(figures, contents.table.columns, strict=False):
            title, description = alternative_text(figure)
            assert title.startswith("Cost relative to the lowest") and column.title in title
            for row in relative_costs(column):
                shown = f"{format_title(row.algorithm)} {times(row.ours)}"
                shown += f"{', bold' if row.bold else ''} (paper {times(row.paper)})"
                assert shown in description
        for figure, curve in zip(figures[4:], contents.curves, strict=True):
            title, description = alternative_text(figure)
            assert title == f"Test cost by β on {curve.title}"
            assert "; ".join(point_texts(curve)) in description
            assert description.endswith("Chosen by validation: β = 0.4.")


def alternative_text(figure):
    """The texts that the attributes for screen readers point at."""
    assert figure.get("role") == "img"
    by_id = {element.get("id"): element.text for element in figure}
    return [by_id[name] for name in figure.get("aria-labelledby").split()]


class TestPoints:
    @pytest.mark.parametrize("scale, error", [(0.1, 0.0), (30000.0, 0.01)])
    def test_of_a_curve_lie_at_their_costs(self, scale, error):
        curve = beta_curve(scale * np.array([1.0, 0.8, 0.9, 1.3]), error)
        figure = ElementTree.fromstring(curve_svg(curve, "a"))
        points = tooltips(figure)
        assert list(points) == point_texts(curve)
        xs, ys = zip(*points.values(), strict=True)
        np.testing.assert_allclose(tick_scale(figure, "y")(ys), curve.costs, atol=0.01 * scale)
        np.testing.assert_allclose(tick_scale(figure, "x")(xs), curve.betas, atol=0.01)

    def test_the_ring_is_around_the_chosen_beta(self):
        figure = ElementTree.fromstring(curve_svg(beta_curve([3.0, 2.0, 1.0, 4.0]), "a"))
        rings = [use for use in figure.iter("use") if "fill-opacity: 0;" in use.get("style")]
        places = [[float(use.get(axis)) for axis in "xy"] for use in rings]
        assert places == [tooltips(figure)["β = 0.666667: 1 ± 0.01"]]

    def test_of_costs_lie_at_their_ratios(self, contents, figures):
        for column, figure in zip(contents.table.columns, figures, strict=False):
            points, ratios = tooltips(figure), {}
            for row in relative_costs(column):
                title = format_title(row.algorithm)
                for key, ratio in ((title, row.ours), (f"{title}, paper", row.paper)):
                    if np.isfinite(ratio):
                        ratios[f"{key}: {ratio:.2f}×"] = ratio
            assert points.keys() == ratios.keys()
            xs = [points[key][0] for key in ratios]
            found = np.exp(tick_scale(figure, "x", np.log)(xs))
            np.testing.assert_allclose(found, list(ratios.values()), rtol=0.02)
            heights = {text.text: float(text.get("y")) for text in figure.iter("text")}
            for key in ratios:
                title = key.partition(":")[0].removesuffix(", paper")
                assert abs(points[key][1] - heights[title]) < 6

    @pytest.mark.parametrize("costs", [[0.0, 0.0], [1.0, 1e9], [1.0]])
    def test_of_extreme_costs(self, costs):
        text = curve_svg(beta_curve(costs), "a")
        assert "nan" not in text and "inf" not in text

    @pytest.mark.parametrize("largest", [1, 11, 900, 1e12])
    def test_of_extreme_ratios(self, contents, largest):
        column = copy.deepcopy(contents.table.columns[0])
        for cell, cost in zip(column.cells.values(), np.geomspace(1, largest, 10), strict=True):
            object.__setattr__(cell, "cost", cost)
        figure = ElementTree.fromstring(costs_svg(column, "a"))
        ticks = [float(t.get("x")) for t in figure.iter("text") if (t.text or "").endswith("×")]
        assert 2 <= len(ticks) <= 7
        assert np.diff(ticks).min() >= 20
