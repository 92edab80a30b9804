"""Configures Sphinx. `sphinx-build -W --keep-going -j auto docs docs/_build` makes the site."""

import os
import pathlib
import sys
from importlib import metadata

sys.path.append(str(pathlib.Path(__file__).parent / "_ext"))
# Set before TensorFlow is imported, since its log lines would appear in the guides.
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

project = "csdl_keras"
author = "the authors of csdl_keras"
version = release = metadata.version("csdl_keras")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "copied_notebooks",
    "linked_names",
    "markdown_docstrings",
    "mathml",
    "repository_links",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext", "_templates", "plots"]
nitpicky = True
# Exceptions in docstrings have no page on this site.
nitpick_ignore_regex = [("py:exc", r"[\w.]+")]

# Guides are run at each build; `notebooks/` has its committed outputs.
nb_execution_mode = "force"
nb_execution_excludepatterns = ["notebooks/*"]
# A failing guide becomes a warning with its traceback, so that `--keep-going` finds all of them.
nb_execution_show_tb = True
nb_execution_timeout = 180
nb_merge_streams = True
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_default_options = {"exclude-members": "oracle_class"}
autodoc_inherit_docstrings = False
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
# As in Keras, docstrings give types, shapes and units.
autodoc_typehints = "none"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
# Otherwise, napoleon would read several arguments on one line as an argument and its type.
napoleon_use_param = False
napoleon_custom_sections = [("Call arguments", "params_style")]
add_module_names = False
python_use_unqualified_type_names = True
python_display_short_literal_types = True

sphinx_gallery_conf = {
    "examples_dirs": "plots",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("csdl_keras",),
    "reference_url": {"csdl_keras": None},
    "download_all_examples": False,
    "matplotlib_animations": False,
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10**6,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "notebook_extensions": {},
}

html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"csdl_keras {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "native"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Scripts in `plots` whose first picture appears on the pages of these public names.
PICTURES = {
    "losses": "SOSRLoss OneSidedLoss PoissonCostLoss LogisticCostLoss sosr losses.one_sided "
    "losses.poisson_cost losses.logistic_cost",
    "cost_matrix_heatmap": "costs.randomized_proportional",
    "reliability_diagram": "evaluation.reliability evaluation.Reliability "
    "evaluation.calibration_error layers.TemperatureScaling layers.MatrixScaling calibrate",
    "risk_coverage": "evaluation.risk_coverage_curve evaluation.risk_coverage_area",
    "cost_confusion": "bayes_decisions",
    "decision_curve": "evaluation.net_benefit evaluation.decision_curve evaluation.DecisionCurve",
    "cost_curve": "evaluation.cost_curve evaluation.CostCurve",
    "noise_and_views": "MaskingNoise layers.RandomShift layers.RandomAffine layers.ImageViews",
    "imbalance": "datasets.imbalance datasets.DataSet",
    "abstain": "costs.with_abstain",
}
_scripts = {path.stem for path in (pathlib.Path(__file__).parent / "plots").glob("plot_*.py")}
_pictures = {f"csdl_keras.plots.{it.removeprefix('plot_')}": it for it in _scripts}
for _script, _names in PICTURES.items():
    _pictures |= {f"csdl_keras.{it}": f"plot_{_script}" for it in _names.split()}
autosummary_context = {"pictures": _pictures}
