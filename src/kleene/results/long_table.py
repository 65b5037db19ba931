"""Answers that are long tables: a row for each thing found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kleene.results import files
from kleene.results.tables import Block, arrow_table, pandas_table, polars_table
from kleene.system.html import card, columns

__all__ = ["LongTable"]

_FIRST = 8  # rows that a notebook shows


class LongTable:
    """An answer that is handed on as a table, with vertices by label."""

    def _blocks(self) -> Iterator[Block]:
        """Yield the table in blocks, at least one."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.within(kl.generate.grid(1, 3), [0], limit=1).to_frame()
           source  target  distance  predecessor
        0       0       0         0         <NA>
        1       0       1         1            0
        """
        return pandas_table(self._blocks())

    def to_polars(self) -> Any:
        """Return the table as a Polars DataFrame; labels of other types become text.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.within(kl.generate.grid(1, 3), [0], limit=1).to_polars()["distance"].to_list()
        [0, 1]
        """
        return polars_table(self._blocks())

    def to_arrow(self) -> Any:
        """Return the table as a PyArrow table; labels of other types become text.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.within(kl.generate.grid(1, 3), [0], limit=1).to_arrow().num_rows
        2
        """
        return arrow_table(self._blocks())

    def save(self, path: str | Path) -> None:
        """Write the table to a file, which is whole or not there.

        Parameters
        ----------
        path : str or Path
            The name; its suffix says the format: ``.csv``, ``.tsv``, ``.json`` (a list of objects)
            or ``.parquet``.

        Examples
        --------
        >>> import kleene as kl, tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kl.within(kl.generate.grid(1, 3), [0], limit=1).save(f"{folder}/reach.csv")
        ...     print(Path(folder, "reach.csv").read_text())
        source,target,distance,predecessor
        0,0,0,
        0,1,1,0
        <BLANKLINE>
        """
        files.save_blocks(self._blocks(), path)

    def _repr_html_(self) -> str:
        first = {name: column[:_FIRST] for name, column in next(self._blocks()).items()}
        rows = zip(*(np.ma.asarray(column).tolist() for column in first.values()), strict=True)
        cells = [["" if value is None else str(value) for value in row] for row in rows]
        shown = f"the first {_FIRST}" if len(cells) == _FIRST else None
        numbers = [i for i, column in enumerate(first.values()) if column.dtype.kind in "iuf"]
        kind, _, headline = repr(self).partition("(")
        table = columns(list(first), cells, caption=shown, numbers=numbers)
        return card(kind, headline.removesuffix(")"), {}, table)
