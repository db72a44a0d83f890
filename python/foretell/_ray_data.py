"""The workers of Ray. fugue would compute a dataset at each step, where Ray's own are lazy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import ray
import ray.data

from foretell._parts import Work, plain, plain_schema


class RayWorkers:
    """Those of the cluster that runs."""

    @property
    def parallelism(self) -> int:
        return int(ray.cluster_resources().get("CPU", 1))

    def read(self, df: Any) -> Any:
        return df

    def schema(self, df: Any) -> pa.Schema:
        schema = df.schema()
        if all(isinstance(kind, pa.DataType) for kind in schema.types):
            return plain_schema(pa.schema(list(zip(schema.names, schema.types, strict=True))))
        # Of blocks of pandas Ray tells pandas' types: those of Arrow are known of what becomes of a block.
        refs = df.map_batches(plain, batch_format="pyarrow", batch_size=None).to_arrow_refs()
        return next((table.schema for table in map(ray.get, refs) if table.num_rows), ray.get(refs[0]).schema).remove_metadata()

    def only(self, df: Any, columns: list[str]) -> Any:
        return df.select_columns(columns)

    def each(self, df: Any, work: Work, schema: pa.Schema) -> Any:
        return df.map_batches(work, batch_format="pyarrow", batch_size=None, zero_copy_batch=True)

    def union(self, first: Any, second: Any) -> Any:
        return first.union(second)

    def parts(self, rows: Any, column: str, count: int, work: Work, schema: pa.Schema) -> Any:
        return rows.groupby(column, num_partitions=count).map_groups(work, batch_format="pyarrow")

    def pieces(self, df: Any) -> Iterator[pa.Table]:
        yield from df.iter_batches(batch_format="pyarrow", batch_size=None)

    def gathered(self, df: Any) -> pa.Table:
        tables = [plain(table) for table in ray.get(df.to_arrow_refs())]
        return pa.concat_tables([table for table in tables if table.num_rows] or tables[:1], promote_options="permissive")

    def scattered(self, table: pa.Table) -> Any:
        return ray.data.from_arrow(table)

    def share(self, payload: bytes) -> Callable[[], bytes]:
        return partial(ray.get, ray.put(payload))
