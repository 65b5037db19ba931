"""Shortest paths of a list of pairs, without a row of the answer for every origin.

Where the graph is prepared, or there are so many origins that it pays, every pair is two climbs in
the elimination tree (``kleene.prepared.pairs``). Otherwise origins are searched from, or
destinations (``kleene.engine.entries``).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kleene.engine.call import Call
from kleene.engine.entries import Climbs, Entries
from kleene.engine.planned import Planned, planned, show
from kleene.engine.solve import Runner, solve
from kleene.planning.ask import Decision, Output
from kleene.results.pairs import PairsResult

__all__ = ["solve_pairs"]

_CLIMBING = Decision("device", "cpu", "device cpu: pairs of a prepared graph climb there")


def solve_pairs(call: Call, runner: Runner | None = None) -> PairsResult:
    """Answer a call with pairs: by climbs, or by searches, batch by batch."""
    assert call.pairs is not None
    ask, form = call.ask, call.form
    title = f"{ask.what.problem} of pairs"
    own, plan = call, None
    has = () if form is None else form._answers(ask)
    if "entries" not in has:
        ends = len(np.unique(call.pairs[0])), len(np.unique(call.pairs[1]))
        climbs = None if has or call.on is not None else _prepared_here(call, min(ends))
        if climbs is None:
            sink = Entries(call, ends)
            made = solve(sink.rows, sink, None, runner, title)
            return PairsResult._of_pairs(call, made, sink.by_target)
        own, plan = climbs
    made = solve(own, None if runner is None else Climbs(), plan, runner, title)
    return PairsResult._of_pairs(call, made)


def _prepared_here(call: Call, roots: int) -> tuple[Call, Planned] | None:
    """Return the call on the graph prepared, with its plan, where that pays for so many roots."""
    ask, what = call.ask, call.ask.what
    suits = what.problem in ("sssp", "apsp") and ask.where.method in ("auto", "prepared")
    if not suits or what.limited or what.deterministic:
        return None
    no_rows = ask._replace(
        what=what._replace(sources=roots, predecessors=False), output=Output(given=True)
    )
    searched = call._replace(form=None)
    plan, looked = planned(searched, no_rows)
    if plan.method == "prepared" and ask.where.device == "auto" and plan.device != "cpu":
        plan, again = planned(searched, no_rows.freeze(_CLIMBING))
        looked += again
    if "entries" not in plan._row.makes:
        return None
    from kleene.engine.prepared import prepared_form  # few programs prepare graphs

    plan = show(replace(plan, form="prepared"))
    form = prepared_form(call.graph, plan.semiring, plan.dtype, plan.threads)
    if form is None:
        return None
    ask = ask.but(threads=plan.threads)
    return call._replace(ask=ask, form=form), Planned(plan, looked)
