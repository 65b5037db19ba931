"""Rows, blocks and pairs of a prepared graph: by sweeps and climbs, with no search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends import devices
from kleene.backends.answer import Answer, LatePredecessors, RowSource, WholeRows
from kleene.engine.call import Call, Part
from kleene.engine.searched_rows import SearchedRows
from kleene.planning.plan import Plan
from kleene.prepared.climbs import answer_by_climbs

__all__ = ["compute_prepared"]

Array = NDArray[Any]


def compute_prepared(call: Call, plan: Plan, memory: Array | None, report: Any) -> Part:
    """Return what a prepared graph answers: pairs, or rows for all vertices or the targets."""
    form, ask, sources = call.prepared, call.ask, call.sources
    assert form is not None
    paths, threads = ask.what.predecessors, ask.where.threads
    if call.pairs is not None:
        values, walks = answer_by_climbs(
            call.graph, form._parts, call.pairs, paths, threads, report
        )
        return Part(Answer(values[None], None), walks)
    targets = call.targets if call.as_block else None
    rows = form._rows(call.reverse, threads)
    source: RowSource = rows
    if not paths:  # the result lets go of the prepared graph
        source = SearchedRows(call.graph, plan.semiring, form.dtype, call.reverse)
    if ask.output.keep == "device":
        return Part(
            devices.sweep_on_device(
                rows, plan.first_device, sources, targets, paths, source, report
            )
        )
    width = call.graph.n if targets is None else len(targets)
    values = np.empty((len(sources), width), form.dtype) if memory is None else memory
    if plan.device != "cpu":
        names, every = plan.devices or (plan.device,), bool(ask.where.devices)
        devices.sweep(rows, names, every, sources, targets, values, report)
    elif targets is None:
        rows.values(sources, values, report)
    else:
        rows.matrix(sources, targets, values, report)
    if targets is not None:
        return Part(Answer(values, None, rest=WholeRows(sources, targets, source, paths)))
    return Part(Answer(values, LatePredecessors(sources, rows) if paths else None))
