"""Calls as type checkers see them: mypy reads this file with the package, and each mistake must be told. No one runs it."""

from typing import Any

from typing_extensions import assert_type

from foretell import AutoForecaster, NeuralForecast, evaluate, features, forecast, reconcile
from foretell.models import NHITS, TSMixer


class Table:
    """A table of some library."""


nf = NeuralForecast([NHITS(h=12, input_size=24, accelerator="cpu", threads=1)], freq="ME")
df = Table()

assert_type(nf.predict(df), Table)
assert_type(nf.predict(), Any)
assert_type(nf.cross_validation(df, n_windows=2, num_workers=2), Table)
assert_type(nf.simulate(df), Table)
assert_type(nf.explain(df=df), tuple[Table, dict[str, Any]])
assert_type(nf.decompose(df), Table)
assert_type(nf.anomalies(df), Table)
assert_type(nf.make_future_dataframe(df), Table)
assert_type(nf.prepared(like=df)([1.0]), dict[str, Any])
assert_type(features.compute(df, "lag:1"), Table)
assert_type(evaluate(df, "mae"), Table)
assert_type(reconcile(df, df), Table)
assert_type(forecast(df, h=12, futr_df=df, season_length=12, threads=1), Table)
assert_type(AutoForecaster(h=12, end="drop").fit(df).predict(df), Table)
assert_type(AutoForecaster(h=12).fit(df).predict(), Any)
assert_type(AutoForecaster(h=12, precision="bf16").fit(df).predict(df), Table)
assert_type(AutoForecaster(h=12, low_memory=True).fit(df).predict(df), Table)

nf.predict(df, levels=[80])  # type: ignore[call-arg]
nf.cross_validation(df, n_window=3)  # type: ignore[call-arg]
nf.fit(df, valsize=12)  # type: ignore[call-arg]
nf.simulate(df, paths=3)  # type: ignore[call-arg]
nf.explain(df=df, horizon=[1])  # type: ignore[call-arg]
nf.prepared(like=df)([1.0], levels=[80])  # type: ignore[call-arg]
forecast(df, h=12, levels=[80])  # type: ignore[call-arg]
forecast(df, h=12, season=12)  # type: ignore[call-arg]
AutoForecaster(h=12, precision=16)  # type: ignore[arg-type]
AutoForecaster(h=12, thread=1)  # type: ignore[call-arg]
NHITS(h=12, input_size=24, max_stpes=5)  # type: ignore[call-arg]
TSMixer(h=12, input_size=24, n_series=2, learning_rat=0.1)  # type: ignore[call-arg]
NHITS(h="12", input_size=24)  # type: ignore[arg-type]
