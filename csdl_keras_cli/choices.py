"""The names that options choose from, which the package reads here or checks on import.

Importing the package takes seconds, while help and wrong arguments are to be answered at once.
"""

#: The fifteen algorithms of the paper's Table 1.
PAPER_ALGORITHMS = (
    *("dnn_blind", "sdae_blind", "cnn_blind", "csosr", "min"),
    *("dnn_bayes", "sdae_bayes", "seae_bayes", "scae_bayes", "cnn_bayes"),
    *("dnn_sosr", "sdae_sosr", "seae_sosr", "csdnn", "cnn_sosr"),
)
#: Algorithms beyond the paper, and other names of algorithms.
OTHER_ALGORITHMS = (
    "calibrated_bayes",
    "ensemble_bayes",
    "cost_model",
    "dnn_weighted",
    "cnn_weighted",
)
ALIASES = ("scae_sosr",)
#: Algorithms that `compare` runs by default on images.
DEFAULT_ALGORITHMS = (
    *("ensemble_bayes", "calibrated_bayes", "cost_model"),
    *("dnn_blind", "dnn_bayes", "sdae_bayes", "dnn_sosr", "sdae_sosr", "csdnn"),
    *("cnn_blind", "cnn_bayes", "cnn_sosr"),
)
#: Efforts of training.
EFFORTS = ("quick", "balanced", "best")
#: Formats of `export` with the ends of their files' names.
FORMATS = {"savedmodel": "", "onnx": ".onnx", "litert": ".tflite"}
#: Kinds of a model's outputs.
OUTPUTS = ("cost", "probability")
#: Profiles of `table2`.
PROFILES = ("tiny", "small", "paper")
#: Variants of Caffe's network.
CNN_VARIANTS = ("quick", "full")
#: Seed of the first cost matrix of every comparison; the others follow.
FIRST_COST_SEED = 1000
#: Shares of a user's examples for training, validation and test.
SHARES = (0.6, 0.2, 0.2)
