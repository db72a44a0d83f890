"""The workers of Spark and Dask, through fugue."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

try:
    import fugue.api as fa
    import pyarrow as pa
    from fugue import ArrowDataFrame, make_execution_engine
    from triad import Schema
except ImportError as error:
    raise ImportError("tables of Spark and Dask need fugue: pip install 'foretell[spark]' or 'foretell[dask]'") from error

from foretell._parts import Work


def _is_of_dask(df: Any) -> bool:
    return type(df).__module__.partition(".")[0] in ("dask", "dask_expr")


def _packed(table: pa.Table) -> pa.Table:
    """Some rows as one, of bytes as text."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.table({"rows": pa.array([b64encode(sink.getvalue()).decode()], pa.string())})


class FugueWorkers:
    """Those of the engine of a table, or of one that fugue makes of what is given."""

    def __init__(self, like: Any, engine: Any = None) -> None:
        self._engine = make_execution_engine(engine, infer_by=[like])

    @property
    def parallelism(self) -> int:
        return int(self._engine.get_current_parallelism())

    def read(self, df: Any) -> Any:
        # fugue knows no categories, which Dask has of pandas and of files.
        if not _is_of_dask(df):
            return df
        for name, dtype in df.dtypes.items():
            if hasattr(dtype, "categories"):
                column = df[name].cat.as_known()
                df = df.assign(**{name: column.astype(column.cat.categories.dtype)})
        return df

    def schema(self, df: Any) -> pa.Schema:
        return fa.get_schema(df).pa_schema

    def only(self, df: Any, columns: list[str]) -> Any:
        return fa.as_fugue_df(df)[columns]

    def each(self, df: Any, work: Work, schema: pa.Schema) -> Any:
        return self._mapped(df, work, schema, None)

    def union(self, first: Any, second: Any) -> Any:
        return fa.union(first, second, distinct=False, engine=self._engine, as_fugue=True)

    def parts(self, rows: Any, column: str, count: int, work: Work, schema: pa.Schema) -> Any:
        found = self._mapped(rows, work, schema, {"by": [column], "algo": "coarse", "num": count})
        return fa.get_native_as_df(found)

    def pieces(self, df: Any) -> Iterator[pa.Table]:
        own = fa.get_native_as_df(fa.as_fugue_df(df))
        if _is_of_dask(own):
            for place in range(own.npartitions):
                yield pa.Table.from_pandas(own.get_partition(place).compute(), preserve_index=False)
            return
        packed = self._mapped(own, _packed, pa.schema([("rows", pa.string())]), None)
        for row in fa.get_native_as_df(packed).toLocalIterator():
            yield pa.ipc.open_stream(b64decode(row[0])).read_all()

    def gathered(self, df: Any) -> pa.Table:
        return fa.as_arrow(fa.as_fugue_df(self.read(df)))

    def scattered(self, table: pa.Table) -> Any:
        return self._engine.to_df(ArrowDataFrame(table)).native

    def share(self, payload: bytes) -> Callable[[], bytes]:
        # Sessions of Spark Connect broadcast nothing, and Dask has no bytes that outlive its workers: they go with each part.
        if hasattr(self._engine, "spark_session") and not self._engine.is_spark_connect:
            return partial(getattr, self._engine.spark_session.sparkContext.broadcast(payload), "value")
        return partial(bytes, payload)

    def _mapped(self, df: Any, work: Work, schema: pa.Schema, partition: Any) -> Any:
        def transformer(table: pa.Table) -> pa.Table:
            return work(table)

        # fugue reads of the types which tables it is to give.
        transformer.__annotations__ = {"table": pa.Table, "return": pa.Table}
        return fa.transform(df, transformer, schema=Schema(schema), partition=partition, engine=self._engine, as_fugue=True)
