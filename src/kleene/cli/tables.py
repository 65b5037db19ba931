"""``--out`` of commands whose answer is a table."""

from __future__ import annotations

from typing import Annotated

from typer import Option

__all__ = ["TableFile", "check_table"]

TableFile = Annotated[
    str | None,
    Option("--out", "-o", metavar="FILE", help="Save the table: .csv, .tsv, .json or .parquet."),
]


def check_table(out: str | None) -> None:
    """Raise for a suffix that tables are not saved under, before any work is done."""
    from kleene.results.files import check_table_suffix

    if out is not None:
        check_table_suffix(out)
