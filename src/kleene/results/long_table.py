"""Answers that are long tables: a row for each thing found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kleene.results import files
from kleene.results.tables import Block, arrow_table, pandas_table, polars_table

__all__ = ["LongTable"]


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
        """Write the table to a file; the file is replaced only when it is complete.

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
