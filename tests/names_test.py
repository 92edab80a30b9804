"""The public names of the package and of each subpackage, which change on purpose only."""

import importlib
import types

import pytest

NAMES = {
    "csdl_keras": """
        ALGORITHMS Algorithm AverageCost BayesDecision Budget CAE CostOutput DecisionAccuracy
        DivergedError LogisticCostLoss MINLoss MaskingNoise NormalizedCost OneSidedLoss
        PAPER_ALGORITHMS PoissonCostLoss RaiseOnDivergence ReconstructionLoss Resume
        SOSRLoss Savings Settings ShuffledBatches StageCache Trainer __version__ adjust_priors
        baselines
        bayes_classifier bayes_decisions calibrate compare costs datasets decide decision_model
        evaluation export guarantee hidden_layers layers losses metrics models output_kind plots
        policy pretrain sklearn sosr train tuning zoo
    """,
    "csdl_keras.baselines": "CSOSR",
    "csdl_keras.costs": """
        AffineCosts between check_cost_matrix check_cost_vectors check_labels check_mean_costs
        class_means convert cost_vectors from_binary randomized_proportional regret with_abstain
        zero_one
    """,
    "csdl_keras.datasets": """
        DataSet DataUnavailableError EMBEDDED bg_img_rot_synthetic grayscale imbalance load
        Parquet split subset
    """,
    "csdl_keras.evaluation": """
        CostCurve CostDifference CostReport DecisionCurve PriorEstimate Reliability average_cost
        calibration_error compare_costs cost_curve cost_interval cost_per_class cost_report
        decision_costs decision_curve error_rate estimate_priors net_benefit normalized_cost
        reliability risk_coverage_area risk_coverage_curve savings
    """,
    "csdl_keras.layers": """
        BayesDecision BiasCorrectedTemperatureScaling CAE CaffePooling2D ClassCosts
        ClassProbabilities CostOutput Decision ExpectedCost ImageViews InverseLink MaskingNoise
        MatrixScaling MemberMean MemberScaling PriorAdjustment RandomAffine RandomShift
        StandardizedConv2D TableEncoding TemperatureScaling ViewMean WithinChannelLRN
    """,
    "csdl_keras.losses": """
        LogisticCostLoss MINLoss ObservedCostLoss OneSidedLoss PoissonCostLoss
        ReconstructionLoss SOSRLoss SquaredErrorLoss expected_cost logistic_cost min_loss
        one_sided poisson_cost reconstruction sosr
    """,
    "csdl_keras.metrics": "AverageCost DecisionAccuracy NormalizedCost Savings",
    "csdl_keras.models": """
        AuxiliaryCostModel BayesModel ExpectedCostModel auxiliary_costs
        bayes_classifier caffe_cifar10 convnet cost_estimator decision_model ensemble
        expected_cost_model labelled_costs mlp serving_model tabular view_average
    """,
    "csdl_keras.paper": "",
    "csdl_keras.plots": """
        beta_curve cost_against cost_against_threshold cost_confusion cost_curve
        cost_matrix_heatmap decision_curve reliability_diagram risk_coverage
    """,
    "csdl_keras.sklearn": "BayesClassifier CostSensitiveClassifier average_cost_scorer",
    "csdl_keras.tuning": """
        BayesianOptimization CNNHyperModel CSDNNHyperModel GridSearch
        RandomSearch Range
    """,
    "csdl_keras.zoo": "load table",
}


@pytest.mark.parametrize("module", NAMES)
def test_public_names(module):
    imported, names = importlib.import_module(module), NAMES[module].split()
    assert sorted(getattr(imported, "__all__", [])) == sorted(names)
    for name in names:
        is_module = isinstance(getattr(imported, name), types.ModuleType)
        assert is_module == (f"{module}.{name}" in NAMES)


def test_completion_shows_public_names_alone():
    package = importlib.import_module("csdl_keras")
    assert {name for name in dir(package) if name[:2] != "__"} < {*package.__all__}
    assert {*package.__all__} < {*dir(package)}
