"""Tables of Spark, Dask and Ray: their workers forecast, each some of the series, by models that are trained already.

Series are parted so that every forecast is that of one machine to the last bit: in the order of their ids, as many neighbours at a time
as the engine runs together anyway. pyarrow and the libraries of such tables are imported only when one comes.
"""

from __future__ import annotations

import json
import pickle
import warnings
from base64 import b64decode, b64encode
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from foretell import _ahead, _data, _engine, _foretell, _frames, _levels
from foretell._ids import joined
from foretell._parts import plain
from foretell._told import kept as kept_warnings
from foretell._workers import Workers, workers_of

if TYPE_CHECKING:
    from foretell._trained import Trained

#: The columns beside those of the data: which part a row is of, and whether it is one of the future.
_PART, _AHEAD = "__foretell_part", "__foretell_ahead"


def predict(
    forecaster: Trained, fitted: _foretell.Fitted, df: Any, static_df: Any, futr_df: Any, h: int, level: Sequence[float] | None,
    quantiles: Sequence[float] | None, engine: Any, num_partitions: int | None,
) -> Any:  # fmt: skip
    """`NeuralForecast.predict` by the workers of a table."""
    needed = fitted.future_columns
    if needed:
        _ahead.check_future(set(needed), futr_df)
    levels = _levels.asked(level, quantiles)
    names = levels.names(fitted.forecast_columns(levels.level, levels.quantiles), _engine.named(fitted, forecaster.models))
    columns = [(name, pa.float64() if forecaster._in_double(levels) else pa.float32()) for name in names]
    asked = _Asked("predict", {"h": h, "level": level, "quantiles": quantiles}, columns)
    return _run(forecaster, fitted, asked, df, static_df, futr_df if needed else None, workers_of(df, engine), num_partitions)


def validate(forecaster: Trained, fitted: _foretell.Fitted, df: Any, static_df: Any, n_windows: int, step_size: int, levels: _levels.Levels) -> Any:
    """`NeuralForecast.cross_validation` with ``use_fitted`` by the workers of a table."""
    workers = workers_of(df)
    df = workers.read(df)
    time, target = (workers.schema(df).field(name).type for name in (forecaster.time_col, forecaster.target_col))
    columns = fitted.forecast_columns(levels.level, levels.quantiles)
    names = levels.names(columns, _engine.named(fitted, forecaster.models))
    of_levels = {name: values for name, values in [("level", levels.level), ("quantiles", levels.quantiles)] if values}
    arguments = {"n_windows": n_windows, "step_size": step_size, "use_fitted": True, **of_levels}
    found = [("cutoff", time), *((name, pa.float32()) for name in names), (forecaster.target_col, target)]
    asked = _Asked("cross_validation", arguments, found)
    return _run(forecaster, fitted, asked, df, static_df, None, workers, None)


@dataclass(frozen=True)
class _Asked:
    """What workers are asked for: a method of the forecaster with arguments, and the columns that come of it."""

    method: str
    arguments: dict[str, Any]
    columns: Sequence[tuple[str, Any]]


def _run(
    forecaster: Trained, fitted: _foretell.Fitted, asked: _Asked, df: Any, static_df: Any, futr_df: Any, workers: Workers,
    num_partitions: int | None,
) -> Any:  # fmt: skip
    """The table of a method's results for the series of ``df``, a lazy one of its engine.

    The ids are read at once, for the parts; everything else when the result is.

    Raises:
        ValueError: If a forecast of one of the series needs the others.
    """
    each = _series_per_part(forecaster, fitted)
    own = forecaster._names()
    names, id_col = own.all, own.id_col
    df = with_ids(workers.read(df), own.id_parts, "df", workers)
    _frames.require(df, names, "df")
    schema = workers.schema(df)
    kept = [schema.field(name) for name in dict.fromkeys([*names, *_data.SPECIAL, *fitted.columns]) if name in schema.names]
    bounds = _bounds(_ids(df, id_col, workers), each, num_partitions or workers.parallelism)
    placed = pa.schema([*kept, (_PART, pa.int32()), (_AHEAD, pa.bool_())])

    def place(table: Any, ahead: bool) -> Any:
        return workers.each(table, partial(_placed, id_col=id_col, bounds=bounds, schema=placed, ahead=ahead), placed)

    rows = place(df, False)
    if futr_df is not None:
        futr_df = workers.read(futr_df) if _frames.is_distributed(futr_df) else workers.scattered(_frames.arrow(futr_df))
        futr_df = with_ids(futr_df, own.id_parts, "futr_df", workers)
        rows = workers.union(rows, place(futr_df, True))
    payload = workers.share(_payload(forecaster, _frames.gathered(static_df)))
    found = pa.schema([*(schema.field(name) for name in names[:2]), *asked.columns])
    return workers.parts(rows, _PART, len(bounds) + 1, partial(_answer, payload=payload, asked=asked, schema=found), found)


#: Parts for each that runs at a time, where workers train: so many that none is idle while another has the longest series.
_PARTS_EACH = 4

#: What workers learn of each part: the bytes of models and a list of warnings as texts, which all engines hand on unchanged.
_LEARNED = pa.schema([(_PART, pa.int32()), ("models", pa.string()), ("warnings", pa.string())])


def fit(forecaster: Trained, df: Any, own: _data.Names, columns: Sequence[str]) -> _foretell.Fitted:
    """The models of a table, each series of which a worker fits by itself; what workers warn of is told here.

    Raises:
        ValueError: If a row is wrong.
    """
    workers = workers_of(df)
    names, id_col = own.all, own.id_col
    df = with_ids(workers.read(df), own.id_parts, "df", workers)
    _frames.require(df, names, "df")
    schema = workers.schema(df)
    kept = [schema.field(name) for name in dict.fromkeys([*names, *_data.SPECIAL, *columns]) if name in schema.names]
    bounds = _bounds(_ids(df, id_col, workers), 1, _PARTS_EACH * workers.parallelism)
    placed = pa.schema([*kept, (_PART, pa.int32()), (_AHEAD, pa.bool_())])
    rows = workers.each(df, partial(_placed, id_col=id_col, bounds=bounds, schema=placed, ahead=False), placed)
    payload = workers.share(_payload(forecaster, None, _engine=None))
    learned = workers.gathered(workers.parts(rows, _PART, len(bounds) + 1, partial(_learned, payload=payload, names=names), _LEARNED))
    in_order = sorted(learned.to_pylist(), key=lambda part: part[_PART])
    for text in dict.fromkeys(text for part in in_order for text in json.loads(part["warnings"])):
        # At the line that called `NeuralForecast.fit`.
        warnings.warn(text, stacklevel=4)
    return _foretell.join_models([b64decode(part["models"]) for part in in_order], forecaster.settings.threads)


def _series_per_part(forecaster: Trained, fitted: _foretell.Fitted) -> int:
    if forecaster.settings.end is not None:
        raise ValueError("which series end early is known of all of them together: leave `end` out, or forecast a table of one machine")
    if fitted.series_per_part is None:
        raise ValueError(
            "multivariate models, hierarchies and local_static_scaler_type need all series at once, which workers do not have: forecast "
            "a table of one machine (df.toPandas(), df.compute(), ds.to_pandas())"
        )
    return fitted.series_per_part


def with_ids(df: Any, parts: Sequence[str], table: str, workers: Workers) -> Any:
    """A table with the ids that several columns make, if some do."""
    schema = workers.schema(df)
    if not set(parts) & set(schema.names):
        return df
    _frames.require(df, parts, table, schema.names)
    rest = [schema.field(name) for name in schema.names if name not in parts and name != "unique_id"]
    joined = pa.schema([("unique_id", pa.string()), *rest])
    return workers.each(df, partial(_joined, parts=parts, table_name=table, schema=joined), joined)


def _ids(df: Any, id_col: str, workers: Workers) -> list[str]:
    """The ids in the order of the engine's panels."""
    ids = workers.only(df, [id_col])
    found = workers.gathered(workers.each(ids, distinct, workers.schema(ids)))
    return sorted(map(str, found.column(id_col).unique().to_pylist()))


def _bounds(ids: list[str], each: int, parts: int) -> list[str]:
    """The first ids of all parts but the first: parts of as many series, a multiple of ``each``."""
    size = each * -(-max(len(ids), 1) // (each * parts))
    return ids[size::size]


def _payload(forecaster: Trained, static_df: Any, **changed: Any) -> bytes:
    """The forecaster without the series of its training, in which this is changed, and the static table."""
    settings = forecaster.settings.on(forecaster.settings.threads or 1)
    state = {**forecaster._without_data(), "settings": settings, **changed}
    return pickle.dumps((type(forecaster), state, static_df))


# What workers do.


def distinct(table: pa.Table) -> pa.Table:
    """Its rows, each once."""
    table = plain(table)
    return table.group_by(table.column_names).aggregate([])


def counted(table: pa.Table) -> pa.Table:
    """The texts of its only column, and the rows of each."""
    table = plain(table)
    found = table.group_by(table.column_names).aggregate([([], "count_all")])
    texts = pa.array(map(str, found.column(table.column_names[0]).to_pylist()), pa.string())
    return pa.table({"id": texts, "rows": found.column("count_all")})


def _joined(table: pa.Table, parts: Sequence[str], table_name: str, schema: pa.Schema) -> pa.Table:
    return joined(plain(table), parts, table_name).select(schema.names).cast(schema)


def _placed(table: pa.Table, id_col: str, bounds: list[str], schema: pa.Schema, ahead: bool) -> pa.Table:
    """The columns of a schema, null where a table lacks them, and the part that each row is of."""
    table = plain(table)
    ids = table.column(id_col).combine_chunks().dictionary_encode()
    parts = pa.array([bisect_right(bounds, str(id)) for id in ids.dictionary.to_pylist()], pa.int32())
    extra = {_PART: parts.take(ids.indices), _AHEAD: pa.repeat(pa.scalar(ahead), len(table))}
    found = {**{name: table.column(name) for name in table.column_names}, **extra}
    return pa.table([found[f.name].cast(f.type) if f.name in found else pa.nulls(len(table), f.type) for f in schema], schema=schema)


def _anew(payload: bytes) -> tuple[Any, Any]:
    """A forecaster of its own, and the static table."""
    cls, state, static_df = pickle.loads(payload)
    forecaster = cls.__new__(cls)
    forecaster.__setstate__(state)
    return forecaster, static_df


@lru_cache(maxsize=1)
def _unpacked(payload: bytes) -> tuple[Trained, Any]:
    return _anew(payload)


def _learned(table: pa.Table, payload: Callable[[], bytes], names: Sequence[str]) -> pa.Table:
    """The models of each part of a table, and the warnings of their fits."""
    table = plain(table)
    found = []
    for part in sorted(table.column(_PART).unique().to_pylist()):
        forecaster, _ = _anew(payload())
        rows = table.filter(pc.equal(table.column(_PART), part)).drop_columns([_PART, _AHEAD])
        with kept_warnings() as told:
            forecaster.fit(rows, id_col=names[0], time_col=names[1], target_col=names[2])
        models = b64encode(forecaster._trained().to_bytes()).decode()
        found.append({_PART: part, "models": models, "warnings": json.dumps(told)})
    return pa.Table.from_pylist(found, schema=_LEARNED)


def _answer(table: pa.Table, payload: Callable[[], bytes], asked: _Asked, schema: pa.Schema) -> pa.Table:
    """The results for the series of a part."""
    forecaster, static_df = _unpacked(payload())
    is_ahead = table.column(_AHEAD)
    rows = table.drop_columns([_PART, _AHEAD])
    known, future = rows.filter(pc.invert(is_ahead)), rows.filter(is_ahead)
    if len(known) == 0:
        return schema.empty_table()
    arguments = dict(asked.arguments)
    if len(future) > 0:
        arguments["futr_df"] = future
    found = getattr(forecaster, asked.method)(known, static_df=static_df, **arguments)
    return found.select(schema.names).cast(schema)
