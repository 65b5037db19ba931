"""Answers that are computed already, saved as finished stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.engine.pieces import choose_block_rows
from kleene.graph import Graph
from kleene.planning.plan import Plan
from kleene.stores.record import lists_of_vertices, record_answer
from kleene.stores.store import Store

__all__ = ["save_answer"]

#: Bytes of the machine that blocks are made for.
_MEMORY = 2**31


def save_answer(
    path: str | Path,
    graph: Graph,
    answer: Answer,
    plan: Plan,
    sources: NDArray[np.integer],
    targets: NDArray[np.integer] | None,
    limit: int | float | None,
    reverse: bool,
) -> None:
    """Write an answer block by block, as a call whose ``out`` is this name does.

    Saving that was interrupted is resumed, and a finished store of the same answer stays.
    """
    dtype = np.dtype(plan.dtype)
    paths = answer.has_paths and targets is None
    width = graph.n if targets is None else len(targets)
    row_bytes = width * (dtype.itemsize + (graph.id_dtype.itemsize if paths else 0))
    rows = choose_block_rows(len(sources), row_bytes, 0.0, _MEMORY)
    arguments: dict[str, Any] = {
        "problem": plan.problem,
        "semiring": plan.semiring,
        "method": plan.method,
        "limit": limit,
        "reverse": reverse,
        "deterministic": False,
        "options": {},
    }
    spec = record_answer(arguments, graph, sources, targets, dtype, paths, rows)
    with Store.open(path, spec, lists_of_vertices(graph, sources, targets)) as store:
        files = store.writer()
        for piece in store.missing():
            block = slice(piece.first, piece.stop)
            values = answer.values[block] if targets is None else answer.at(block, targets)
            links = answer.links(block) if paths else None
            store.record(piece, files.write(piece, values, links))
        store.finish()
