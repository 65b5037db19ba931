"""Tables in files, for commands whose answer is a table: .csv, .tsv, .json, .parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TableFile", "check_table", "save_table"]

TableFile = Annotated[
    str | None,
    Option("--out", "-o", metavar="FILE", help="Save the table: .csv, .tsv, .json or .parquet."),
]


def check_table(out: str | None) -> None:
    """Raise for a suffix that tables are not saved under, before any work is done."""
    from kleene.results.files import check_table_suffix

    if out is not None:
        check_table_suffix(out)


def save_table(columns: dict[str, NDArray[Any]], out: str) -> None:
    """Write columns in the format of the suffix; the file is replaced when it is complete."""
    from kleene.results.files import save_blocks

    save_blocks([columns], out)
