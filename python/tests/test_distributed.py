"""Tables of Ray, Dask and Spark: their workers forecast what one machine does, to the last bit."""

import os
import signal
import sys

import numpy as np
import pandas as pd
import pytest

from foretell import NeuralForecast, tune
from foretell.auto import AutoMLP, AutoNLinear, RayOptions
from foretell.losses import DistributionLoss
from foretell.models import NHITS, AutoETS, DeepAR, Ensemble, NLinear, Prophet, SeasonalNaive, TimesNet, TSMixer
from foretell.utils import PredictionIntervals

H = 7


def start_ray():
    pytest.importorskip("ray.data")
    import ray

    # Workers know the classes of this file, too.
    os.environ["PYTHONPATH"] = os.pathsep.join([os.path.dirname(__file__), *filter(None, [os.environ.get("PYTHONPATH")])])
    if not ray.is_initialized():
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    return ray


def ray_engine():
    ray = start_ray()
    yield ray.data.from_pandas, lambda ds: ds.to_pandas()
    ray.shutdown()


def dask_engine():
    pytest.importorskip("fugue")
    dd = pytest.importorskip("dask.dataframe")
    from distributed import Client

    with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None):
        yield lambda df: dd.from_pandas(df, npartitions=3), lambda df: df.compute()


def spark_engine():
    pytest.importorskip("fugue")
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    quiet = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4", "spark.driver.host": "127.0.0.1"}
    session = sql.SparkSession.builder.master("local[2]").config(map=quiet).getOrCreate()
    yield session.createDataFrame, lambda df: df.toPandas()
    session.stop()


@pytest.fixture(scope="module", params=[ray_engine, dask_engine, spark_engine], ids=["ray", "dask", "spark"])
def engine(request):
    """What makes a table of the engine of one of pandas, and the way back."""
    yield from request.param()


@pytest.fixture(scope="module")
def ray():
    ray = start_ray()
    yield ray
    ray.shutdown()


def panel(n_series=300):
    """Daily series of different lengths and ends, whose ids have another order as numbers than as texts."""
    rng = np.random.default_rng(1)
    parts = []
    for series in range(n_series):
        times = pd.date_range("2024-01-01", periods=int(rng.integers(30, 40)), freq="D")
        parts.append(pd.DataFrame({"store": series, "day": times, "sold": rng.normal(10 + series, 2, len(times))}))
    df = pd.concat(parts, ignore_index=True)
    return df.assign(**{"week day": df["day"].dt.dayofweek.astype(float)})


NAMES = {"id_col": "store", "time_col": "day", "target_col": "sold"}


def same(found, expected, *keys):
    """Whether two tables have the same rows, in any order and whatever their libraries call the types."""
    keys = list(keys)
    found = found.astype(expected.dtypes.to_dict()).sort_values(keys).reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected.sort_values(keys).reset_index(drop=True), check_exact=True)


def test_forecasts_are_those_of_one_machine(engine):
    to, back = engine
    df, statics = panel(), pd.DataFrame({"store": range(300), "size": np.arange(300.0)})
    models = [
        NHITS(h=H, input_size=14, max_steps=3, futr_exog_list=["week day"], stat_exog_list=["size"], mlp_units=3 * [[32, 32]]),
        # What this network makes of a series depends on the others that it sees beside it.
        TimesNet(h=H, input_size=14, max_steps=2, hidden_size=8, conv_hidden_size=8),
        DeepAR(h=H, input_size=14, max_steps=2, lstm_hidden_size=8, loss=DistributionLoss("Normal")),
        AutoETS(h=H),
        Ensemble("mean"),
    ]
    nf = NeuralForecast(models, freq="D", local_scaler_type="standard")
    nf.fit(df, static_df=statics, **NAMES)
    future = nf.make_future_dataframe()
    future["week day"] = future["day"].dt.dayofweek.astype(float)
    found = nf.predict(to(df), static_df=statics, futr_df=to(future))
    assert type(found).__module__.partition(".")[0] == type(to(future)).__module__.partition(".")[0]
    same(back(found), nf.predict(df, static_df=statics, futr_df=future), "store", "day")
    with pytest.raises(ValueError, match="require the following future exogenous features"):
        nf.predict(to(df), static_df=statics)


def test_intervals_and_further_steps(engine):
    to, back = engine
    df = panel(20).rename(columns={"store": "unique_id", "day": "ds", "sold": "y"})
    nf = NeuralForecast([NLinear(h=H, input_size=14, max_steps=3)], freq="D")
    nf.fit(df, prediction_intervals=PredictionIntervals())
    same(back(nf.predict(to(df), quantiles=[0.1])), nf.predict(df, quantiles=[0.1]), "unique_id", "ds")
    nf.fit(df)
    same(back(nf.predict(to(df), h=10)), nf.predict(df, h=10), "unique_id", "ds")


def test_cross_validation(engine):
    to, back = engine
    df = panel(40)
    nf = NeuralForecast([NLinear(h=H, input_size=14, max_steps=3)], freq="D")
    keys = ["store", "cutoff", "day"]
    expected = nf.cross_validation(df, n_windows=2, **NAMES)
    again = NeuralForecast([NLinear(h=H, input_size=14, max_steps=3)], freq="D")
    same(back(again.cross_validation(to(df), n_windows=2, **NAMES)), expected, *keys)
    expected = nf.cross_validation(df, n_windows=2, use_fitted=True)
    same(back(nf.cross_validation(to(df), n_windows=2, use_fitted=True)), expected, *keys)


def test_training_gathers_the_rows(engine):
    to, _ = engine
    df = panel(10)
    one, other = (NeuralForecast([NLinear(h=H, input_size=14, max_steps=3)], freq="D") for _ in range(2))
    one.fit(df, **NAMES)
    other.fit(to(df), **NAMES)
    assert np.array_equal(one.predict()["NLinear"], other.predict().column("NLinear"))
    assert other.make_future_dataframe(to(df)).equals(other.make_future_dataframe())


def test_fits_by_parts_are_those_of_one_machine(engine):
    to, back = engine
    df = panel(30)
    models = lambda: [AutoETS(h=H), Prophet(h=H), SeasonalNaive(h=H), Ensemble("mean")]  # noqa: E731
    one, other = (NeuralForecast(models(), freq="D") for _ in range(2))
    one.fit(df, **NAMES)
    other.fit(to(df), by_workers=True, **NAMES)
    assert other._trained().to_bytes() == one._trained().to_bytes()
    same(back(other.predict(to(df))), one.predict(df), "store", "day")
    with pytest.raises(ValueError, match="You must pass a DataFrame"):
        other.predict()


def test_classical_models_keep_the_rows_where_parts_are_not_asked_for(engine, tmp_path):
    to, _ = engine
    df = panel(6)
    one, other = (NeuralForecast([SeasonalNaive(h=H)], freq=None) for _ in range(2))
    one.fit(df, **NAMES)
    other.fit(to(df), **NAMES)
    assert np.array_equal(other.predict().column("SeasonalNaive"), one.predict()["SeasonalNaive"])
    assert len(other.make_future_dataframe()) == 6 * H
    assert len(other.predict_insample()) == len(one.predict_insample())
    other.save(tmp_path / "models")
    assert len(NeuralForecast.load(tmp_path / "models").predict()) == 6 * H


def test_warnings_of_fits_by_parts_are_told_here(engine):
    to, _ = engine
    df = panel(6).groupby("store").head(30)
    weekly = df.assign(day=df["day"] + 6 * (df["day"] - pd.Timestamp("2024-01-01")))
    nf = NeuralForecast([SeasonalNaive(h=H)], freq="D")
    with pytest.warns(UserWarning, match="freq is D, but the times follow W") as told:
        nf.fit(to(weekly), by_workers=True, **NAMES)
    assert len([one for one in told if "but the times follow" in str(one.message)]) == 1


def test_what_parts_cannot_be_fitted_with_is_refused(engine):
    to, _ = engine
    df = panel(2)
    cases = [
        ([SeasonalNaive(h=H)], None, {}, "freq: workers would infer one each"),
        ([SeasonalNaive(h=H)], "D", {"static_df": df, "verbose": True}, "static_df, verbose: workers have"),
        ([SeasonalNaive(h=H)], "D", {"val_size": H}, "val_size: workers have"),
        ([NLinear(h=H, input_size=14, max_steps=1)], "D", {}, "learn of each series by itself"),
    ]
    for models, freq, arguments, message in cases:
        with pytest.raises(ValueError, match=message):
            NeuralForecast(models, freq=freq).fit(to(df), by_workers=True, **arguments, **NAMES)
    with pytest.raises(ValueError, match="leave by_workers out"):
        NeuralForecast([SeasonalNaive(h=H)], freq="D").fit(df, by_workers=True, **NAMES)


def test_models_that_were_fitted_by_parts_begin_anew(engine):
    to, _ = engine
    df = panel(4)
    one, other = (NeuralForecast([AutoETS(h=H)], freq="D") for _ in range(2))
    one.fit(df, **NAMES)
    other.fit(panel(2), **NAMES)
    with pytest.warns(UserWarning, match="Deleting previously fitted models"):
        other.fit(to(df), by_workers=True, use_init_models=True, **NAMES)
    other.fit(to(df), by_workers=True, **NAMES)
    assert other._trained().to_bytes() == one._trained().to_bytes()


def test_rows_on_disk_train_the_same_network(engine, tmp_path, monkeypatch):
    from foretell import _by_turns

    to, _ = engine
    # Several files, and rows of a series in several parts of the table.
    monkeypatch.setattr(_by_turns, "_ROWS", 100)
    df = panel(12).sample(frac=1, random_state=1)
    statics = pd.DataFrame({"store": range(12), "size": np.arange(12.0)})
    settings = {"h": H, "input_size": 14, "max_steps": 3, "futr_exog_list": ["week day"], "stat_exog_list": ["size"], "mlp_units": 3 * [[8, 8]]}
    one, other = (NeuralForecast([NHITS(**settings)], freq="D", local_scaler_type="standard") for _ in range(2))
    one.fit(df, static_df=statics, val_size=H, **NAMES)
    other.fit(to(df), static_df=statics, val_size=H, scratch=tmp_path, **NAMES)
    assert other._trained().to_bytes() == one._trained().to_bytes()
    assert list(tmp_path.iterdir()) == []
    future = one.make_future_dataframe()
    future["week day"] = future["day"].dt.dayofweek.astype(float)
    assert np.array_equal(one.predict(futr_df=future)["NHITS"], other.predict(futr_df=future).column("NHITS"))
    with pytest.raises(ValueError, match="leave scratch out"):
        other.fit(df, scratch=tmp_path, **NAMES)


def test_what_needs_all_series_at_once_is_refused(engine):
    to, _ = engine
    df = panel(2).groupby("store").head(30)
    model = TSMixer(h=H, input_size=14, n_series=2, max_steps=1, ff_dim=4)
    cases = [([model], {}), ([NLinear(h=H, input_size=14, max_steps=1)], {"end": "common"})]
    for models, settings in cases:
        nf = NeuralForecast(models, freq="D", **settings)
        nf.fit(df, **NAMES)
        with pytest.raises(ValueError, match="a table of one machine"):
            nf.predict(to(df))


class Mortal(NeuralForecast):
    """A forecaster whose first worker dies in the middle of a forecast."""

    def predict(self, *args, **kwargs):
        found = super().predict(*args, **kwargs)
        mark = getattr(self, "mark", None)
        if mark is not None and os.getpid() != self.driver:
            try:
                os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return found
            os.kill(os.getpid(), signal.SIGKILL)
        return found


def test_a_worker_that_dies_is_replaced_and_nothing_is_lost_or_doubled(ray, tmp_path):
    df = panel()
    nf = Mortal([NLinear(h=H, input_size=14, max_steps=3)], freq="D")
    nf.fit(df, **NAMES)
    nf.mark, nf.driver = str(tmp_path / "died"), os.getpid()
    found = nf.predict(ray.data.from_pandas(df), num_partitions=3).to_pandas()
    assert os.path.exists(nf.mark)
    same(found, nf.predict(df), "store", "day")


def test_trials_of_a_search_run_as_tasks_of_ray(ray):
    df = panel(4)
    space = {"input_size": tune.choice([7, 14]), "max_steps": tune.choice([2, 5]), "learning_rate": tune.loguniform(1e-4, 1e-2)}
    space_of_mlp = {**space, "hidden_size": 8, "num_layers": tune.grid_search([1, 0, 2])}

    def search(df):
        models = [
            AutoNLinear(h=H, config=space, num_samples=3, ray_options=RayOptions(cpus=2)),
            AutoMLP(h=H, config=space_of_mlp, num_samples=1),
        ]
        nf = NeuralForecast(models, freq="D")
        nf.fit(df, **NAMES)
        return nf

    tasks = search(ray.data.from_pandas(df))
    ray.shutdown()
    alone = search(df)
    for one, other in zip(alone.models, tasks.models, strict=True):
        assert [trial.config for trial in one.results] == [trial.config for trial in other.results]
        assert [trial.metrics for trial in one.results] == [trial.metrics for trial in other.results]
        assert [str(trial.error) for trial in one.results] == [str(trial.error) for trial in other.results]
    assert np.array_equal(tasks.predict().column("AutoNLinear"), alone.predict()["AutoNLinear"])
    assert [str(error) for error in alone.models[1].results.errors] != []
    start_ray()


@pytest.mark.parametrize("kind", ["objects", "categories", "zones"])
def test_ids_and_times_are_read_of_any_type(engine, kind, request):
    if kind == "categories" and request.node.callspec.params["engine"] is spark_engine:
        pytest.skip("Spark has no categories")
    to, back = engine
    df = panel(6).rename(columns={"store": "unique_id", "day": "ds", "sold": "y"})[["unique_id", "ds", "y"]]
    df["unique_id"] = df["unique_id"].map("s{:03}".format).astype(object)
    if kind == "categories":
        df["unique_id"] = df["unique_id"].astype("category")
    if kind == "zones":
        df["ds"] = df["ds"].dt.tz_localize("UTC")
    nf = NeuralForecast([NLinear(h=H, input_size=14, max_steps=3)], freq="D")
    # The rows are gathered here, whatever their types are there.
    nf.fit(to(df))
    found, expected = back(nf.predict(to(df))), nf.predict(df)
    found = found.assign(unique_id=found["unique_id"].astype(object)).sort_values(["unique_id", "ds"])
    assert found["unique_id"].tolist() == expected["unique_id"].tolist()
    assert np.array_equal(found["NLinear"].to_numpy("f4"), expected["NLinear"].to_numpy())
    assert [pd.Timestamp(time).date() for time in found["ds"]] == [time.date() for time in expected["ds"]]
