"""The workers of tables of Spark, Dask and Ray, whose libraries are imported only when such a table comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pyarrow as pa

from foretell._parts import Work


class Workers(Protocol):
    """What is asked of the engine of a table."""

    @property
    def parallelism(self) -> int:
        """How many parts run at a time."""

    def read(self, df: Any) -> Any:
        """A table as the other methods take it."""

    def schema(self, df: Any) -> pa.Schema:
        """The names and types of a table's columns."""

    def only(self, df: Any, columns: list[str]) -> Any:
        """Some of the columns."""

    def each(self, df: Any, work: Work, schema: pa.Schema) -> Any:
        """The rows that become of those of a table, some at a time; ``schema`` is theirs."""

    def union(self, first: Any, second: Any) -> Any:
        """The rows of two tables."""

    def parts(self, rows: Any, column: str, count: int, work: Work, schema: pa.Schema) -> Any:
        """The user's table of what becomes of rows, those of one value of a column together; there are ``count`` values."""

    def pieces(self, df: Any) -> Iterator[pa.Table]:
        """All rows, some at a time on this machine."""

    def gathered(self, df: Any) -> pa.Table:
        """All rows on this machine."""

    def scattered(self, table: pa.Table) -> Any:
        """The user's table of rows of this machine."""

    def share(self, payload: bytes) -> Callable[[], bytes]:
        """What brings bytes to a worker: once to each machine where the engine has a way for it, else with each part."""


def workers_of(df: Any, engine: Any = None) -> Workers:
    """The workers of a table."""
    if type(df).__module__.partition(".")[0] == "ray":
        from foretell._ray_data import RayWorkers

        return RayWorkers()
    from foretell._fugue import FugueWorkers

    return FugueWorkers(df, engine)
