"""What neuralforecast's tutorial of hierarchies does: series and their sums are forecast together and made coherent afterwards."""

import numpy as np
import pandas as pd
import pytest

from foretell import NeuralForecast
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


def test_hint_says_what_to_do_instead():
    with pytest.raises(NotImplementedError, match="foretell fit --hierarchy"):
        HINT(h=H, model=AutoETS(h=H), S=hierarchy()[1], reconciliation="BottomUp")
