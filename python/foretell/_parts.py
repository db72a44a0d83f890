"""Parts of tables of Spark, Dask and Ray, as their workers have them: tables of pyarrow."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

#: What a worker does with some rows.
Work = Callable[[pa.Table], pa.Table]


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """A schema without dictionaries, of which each part of a table may have its own, and without what libraries note in it."""
    fields = [field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field for field in schema]
    return pa.schema(fields).remove_metadata()


def plain(table: pa.Table) -> pa.Table:
    """A table whose columns have the types of `plain_schema`."""
    return table.cast(plain_schema(table.schema))
