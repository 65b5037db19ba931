"""From a checked path call to its result: which sink takes the answer, which runner computes it.

The engine knows neither stores nor clusters; both are opened here, by the calls that name them.
"""

from __future__ import annotations

from pathlib import Path

from kleene.engine import solve as engine
from kleene.engine.call import Call
from kleene.engine.fit import require_fit
from kleene.results.result import Result

__all__ = ["runner_for", "solve"]


def solve(call: Call) -> Result:
    """Plan and run a path problem; whatever it says of vertices, it says by label."""
    if call.pairs is not None:
        from kleene.calls.pairs import solve_pairs  # few programs ask for pairs

        if call.on is not None:
            require_fit(call)
        return solve_pairs(call, runner_for(call))
    if call.on is not None:
        from kleene.clusters.dask.calls import solve_on_cluster

        return solve_on_cluster(call)
    if isinstance(call.out, (str, Path)):
        stored = _solve_stored(call)
        if stored is not None:
            return stored
    return Result._of(call, engine.solve(call))


def _solve_stored(call: Call) -> Result | None:
    """Answer a call whose ``out`` is a store; None where ``out`` is to be a plain ``.npy`` file."""
    from kleene.stores.sink import store_sink
    from kleene.stores.writer import refuse_existing

    found = store_sink(call)
    if found is None:
        refuse_existing(Path(str(call.out)))
        return None
    sink, made = found
    if made.plan.rounds is not None:
        from kleene.stores.rounds import RoundsSink, run_in_rounds

        title = f"{made.plan.problem} by {made.plan.method}, in rounds"
        sink = RoundsSink(call, sink.path, sink.spec)
        return Result._of(call, engine.solve(call, sink, made, run_in_rounds, title))
    return Result._of(call, engine.solve(call, sink, made))


def runner_for(call: Call) -> engine.Runner | None:
    """Return what computes the pieces of a call; None for this process."""
    if call.on is None:
        return None
    from kleene.clusters.dask.calls import on_workers

    return on_workers
