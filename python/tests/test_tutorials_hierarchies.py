"""What neuralforecast's tutorial of hierarchies does: series and their sums are forecast together and made coherent afterwards."""

import numpy as np
import pandas as pd
import pytest

from foretell import NeuralForecast, tune
from foretell.auto import AutoHINT
from foretell.losses import DistributionLoss
from foretell.models import HINT, NHITS, AutoETS
from foretell.utils import AirPassengersDF

H = 6


def hierarchy():
    """The total and two airlines, of which the second falls as the first grows, with the matrix that sums them."""
    first = AirPassengersDF.assign(unique_id="Airline1")
    second = AirPassengersDF.assign(unique_id="Airline2", y=20 * np.sqrt(AirPassengersDF["y"].to_numpy()[::-1]))
    parts = pd.concat([first, second], ignore_index=True)
    total = parts.groupby("ds", as_index=False)["y"].sum().assign(unique_id="total")
    df = pd.concat([total, parts], ignore_index=True)
    S = pd.DataFrame({"unique_id": ["total", "Airline1", "Airline2"], "Airline1": [1, 1, 0], "Airline2": [1, 0, 1]})
    return df, S


def forecasts_of(df):
    models = [
        NHITS(h=H, input_size=24, max_steps=20, mlp_units=3 * [[8, 8]], scaler_type="standard", enable_progress_bar=False),
        AutoETS(h=H),
    ]
    nf = NeuralForecast(models, freq="ME")
    nf.fit(df)
    return nf.predict()


def test_sums_of_the_parts_are_coherent():
    df, S = hierarchy()
    forecasts = forecasts_of(df)
    for model in ["NHITS", "AutoETS"]:
        table = forecasts.pivot(index="unique_id", columns="ds", values=model).loc[S["unique_id"]].to_numpy()
        sums = S[["Airline1", "Airline2"]].to_numpy()
        # The total is forecast by itself, and differs from the sum of its parts.
        assert not np.allclose(table[0], table[1] + table[2], rtol=1e-4)
        projection = np.linalg.inv(sums.T @ sums) @ sums.T
        coherent = sums @ projection @ table
        np.testing.assert_allclose(coherent[0], coherent[1] + coherent[2])
        np.testing.assert_allclose(coherent, table, rtol=0.5)


def test_hierarchicalforecast_takes_forecasts_as_they_are():
    core = pytest.importorskip("hierarchicalforecast.core")
    methods = pytest.importorskip("hierarchicalforecast.methods")
    df, S = hierarchy()
    reconciler = core.HierarchicalReconciliation(reconcilers=[methods.BottomUp(), methods.MinTrace(method="ols")])
    tags = {"total": np.array(["total"]), "airline": np.array(["Airline1", "Airline2"])}
    coherent = reconciler.reconcile(Y_hat_df=forecasts_of(df), Y_df=df, S_df=S, tags=tags)
    for model in ["NHITS/BottomUp", "NHITS/MinTrace_method-ols", "AutoETS/BottomUp"]:
        table = coherent.pivot(index="unique_id", columns="ds", values=model)
        np.testing.assert_allclose(table.loc["total"], table.loc["Airline1"] + table.loc["Airline2"], rtol=1e-5)


@pytest.mark.parametrize("reconciliation", ["BottomUp", "MinTraceOLS", "MinTraceWLS"])
def test_forecasts_of_hint_add_up_and_are_kept(reconciliation, tmp_path):
    df, S = hierarchy()

    def network(**arguments):
        return NHITS(h=H, input_size=24, max_steps=5, mlp_units=3 * [[8, 8]], scaler_type="standard", **arguments)

    def hint(S, df):
        model = network(loss=DistributionLoss("Normal", level=[80]))
        nf = NeuralForecast([HINT(h=H, S=S, model=model, reconciliation=reconciliation)], freq="ME")
        nf.fit(df)
        return nf

    nf = hint(S, df)
    forecasts = nf.predict()
    assert list(forecasts.columns) == ["unique_id", "ds", "HINT", "HINT-median", "HINT-lo-80", "HINT-hi-80"]
    table = forecasts.pivot(index="unique_id", columns="ds", values="HINT")
    np.testing.assert_allclose(table.loc["total"], table.loc["Airline1"] + table.loc["Airline2"], rtol=1e-5)
    # An array has the rows of the data's ids: in the order of their categories, as hierarchicalforecast's users have them.
    ordered = df.assign(unique_id=pd.Categorical(df["unique_id"], S["unique_id"]))
    same = hint(S[["Airline1", "Airline2"]].to_numpy(), ordered).predict()
    np.testing.assert_array_equal(same["HINT-lo-80"], forecasts["HINT-lo-80"])
    nf.save(tmp_path / "models")
    again = NeuralForecast.load(tmp_path / "models")
    np.testing.assert_allclose(again.predict()["HINT"], forecasts["HINT"], rtol=1e-5)
    # Of the parts alone the sums are added, as where the models were trained.
    of_parts = again.predict(df[df["unique_id"] != "total"]).set_index(["unique_id", "ds"])["HINT"]
    np.testing.assert_allclose(of_parts.sort_index(), forecasts.set_index(["unique_id", "ds"])["HINT"].sort_index(), rtol=1e-4)


def test_what_hint_refuses():
    df, S = hierarchy()
    model = NHITS(h=H, input_size=24, max_steps=1, loss=DistributionLoss("Normal"))
    with pytest.raises(ValueError, match="not a probabilistic objective"):
        HINT(h=H, S=S, model=NHITS(h=H, input_size=24), reconciliation="BottomUp")
    with pytest.raises(ValueError, match="Reconciliation ERM not available"):
        HINT(h=H, S=S, model=model, reconciliation="ERM")
    with pytest.raises(ValueError, match="does not match HINT h 7"):
        HINT(h=7, S=S, model=model, reconciliation="BottomUp")
    for S_of, message in [(np.eye(2), "S has 2 rows, but the data have 3 series"), (np.array([[1, 1], [1, 0], [1, 0]]), "is no series by itself")]:
        with pytest.raises(ValueError, match=message):
            NeuralForecast([HINT(h=H, S=S_of, model=model, reconciliation="BottomUp")], freq="ME").fit(df)
    models = [HINT(h=H, S=S, model=model, reconciliation="BottomUp"), AutoETS(h=H)]
    with pytest.raises(ValueError, match="with and without one"):
        NeuralForecast(models, freq="ME").fit(df)


def test_a_search_chooses_the_reconciliation_too():
    df, S = hierarchy()
    config = {
        "input_size": tune.choice([12, 24]), "max_steps": 3, "mlp_units": 3 * [[8, 8]],
        "reconciliation": tune.grid_search(["BottomUp", "MinTraceOLS"]),
    }  # fmt: skip
    auto = AutoHINT(NHITS, H, DistributionLoss("Normal", level=[80]), None, S, config, num_samples=2, alias="Coherent")
    nf = NeuralForecast([auto], freq="ME")
    nf.fit(df)
    assert len(nf.models[0].results) == 4 and nf.models[0].model.reconciliation in ("BottomUp", "MinTraceOLS")
    table = nf.predict().pivot(index="unique_id", columns="ds", values="Coherent")
    np.testing.assert_allclose(table.loc["total"], table.loc["Airline1"] + table.loc["Airline2"], rtol=1e-5)
