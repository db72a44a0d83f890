"""Programs that were written for neuralforecast: what they override, give and read."""

import inspect
import json
import os
import signal
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest

from foretell import NeuralForecast, _frames, evaluate, features, models
from foretell._overridden import OVERRIDDEN
from foretell.losses import MQLoss
from foretell.models import NBEATS, NHITS, AutoARIMA, MLP, NLinear, SeasonalNaive
from foretell.utils import AirPassengersPanel, PredictionIntervals

DATA = AirPassengersPanel[["unique_id", "ds", "y"]]
SMALL = {"h": 4, "input_size": 8, "max_steps": 1}


def fitted(model, df=DATA, freq="ME", **arguments):
    nf = NeuralForecast([model], freq=freq)
    nf.fit(df, **arguments)
    return nf


# Classes and callbacks.


@pytest.mark.parametrize(("name", "message"), [
    ("configure_optimizers", "give the model optimizer=, optimizer_kwargs=, lr_scheduler="),
    ("forward", r"write the model in Rust \(docs/own-model.md\)"),
    ("training_step", "give the model loss= and valid_loss="),
    ("_normalization", "give the model scaler_type="),
    ("fit", "wrap NeuralForecast"),
    ("on_train_epoch_end", "leave the method out"),
])  # fmt: skip
def test_methods_that_neuralforecast_calls_are_not_overridden(name, message):
    method = {name: lambda self, *args: None}
    with pytest.raises(TypeError, match=f"^Mine overrides {name}, which neuralforecast calls and foretell does not: .*{message}"):
        type("Mine", (NHITS,), method)
    with pytest.raises(TypeError, match=f"^Mixin overrides {name}"):
        type("Mine", (type("Mixin", (), method), NHITS), {})
    with pytest.raises(TypeError, match=f"^this NHITS overrides {name}"):
        setattr(NHITS(**SMALL), name, lambda: None)


def test_methods_that_are_put_into_a_class_later_are_found_where_a_model_is_made(monkeypatch):
    monkeypatch.setattr(NHITS, "training_step", lambda self, batch: None, raising=False)
    with pytest.raises(TypeError, match="^NHITS overrides training_step"):
        NHITS(**SMALL)
    MLP(**SMALL)


def test_what_is_overridden_are_the_names_that_the_models_themselves_do_not_have():
    own = {"fit", "predict", "decompose", "get_test_size", "set_test_size"}
    assert {name for name in OVERRIDDEN if name in dir(NHITS)} == own


def test_subclasses_have_their_own_column():
    class Mine(NLinear):
        """With a default of its own, and a method that neuralforecast does not know."""

        def __init__(self, h, **arguments):
            super().__init__(h, 2 * h, max_steps=1, **arguments)

        def describe(self):
            return f"{self!r} of {self.input_size} steps"

    nf = NeuralForecast([Mine(4), NLinear(**SMALL), Mine(4, alias="other")], freq="ME")
    nf.fit(DATA)
    assert nf.models[0].describe() == "Mine of 8 steps"
    forecasts = nf.predict()
    assert list(forecasts.columns) == ["unique_id", "ds", "Mine", "NLinear", "other"]
    # It is the model that it extends.
    np.testing.assert_array_equal(forecasts["Mine"], forecasts["NLinear"])


def watcher(name, module="pytorch_lightning.callbacks"):
    return type(name, (), {"__module__": module})()


def test_callbacks_and_loggers_are_told_not_to_be_used():
    with pytest.warns(UserWarning, match=r"^NHITS: callbacks are not used \(ModelCheckpoint, LearningRateMonitor\)") as told:
        NHITS(**SMALL, callbacks=[watcher("ModelCheckpoint"), watcher("LearningRateMonitor", "lightning.pytorch.callbacks")])
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="^NHITS: logger is not used"):
        NHITS(**SMALL, logger=watcher("CSVLogger", "pytorch_lightning.loggers"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NHITS(**SMALL, logger=False, callbacks=[])
        NHITS(**SMALL, logger=True, callbacks=None)


@pytest.mark.parametrize(("callback", "message"), [
    (watcher("EarlyStopping"), "set early_stop_patience_steps and val_check_steps instead"),
    (watcher("StochasticWeightAveraging"), "leave it out"),
    # A class of that name which is not Lightning's may do anything.
    (watcher("ModelCheckpoint", "__main__"), "leave it out"),
])  # fmt: skip
def test_callbacks_that_could_change_the_result_are_refused(callback, message):
    with pytest.raises(ValueError, match=f"callbacks has a {type(callback).__name__}, which could change the result.*: {message}"):
        NHITS(**SMALL, callbacks=[callback])


# Hyper-parameters.

LISTS = [
    (NHITS, "n_blocks", [1, 1, 1], "reads more"), (NHITS, "n_pool_kernel_size", [2, 2, 1], "reads more"),
    (NHITS, "n_freq_downsample", [4, 2, 1], "reads more"), (NHITS, "mlp_units", [[8, 8]] * 3, "any"),
    (NHITS, "stack_types", ["identity"] * 3, "fewer"), (NBEATS, "n_blocks", [1, 1, 1], "reads more"),
    (NBEATS, "mlp_units", [[8, 8]] * 3, "any"), (NBEATS, "stack_types", ["identity", "trend", "seasonality"], "fewer"),
    (models.NBEATSx, "n_blocks", [1, 1, 1], "reads more"), (models.NBEATSx, "mlp_units", [[8, 8]] * 3, "any"),
    (models.NBEATSx, "stack_types", ["identity", "trend", "seasonality"], "fewer"), (models.TCN, "dilations", [1, 2, 4], "any"),
    (models.DilatedRNN, "dilations", [[1, 2], [4, 8]], "any"), (models.KAN, "hidden_size", [8], "none"),
    (models.KAN, "grid_range", [-1.0, 1.0], "reads more"), (NHITS, "training_data_availability_threshold", [0.5, 0.5], "none"),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "name", "values", "takes"), LISTS, ids=lambda value: getattr(value, "__name__", str(value)[:20]))
def test_lists_may_be_as_long_as_in_neuralforecast(cls, name, values, takes):
    """Of lists by stacks as many entries are read as there are stacks; others have any length, or one."""
    longer, shorter = [*values, values[-1]], values[:-1]
    cls(**SMALL, **{name: values})
    for given, is_read in [(longer, takes in ("reads more", "any")), (shorter, takes in ("any", "fewer"))]:
        if is_read:
            assert cls(**SMALL, **{name: given}).hparams[name] == given
        else:
            with pytest.raises(ValueError, match=f"{cls.__name__}: hyper-parameter ({name}|n_blocks|n_pool_kernel_size) must be"):
                cls(**SMALL, **{name: given})


@pytest.mark.parametrize("cls", [NHITS, NBEATS, models.NBEATSx])
def test_further_entries_of_lists_by_stacks_change_nothing_but_are_told(cls, tmp_path):
    sizes = {**SMALL, "mlp_units": [[8, 8]]}
    expected = fitted(cls(**sizes)).predict()
    with pytest.warns(UserWarning, match="n_blocks has 5 numbers and stack_types 3: as in neuralforecast the first 3 are read"):
        nf = fitted(cls(**sizes, n_blocks=[1, 1, 1, 7, 0]))
    pd.testing.assert_frame_equal(nf.predict(), expected)
    nf.save(tmp_path / "models")
    again = NeuralForecast.load(tmp_path / "models")
    pd.testing.assert_frame_equal(again.predict(), expected, check_dtype=False, check_column_type=False)
    assert again.models[0].hparams["n_blocks"] == [1, 1, 1, 7, 0]


def test_every_list_of_every_model_was_tried():
    """Of the hyper-parameters whose defaults are lists; others take one number or a list of two."""
    networks = [cls for cls in vars(models).values() if isinstance(cls, type) and hasattr(cls, "EXOGENOUS_FUTR")]
    lists = {
        (cls.__name__, name)
        for cls in networks
        for name, parameter in inspect.signature(cls).parameters.items()
        if isinstance(parameter.default, list) and parameter.default and "input_size" in inspect.signature(cls).parameters
    }
    assert lists and lists <= {(cls.__name__, name) for cls, name, *_ in LISTS}


@pytest.mark.parametrize(("arguments", "message"), [
    ({"activation": "foo"}, 'activation must be .*ReLU.*, found "foo"'),
    ({"batch_size": 0}, "batch_size must be .*, found 0"),
    ({"scaler_type": "robst"}, "scaler_type must be .*did you mean robust"),
    ({"n_pool_kernel_size": [2, 2]}, "n_pool_kernel_size must be a list of 3 numbers"),
    ({"hist_exog_list": ["a", "a"]}, "hist_exog_list must be each column once"),
    ({"lr_scheduler": "StepLR"}, "lr_scheduler_kwargs.step_size must be given"),
])  # fmt: skip
def test_constructors_check_hyper_parameters(arguments, message):
    with pytest.raises(ValueError, match=f"^NHITS: hyper-parameter {message}"):
        NHITS(**SMALL, **arguments)


def test_what_no_file_can_hold_is_told_by_the_name_of_its_argument():
    with pytest.raises(TypeError, match=r"^MLP: hidden_size must be a number, a text, .*; found <object"):
        MLP(**SMALL, hidden_size=object())


# What comes out.


def test_numbers_of_explanations_are_read_as_tensors_are():
    _, found = fitted(NLinear(**SMALL)).explain()
    values = found["NLinear"]["insample"]
    one, total = values[0, 0, 0, 0, 0, 0], values.sum()
    for number in (one, total, values.mean(), values.abs().max(), values[:1, :1, 0, 0, 0, 0]):
        assert number.cpu().detach().numpy().dtype == "float32"
        assert float(number) == number.item() and isinstance(float(number), float)
    assert f"{one:.2f}" == f"{one.item():.2f}" and (values[0] > one).any()
    np.testing.assert_array_equal(values.sum(dim=(1, 2), keepdim=True), values.numpy().sum(axis=(1, 2), keepdims=True))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_beside_calibrated_intervals_have_double_precision(library):
    df = DATA
    if library == "polars":
        polars = pytest.importorskip("polars")
        df = polars.from_pandas(DATA)
    nf = NeuralForecast([NLinear(**SMALL), NLinear(**SMALL, alias="Q", loss=MQLoss(level=[80]))], freq="ME" if library == "pandas" else "1mo")
    nf.fit(df, prediction_intervals=PredictionIntervals(n_windows=2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with_intervals = nf.predict(level=[80])
    single, double = ("float32", "float64") if library == "pandas" else (polars.Float32, polars.Float64)
    assert {str(dtype) for dtype in list(nf.predict().dtypes)[2:]} == {str(single)}
    assert {str(dtype) for dtype in list(with_intervals.dtypes)[2:]} == {str(double)}


def test_forecasts_of_ends_of_months_join_with_the_rows_that_follow():
    """neuralforecast answers ``freq="MS"`` with first days: a join by ``ds`` needs the times of the data."""
    known, following = DATA[DATA["ds"] < "1960-09"], DATA[DATA["ds"] >= "1960-09"]
    with pytest.warns(UserWarning, match="freq is MS, but the times follow ME, which is used instead"):
        forecasts = fitted(NLinear(**SMALL), known, "MS").predict()
    joined = forecasts.merge(following, on=["unique_id", "ds"])
    assert len(joined) == len(forecasts) == len(following) == 8


# Tables.


@pytest.mark.parametrize("column", ["ds", "unique_id"])
def test_a_column_in_the_index_is_told(column):
    with pytest.raises(KeyError, match=rf"df has no column {column}; it has .*; {column} is in its index: give df.reset_index\(\)"):
        fitted(NLinear(**SMALL), DATA.set_index(column))


def test_names_of_columns_that_are_none_are_told():
    with pytest.raises(TypeError, match="time_col must be the name of a column, found None"):
        features.compute(DATA, "lag:1", time_col=None)
    with pytest.raises(TypeError, match="id_col must be the name of a column, found 1.5"):
        evaluate(DATA.assign(x=1.0), "mae", id_col=1.5)
    with pytest.raises(ValueError, match="rename those of .* that hold one"):
        features.compute(DATA, "lag:1", id_col=["a,b", "c"])


def test_columns_whose_names_are_numbers_are_read():
    df = DATA.assign(price=np.arange(len(DATA)) % 7.0)
    expected = fitted(MLP(**SMALL, hist_exog_list=["price"]), df).predict()
    numbered = df.set_axis([0, 1, 2, 3], axis=1)
    nf = fitted(MLP(**SMALL, hist_exog_list=[3]), numbered, id_col=0, time_col=1, target_col=2)
    np.testing.assert_array_equal(nf.predict()["MLP"], expected["MLP"])
    np.testing.assert_array_equal(nf.predict(numbered)["MLP"], expected["MLP"])


def test_days_written_first_are_told_how_to_be_read():
    df = DATA.assign(ds=DATA["ds"].dt.strftime("%d/%m/%Y"))
    with pytest.raises(ValueError, match=r"pandas.to_datetime\(df\[time_col\], format=\"%d/%m/%Y\"\)") as error:
        fitted(NLinear(**SMALL), df)
    assert "::" not in str(error.value)


# Ctrl-C.


@pytest.fixture
def interrupted():
    """Calls a function that would take minutes, and interrupts it: it ends by that, and not by itself."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt(begun):
        # Whatever came of the work until then: the signal finds it begun, or about to begin.
        time.sleep(0.1)
        while not begun():
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    def call(function, begun=lambda: True):
        thread = threading.Thread(target=interrupt, args=[begun])
        thread.start()
        finished = False
        with pytest.raises(KeyboardInterrupt):
            try:
                function()
                finished = True
            finally:
                thread.join()
                # For the signal, where nothing has heard it yet.
                time.sleep(0.01)
        assert not finished

    yield call
    signal.signal(signal.SIGINT, before)


def long_series(rows, n_series=1):
    rng = np.random.default_rng(1)
    return pd.DataFrame({
        "unique_id": np.repeat(np.arange(n_series), rows), "ds": np.tile(np.arange(rows), n_series), "y": rng.normal(size=rows * n_series).cumsum(),
    })  # fmt: skip


def test_ctrl_c_ends_the_training_of_a_classical_model_and_keeps_those_before_it(interrupted, tmp_path):
    nf = NeuralForecast([NLinear(**SMALL), AutoARIMA(h=4, season_length=24)], freq=1)
    # Two threads train both at a time: the second is given up where it is.
    state = tmp_path / "state"
    # A state is kept once the only step of the first was taken.
    interrupted(
        lambda: nf.fit(long_series(20_000), checkpoint=state, checkpoint_every=1), lambda: any(state.glob("training-*.safetensors"))
    )
    assert nf._engine.names == ["NLinear"] and nf._engine.interruption.endswith(", before AutoARIMA")
    alone = NeuralForecast([AutoARIMA(h=4, season_length=24)], freq=1)
    interrupted(lambda: alone.fit(long_series(20_000)))
    assert alone._engine is None


@pytest.mark.parametrize("method", ["predict", "predict_insample", "cross_validation", "simulate", "explain", "anomalies"])
def test_ctrl_c_ends_what_forecasts(interrupted, method):
    lstm = {"encoder_hidden_size": 64, "decoder_hidden_size": 64}
    nf = fitted(models.LSTM(**SMALL, **lstm, loss=MQLoss(level=[80]), recurrent=False), long_series(20_000), 1)
    df = long_series(200_000)
    work = {
        "predict": lambda: nf.predict(h=1_000_000),
        "predict_insample": lambda: nf.predict_insample(),
        "cross_validation": lambda: nf.cross_validation(df, n_windows=190_000, use_fitted=True),
        "simulate": lambda: nf.simulate(n_paths=1, h=1_000_000),
        "explain": lambda: nf.explain(df=long_series(50, 2_000), explainer="ShapleyValueSampling"),
        "anomalies": lambda: nf.anomalies(df),
    }[method]
    interrupted(work)
    assert len(nf.predict()) == 4


def test_durations_are_told_to_be_no_times():
    df = DATA.assign(ds=DATA["ds"] - DATA["ds"].iloc[0])
    with pytest.raises(ValueError, match=r"time_col: column `ds` holds durations, not times: add them to the first time"):
        fitted(NLinear(**SMALL), df)


def test_complex_numbers_are_refused():
    with pytest.raises(ValueError, match=r'column `y` holds complex numbers: give a part of them, as df\["y"\].abs\(\)'):
        fitted(NLinear(**SMALL), DATA.assign(y=DATA["y"] + 1j))


def test_features_are_missing_where_nothing_is_known_of_them():
    table = features.compute(DATA, "lag:1,3,roll_mean:2,month", "ME")
    first, columns = table.groupby("unique_id").head(4), ["lag_1", "lag_3", "roll_mean_2"]
    assert first[columns].isna().groupby(first["unique_id"]).sum().to_numpy().tolist() == [[1, 3, 2]] * 2
    assert not table.drop(columns=columns).isna().any(axis=None)
    # Models read columns without gaps.
    nf = NeuralForecast([MLP(**SMALL)], freq="ME", features="lag:3")
    nf.fit(DATA)
    assert not nf.predict().isna().any(axis=None)


# Directories.


def test_directories_keep_the_arguments_of_a_trainer_and_the_kind_of_tables(tmp_path):
    polars = pytest.importorskip("polars")
    given = {"accelerator": "cpu", "devices": 1, "logger": False, "enable_progress_bar": False, "precision": "bf16-mixed", "threads": 1}
    nf = NeuralForecast([NLinear(**SMALL, **given)], freq="1mo")
    with warnings.catch_warnings():
        # The times are ends of months.
        warnings.simplefilter("ignore")
        nf.fit(polars.from_pandas(DATA))
    nf.save(tmp_path / "models")
    header = (tmp_path / "models" / "NLinear_0.safetensors").read_bytes()[:20_000].decode("latin-1")
    assert '\\"accelerator\\":\\"cpu\\"' in header and "threads" not in header
    again = NeuralForecast.load(tmp_path / "models")
    assert again.models[0].trainer_kwargs == {name: value for name, value in given.items() if name != "threads"}
    assert again.models[0].to_spec()["precision"] == "bf16"
    forecasts = again.predict()
    assert isinstance(forecasts, polars.DataFrame) and forecasts.equals(nf.predict())


def tensors(path):
    """The bytes of each tensor of a file."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    entries = json.loads(content[8:start]).items()
    return {name: content[start:][slice(*entry["data_offsets"])] for name, entry in entries if "data_offsets" in entry}


def test_directories_have_integer_ids_in_their_order(tmp_path):
    """As neuralforecast sorts them, which takes errors and statistics for those of its series by their places."""
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"unique_id": np.repeat(np.arange(12), 40), "ds": np.tile(np.arange(40), 12)})
    df["y"] = df["unique_id"] * 100 + rng.normal(size=len(df))
    nf = NeuralForecast([NLinear(**SMALL)], freq=1, local_scaler_type="standard")
    nf.fit(df, prediction_intervals=PredictionIntervals())
    nf.save(tmp_path / "models")
    stored = tensors(tmp_path / "models" / "configuration.safetensors")
    uids, errors = (np.frombuffer(stored[f"__hparams__.{name}.values"], "i8") for name in ("uids", "_cs_df.unique_id"))
    assert uids.tolist() == list(range(12))
    assert errors.tolist() == np.repeat(np.arange(12), 2 * 4).tolist()
    expected = nf.predict(level=[80])
    again = NeuralForecast.load(tmp_path / "models")
    pd.testing.assert_frame_equal(again.predict(level=[80]), expected)
    assert again._cs_df["unique_id"].is_monotonic_increasing
    again.save(tmp_path / "again")
    once_more = tensors(tmp_path / "again" / "configuration.safetensors")
    statistics = "__hparams__.scalers_.y.stats_"
    np.testing.assert_allclose(*(np.frombuffer(found.pop(statistics), "f4") for found in (once_more, stored)), rtol=1e-5)
    assert once_more == stored


# What comes out.


def with_ids(ids, categories):
    parts = pd.concat([DATA[DATA["unique_id"] == "Airline1"].assign(unique_id=name) for name in ids], ignore_index=True)
    return parts.assign(unique_id=pd.Categorical(parts["unique_id"], categories))


@pytest.mark.parametrize(("ids", "categories"), [(["b", "a", "c"], ["c", "b", "a"]), (range(11), range(11))])
def test_series_come_in_the_order_of_their_categories(ids, categories):
    nf = fitted(NLinear(**SMALL), with_ids(ids, list(categories)))
    validated = nf.cross_validation(nf._data.df, n_windows=2)
    tables = [nf.predict(), nf.make_future_dataframe(), nf.predict_insample(step_size=4), validated]
    for table in tables:
        assert table["unique_id"].unique().tolist() == list(categories)
        assert table.index.equals(pd.RangeIndex(len(table)))
        assert table.groupby("unique_id", observed=True)["ds"].count().nunique() == 1
    assert list(nf.uids) == list(categories)
    scaled = NeuralForecast([NLinear(**SMALL)], freq="ME", local_scaler_type="standard")
    df = nf._data.df
    scaled.fit(df.assign(y=df["y"] + 1000 * df["unique_id"].cat.codes.astype(int)))
    offsets = scaled.scalers_["y"].stats_[:, 0]
    np.testing.assert_allclose(np.diff(offsets), 1000, rtol=1e-3)
    assert (validated["y"].to_numpy().reshape(len(categories), -1) == validated["y"].to_numpy()[:8]).all()


def test_series_of_polars_come_in_the_order_of_their_categories():
    polars = pytest.importorskip("polars")
    df = polars.from_pandas(with_ids(["b", "a"], ["b", "a"]).astype({"unique_id": "object"}))
    forecasts = fitted(NLinear(**SMALL), df.with_columns(polars.col("unique_id").cast(polars.Enum(["b", "a"])))).predict()
    assert forecasts["unique_id"].unique(maintain_order=True).to_list() == ["b", "a"]


def test_forecasts_begin_behind_the_rows_that_were_validated_on():
    last = DATA["ds"].unique()[-6:]
    df, val_df = DATA[~DATA["ds"].isin(last)], DATA[DATA["ds"].isin(last)]
    nf = fitted(NLinear(**SMALL), df, val_df=val_df)
    expected = fitted(NLinear(**SMALL), val_size=6).predict()
    pd.testing.assert_frame_equal(nf.predict(), expected)
    pd.testing.assert_frame_equal(nf.predict(df=DATA), expected)
    assert nf.predict(df=df)["ds"].min() == last[0]
    # Of another library, with columns in another order.
    polars = pytest.importorskip("polars")
    other = polars.from_pandas(val_df.assign(further=1)).select("further", "y", "ds", "unique_id")
    pd.testing.assert_frame_equal(fitted(NLinear(**SMALL), df, val_df=other).predict(), expected)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_whole_numbers_are_followed_by_decimals_of_rows_to_validate_on(library):
    module = pytest.importorskip(library)
    given = {"pandas": lambda df: df, "polars": lambda df: module.from_pandas(df), "pyarrow": lambda df: module.Table.from_pandas(df)}[library]
    df = pd.DataFrame({"unique_id": "a", "ds": range(20), "y": range(20)}).assign(x=True)
    val_df = pd.DataFrame({"unique_id": "a", "ds": range(20, 24), "y": [1.5, 2.7, 3.5, 4.7]}).assign(x=0.5)
    nf = fitted(SeasonalNaive(h=4, season_length=4), given(df), 1, val_df=given(val_df))
    column = nf.predict()["SeasonalNaive"]
    assert (column.to_pylist() if library == "pyarrow" else column.to_list()) == pytest.approx([1.5, 2.7, 3.5, 4.7])
    # Truth values are numbers, too; ids, times and categories keep their types.
    for one, other in [(df, val_df), (val_df, df)]:
        both = _frames.followed(given(one), given(other.astype({"ds": "int32"})), ["unique_id", "ds"])
        as_pandas = both if library == "pandas" else both.to_pandas()
        assert as_pandas["ds"].dtype == "int64" and as_pandas["x"].tolist() == one["x"].tolist() + other["x"].tolist()


def test_a_fault_behind_rows_to_validate_on_rises_and_leaves_the_models(monkeypatch):
    last = DATA["ds"].unique()[-6:]
    df, val_df = DATA[~DATA["ds"].isin(last)], DATA[DATA["ds"].isin(last)]
    nf = NeuralForecast([NLinear(**SMALL)], freq="ME")

    def broken(*arguments):
        raise TypeError("a fault")

    monkeypatch.setattr(_frames, "followed", broken)
    with pytest.raises(TypeError, match="a fault"):
        nf.fit(df, val_df=val_df)
    assert nf.predict()["ds"].min() == last[0]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_target_keeps_its_type_beside_calibrated_intervals(library):
    module = pytest.importorskip(library)
    given = {"pandas": lambda df: df, "polars": lambda df: module.from_pandas(df), "pyarrow": lambda df: module.Table.from_pandas(df)}
    df = given[library](DATA.astype({"y": "float32"}))
    nf = NeuralForecast([NLinear(**SMALL)], freq="ME")
    cv = nf.cross_validation(df, refit=True, prediction_intervals=PredictionIntervals(), level=[80])
    types_of = dict(zip(cv.column_names, cv.schema.types)) if library == "pyarrow" else {name: cv[name].dtype for name in cv.columns}
    assert str(types_of["y"]).lower() in ("float32", "float") and str(types_of["NLinear"]).lower() in ("float64", "double")


def written_as(kind):
    """The data with times that are no column of times yet."""
    times = {"texts": DATA["ds"].astype(str), "dates": DATA["ds"].dt.date}
    return DATA.assign(ds=times[kind], y=DATA["y"].astype("float64") + 1e-9)


@pytest.mark.parametrize("kind", ["texts", "dates"])
def test_the_target_keeps_its_digits_where_times_are_texts_or_dates(kind):
    df = written_as(kind)
    nf = fitted(NLinear(**SMALL), df)
    for found in (nf.cross_validation(df, n_windows=2), nf.predict_insample(step_size=4), nf.anomalies()):
        assert str(found["y"].dtype) == "float64" and (found["y"] % 1 > 0).all()
        assert str(found["ds"].dtype).startswith("datetime64")


def test_values_of_anomalies_have_the_type_of_the_data():
    nf = fitted(NLinear(**SMALL), DATA.astype({"y": "int64"}))
    assert str(nf.anomalies()["y"].dtype) == "int64"


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_ids_with_a_decimal_point_come_in_the_order_of_numbers(kind):
    df = pd.concat([DATA[DATA["unique_id"] == "Airline1"].assign(unique_id=number, y=number) for number in (10.0, 9.5, 1.0)], ignore_index=True)
    df = df if kind == "pandas" else pytest.importorskip("polars").from_pandas(df)
    nf = fitted(SeasonalNaive(h=2, season_length=1), df)
    for found in (nf.predict(), nf.cross_validation(df, n_windows=1)):
        assert found["unique_id"].to_list() == [1.0, 1.0, 9.5, 9.5, 10.0, 10.0]
        assert found["SeasonalNaive"].to_list() == [1.0, 1.0, 9.5, 9.5, 10.0, 10.0]
    assert list(nf.uids) == [1.0, 9.5, 10.0]


def test_what_forecasts_of_loaded_models_lack_is_told(tmp_path):
    statics = pd.DataFrame({"unique_id": ["Airline1", "Airline2"], "size": [1.0, 2.0]})
    fitted(NHITS(**SMALL, stat_exog_list=["size"]), static_df=statics).save(tmp_path / "models", save_dataset=False)
    nf = NeuralForecast.load(tmp_path / "models")
    with pytest.raises(KeyError, match="static_df is missing: the models read the static columns size"):
        nf.predict(DATA)
    assert len(nf.predict(DATA, static_df=statics)) == 8
    with pytest.raises(ValueError, match="are not stored: call fit, or load models .* save_dataset=True; cross_validation.df, use_fitted=True"):
        nf.predict_insample()
    assert len(nf.cross_validation(DATA, static_df=statics, use_fitted=True)) == 8
    with pytest.raises(ValueError, match="read the file before, as pandas.read_csv.'data.csv'. does"):
        nf.fit("data.csv")


def test_advice_of_metrics_that_need_the_history_names_the_argument():
    cv = fitted(NLinear(**SMALL)).cross_validation(DATA)
    with pytest.raises(ValueError, match="none was given; give it as train_df, or leave mase out"):
        evaluate(cv, "mase")
    assert len(evaluate(cv, "mase", train_df=DATA)) == 2
