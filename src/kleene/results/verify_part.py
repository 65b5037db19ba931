"""Proof of a row of a part, where it was computed: on a worker, which has the graph."""

from __future__ import annotations

from kleene.engine.call import Call, Outcome, Part, Timings
from kleene.planning.plan import Plan
from kleene.results.pairs import PairsResult
from kleene.results.result import Result

__all__ = ["verify_part"]


def verify_part(call: Call, plan: Plan, part: Part, limit: int | float | None, seed: int) -> None:
    """Raise VerificationError if a row that ``seed`` chooses is wrong, or what was computed."""
    if call.computes is not None:
        call.computes.prove(call, plan, part.answer)
        return
    made = Outcome(part, plan, Timings(), limit)
    result = Result._of(call, made) if call.pairs is None else PairsResult._of_pairs(call, made)
    result.verify(sample=1, seed=seed)
