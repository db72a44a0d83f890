"""Explanations and sample paths, as neuralforecast's tutorial of explainability has them."""

import numpy as np
import pytest

from foretell import NeuralForecast
from foretell.common.enums import ExplainerEnum
from foretell.losses import DistributionLoss, MQLoss
from foretell.models import LSTM, NHITS, AutoETS, DeepAR, MLPMultivariate, NLinear
from foretell.utils import AirPassengersPanel, AirPassengersStatic, PredictionIntervals

H, L = 12, 24
LAST_YEAR = AirPassengersPanel["ds"] >= "1960-01-01"
TRAIN, TEST = AirPassengersPanel[~LAST_YEAR].reset_index(drop=True), AirPassengersPanel[LAST_YEAR].reset_index(drop=True)
COLUMNS = {"futr_exog_list": ["trend"], "hist_exog_list": ["y_[lag12]"], "stat_exog_list": ["airline1", "airline2"]}


def small(**arguments):
    return {"h": H, "input_size": L, "max_steps": 3, "scaler_type": "robust", **arguments}


@pytest.fixture(scope="module")
def nf():
    models = [
        NHITS(**small(**COLUMNS, mlp_units=3 * [[16, 16]])),
        NHITS(**small(loss=MQLoss(level=[80]), alias="Bands", mlp_units=3 * [[16, 16]])),
        LSTM(**small(recurrent=True, encoder_hidden_size=8)),
        MLPMultivariate(**small(**COLUMNS, n_series=2, hidden_size=16)),
        NHITS(**small(loss=DistributionLoss("Normal"), alias="Distribution", mlp_units=3 * [[16, 16]])),
        AutoETS(h=H),
    ]
    # Contributions are those of the model's outputs, which quantiles that are sorted need not be.
    nf = NeuralForecast(models, freq="ME", raw_quantiles=True)
    nf.fit(TRAIN, static_df=AirPassengersStatic)
    return nf


@pytest.mark.parametrize("explainer", [ExplainerEnum.IntegratedGradients, ExplainerEnum.ShapleyValueSampling])
def test_contributions_add_up_to_the_forecasts(nf, explainer):
    forecasts, explanations = nf.explain(futr_df=TEST, explainer=explainer, horizons=[0, 5], verbose=False)
    recurrent = [] if explainer == ExplainerEnum.IntegratedGradients else ["LSTM"]
    assert list(explanations) == ["NHITS", "Bands", *recurrent, "MLPMultivariate"]
    points = {"NHITS": "NHITS", "Bands": "Bands-median", "LSTM": "LSTM", "MLPMultivariate": "MLPMultivariate"}
    assert list(forecasts.columns) == ["unique_id", "ds", "NHITS", "Bands-median", "Bands-lo-80", "Bands-hi-80", *recurrent, "MLPMultivariate"]
    for name, parts in explanations.items():
        total = parts["baseline_predictions"].numpy()
        for kind in ("insample", "futr_exog", "hist_exog", "stat_exog"):
            if parts[kind] is not None:
                total = total + parts[kind].sum(axis=tuple(range(4, parts[kind].ndim)))
        # [2 series, 2 steps] of windows of one series, and of one window of both.
        total = total[0, :, :, 0].T if name == "MLPMultivariate" else total[:, :, 0, 0]
        expected = forecasts[points[name]].to_numpy().reshape(2, H)[:, [0, 5]]
        np.testing.assert_allclose(total, expected, rtol=1e-3)


def test_shapes_are_those_of_neuralforecast(nf):
    _, explanations = nf.explain(futr_df=TEST, explainer="InputXGradient", verbose=False)
    shapes = {name: {kind: getattr(values, "shape", None) for kind, values in parts.items()} for name, parts in explanations.items()}
    assert shapes["NHITS"] == {
        "insample": (2, H, 1, 1, L, 2), "futr_exog": (2, H, 1, 1, 1, L + H), "hist_exog": (2, H, 1, 1, 1, L),
        "stat_exog": (2, H, 1, 1, 2), "baseline_predictions": None,
    }  # fmt: skip
    assert shapes["MLPMultivariate"] == {
        "insample": (1, H, 2, 1, L, 2, 2), "futr_exog": (1, H, 2, 1, 1, L + H, 2), "hist_exog": (1, H, 2, 1, 1, L, 2),
        "stat_exog": (1, H, 2, 1, 2, 2), "baseline_predictions": None,
    }  # fmt: skip
    assert shapes["Bands"]["futr_exog"] is None
    # A recurrent model reads the steps of the horizon, too, as it has forecast them.
    assert shapes["LSTM"]["insample"] == (2, H, 1, 1, L + H, 2)
    _, one = nf.explain(futr_df=TEST, explainer="InputXGradient", series=[1], verbose=False)
    np.testing.assert_array_equal(one["MLPMultivariate"]["insample"], explanations["MLPMultivariate"]["insample"][:, :, [1]])
    # As with tensors of PyTorch.
    values = explanations["NHITS"]["insample"]
    np.testing.assert_array_equal(values.detach().cpu().sum(dim=-1).numpy(), values.numpy().sum(axis=-1))


def test_all_outputs_of_quantiles_are_explained():
    nf = NeuralForecast([NHITS(**small(loss=MQLoss(level=[80]), mlp_units=3 * [[16, 16]]))], freq="ME")
    nf.fit(TRAIN)
    forecasts, explanations = nf.explain(outputs=[0, 1, 2])
    parts = explanations["NHITS"]
    total = parts["baseline_predictions"] + parts["insample"].sum(dim=(-1, -2))
    assert total.shape == (2, H, 1, 3)
    names = ["NHITS-lo-80", "NHITS-median", "NHITS-hi-80"]
    sums, expected = np.sort(total[:, :, 0].reshape(-1, 3), axis=1), np.sort(forecasts[names].to_numpy(), axis=1)
    np.testing.assert_allclose(sums, expected, rtol=1e-3)


def test_what_is_not_explained_is_told(nf):
    with pytest.warns(UserWarning) as told:
        nf.explain(futr_df=TEST)
    skipped = [str(one.message) for one in told if str(one.message).startswith("Skipping")]
    assert [text.partition(":")[0] for text in skipped] == ["Skipping LSTM", "Skipping Distribution", "Skipping AutoETS"]
    for arguments, message in [
        ({"horizons": [H]}, "Invalid indices"), ({"outputs": [1]}, "Invalid output indices"), ({"series": [5]}, "Invalid series indices"),
        ({"explainer": "Lime"}, "Explainer Lime is not supported"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            nf.explain(futr_df=TEST, verbose=False, **arguments)
    lonely = NeuralForecast([AutoETS(h=H)], freq="ME")
    lonely.fit(TRAIN)
    with pytest.raises(ValueError, match="No models support explanations"):
        lonely.explain(verbose=False)


@pytest.mark.parametrize("method", ["gaussian_copula", "schaake_shuffle"])
def test_paths_follow_the_distributions(method):
    nf = NeuralForecast([NHITS(**small(loss=DistributionLoss("Normal"), mlp_units=3 * [[16, 16]])), AutoETS(h=H)], freq="ME")
    nf.fit(TRAIN)
    paths = nf.simulate(n_paths=200, method=method, seed=3)
    assert list(paths.columns) == ["unique_id", "ds", "sample_id", "NHITS", "AutoETS"]
    assert len(paths) == 2 * 200 * H and paths["sample_id"].unique().tolist() == list(range(200))
    assert paths["sample_id"].is_monotonic_increasing and paths["unique_id"].iloc[:: 2 * H].eq("Airline1").all()
    bounds = nf.predict(level=[80]).merge(paths, on=["unique_id", "ds"], suffixes=("", "_path"))
    for model in ["NHITS", "AutoETS"]:
        share = bounds[f"{model}_path"].between(bounds[f"{model}-lo-80"], bounds[f"{model}-hi-80"]).mean()
        assert 0.72 < share < 0.88
    assert nf.simulate(n_paths=200, method=method, seed=3).equals(paths)
    assert not nf.simulate(n_paths=200, method=method, seed=4).equals(paths)


def test_paths_of_calibrated_models_and_of_their_own():
    nf = NeuralForecast([NLinear(**small())], freq="ME")
    nf.fit(TRAIN)
    with pytest.raises(ValueError, match="NLinear"):
        nf.simulate()
    nf.fit(TRAIN, prediction_intervals=PredictionIntervals(n_windows=5))
    assert len(nf.simulate(df=TRAIN, n_paths=3, quantiles=[0.1, 0.5, 0.9])) == 2 * 3 * H
    for arguments, message in [({"n_paths": 0}, "positive integer"), ({"method": "coin"}, "Unknown simulation method 'coin'")]:
        with pytest.raises(ValueError, match=message):
            nf.simulate(**arguments)
    own = NeuralForecast([DeepAR(**small(lstm_hidden_size=8))], freq="ME")
    with pytest.raises(ValueError, match="before simulating"):
        own.simulate()
    own.fit(TRAIN)
    assert own.simulate(n_paths=4, method="ancestral")["DeepAR"].notna().all()
    longer = own.simulate(n_paths=4, h=2 * H, seed=3)
    assert len(longer) == 2 * 4 * 2 * H and longer["DeepAR"].notna().all()
    with pytest.raises(ValueError, match="must be greater"):
        own.simulate(h=1)


@pytest.mark.parametrize("explainer", ["IntegratedGradients", "InputXGradient"])
def test_steps_beyond_the_horizon_are_explained_horizon_by_horizon(explainer):
    models = [NHITS(h=6, input_size=8, max_steps=3, futr_exog_list=["trend"], stat_exog_list=["airline1"], mlp_units=3 * [[16, 16]]), NLinear(h=6, input_size=8, max_steps=3)]
    nf = NeuralForecast(models, freq="ME")
    nf.fit(TRAIN, static_df=AirPassengersStatic)
    forecasts, explanations = nf.explain(futr_df=TEST, explainer=explainer, h=11, horizons=[0, 5, 6, 10])
    parts = explanations["NHITS"]
    assert parts["insample"].shape == (2, 4, 1, 1, 8, 2) and parts["futr_exog"].shape == (2, 4, 1, 1, 1, 8 + 6)
    assert len(forecasts) == 2 * 11
    if explainer == "IntegratedGradients":
        for name, parts in explanations.items():
            total = parts["baseline_predictions"].numpy()
            for kind in ("insample", "futr_exog", "stat_exog"):
                if parts[kind] is not None:
                    total = total + parts[kind].sum(axis=tuple(range(4, parts[kind].ndim)))
            expected = forecasts[name].to_numpy().reshape(2, 11)[:, [0, 5, 6, 10]]
            np.testing.assert_allclose(total[:, :, 0, 0], expected, rtol=1e-3)


def test_gradients_of_categories_are_those_of_their_embeddings():
    data = TRAIN.assign(month=TRAIN["ds"].dt.month_name())
    nf = NeuralForecast([NHITS(**small(hist_exog_list=["trend", "month"], cat_exog_list=["month"], categorical_cardinalities={"month": 12}))], freq="ME")
    nf.fit(data)
    _, explanations = nf.explain(explainer="InputXGradient")
    hist = explanations["NHITS"]["hist_exog"]
    assert hist.shape == (2, H, 1, 1, 2, L)
    assert (hist[..., 1, :] != 0).any() and np.isfinite(hist).all()
