"""Defines the values of options; unlike the package, this module imports quickly."""

#: The fifteen algorithms of the paper's Table 1.
PAPER_ALGORITHMS = (
    *("dnn_blind", "sdae_blind", "cnn_blind", "csosr", "min"),
    *("dnn_bayes", "sdae_bayes", "seae_bayes", "scae_bayes", "cnn_bayes"),
    *("dnn_sosr", "sdae_sosr", "seae_sosr", "csdnn", "cnn_sosr"),
)
#: Algorithms beyond the paper, and aliases of algorithms.
OTHER_ALGORITHMS = (
    "calibrated_bayes",
    "ensemble_bayes",
    "cost_model",
    "dnn_weighted",
    "cnn_weighted",
)
ALIASES = ("scae_sosr",)
#: Baselines of `compare`, from scikit-learn and optional packages. Each is used with argmax and
#: with the Bayes decision.
BASELINES = ("logistic", "boosting", "forest", "lightgbm", "xgboost", "catboost")
OTHER_PACKAGES = BASELINES[3:]
#: Algorithms that `compare` adds on packaged data.
PACKAGED = ("cnn_blind", "cnn_sosr", "csdnn")
#: Algorithms for images only, and those that support neither tables nor named labels.
OF_IMAGES = tuple(name for name in PAPER_ALGORITHMS if name.startswith("cnn_")) + ("cnn_weighted",)
OF_ARRAYS = ("csosr",)
#: Algorithms that train without costs, so they support costs that are known when deciding.
OF_LABELS = tuple(
    name
    for name in (*PAPER_ALGORITHMS, *OTHER_ALGORITHMS)
    if name.endswith(("_blind", "_bayes")) and name != "scae_bayes"
)
#: Algorithms by training time, fastest first.
BY_SPEED = (
    *("dnn_blind", "dnn_bayes", "dnn_weighted", "dnn_sosr", "min"),
    *("cnn_blind", "cnn_bayes", "cnn_weighted", "cnn_sosr"),
    *("sdae_blind", "sdae_bayes", "sdae_sosr", "seae_bayes", "seae_sosr", "scae_bayes", "csdnn"),
    *("calibrated_bayes", "cost_model", "csosr", "ensemble_bayes"),
)
#: Values of `effort`.
EFFORTS = ("quick", "balanced", "best")
#: Formats of `export` with their suffixes.
FORMATS = {"savedmodel": "", "onnx": ".onnx", "litert": ".tflite", "openvino": ".xml"}
#: Kinds of a model's outputs.
OUTPUTS = ("cost", "probability")
#: Profiles of `table2`.
PROFILES = ("tiny", "small", "paper")
#: Variants of Caffe's network.
CNN_VARIANTS = ("quick", "full")
#: Seed of the first cost matrix of every comparison; the others follow.
FIRST_COST_SEED = 1000
#: Shares of the parts into which the user's data are split.
SHARES = {"train": 0.6, "val": 0.2, "test": 0.2}
#: The largest number that data and costs may contain. Networks compute in float32, in which sums
#: of larger numbers could overflow.
LARGEST_NUMBER = 1e38
