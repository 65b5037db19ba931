"""Whether a dense closure goes through files in rounds, how many, and what that moves.

It does where its answer goes to a store and the matrix does not fit into the memory; and where it
takes long, so that an interrupted call can be resumed.
"""

from __future__ import annotations

from dataclasses import dataclass

from kleene.backends.common.bands import RoundSplit
from kleene.planning.ask import Ask
from kleene.planning.cost_model import gpu_cost, searched_seconds
from kleene.planning.facts import Facts
from kleene.registry import Method, Size
from kleene.registry.memory import round_row
from kleene.system.formatting import format_bytes, format_duration
from kleene.system.machine import Machine

__all__ = ["Rounds", "plan_rounds"]

#: Seconds from which on a closure goes in rounds though it fits into the memory: rounds cost a few
#: per cent, and a call that was ended would lose the minutes until then.
_LONG = 300.0

#: The part of a matrix that fits into the memory which rounds may take: a quarter for the panel, a
#: quarter for its packed form. Then there are four rounds or more. For small ones, so many rows.
_PART, _FEW_ROWS = 2, 512


@dataclass(frozen=True)
class Rounds:
    """A closure in rounds: how many, and what they take.

    Attributes
    ----------
    count : int
        How many rounds; on a GPU about.
    vertices : int
        Vertices of a round; on a GPU about.
    memory : int
        Bytes of main memory.
    moved : int
        Bytes read from and written to files in all.
    disk : int
        Bytes in files at most, the answer included.
    seconds : float
        About how long the computation takes; files are read and written meanwhile.
    reason : str
        Why.
    split : RoundSplit
        The sizes, for the engine.
    """

    count: int
    vertices: int
    memory: int
    moved: int
    disk: int
    seconds: float
    reason: str
    split: RoundSplit

    def __str__(self) -> str:
        return (
            f"{self.count} of {self.vertices:,} vertices in about {format_duration(self.seconds)}; "
            f"{format_bytes(self.moved)} read and written meanwhile, {format_bytes(self.disk)} on "
            "disk"
        )


def plan_rounds(
    facts: Facts,
    ask: Ask,
    method: Method,
    size: Size,
    machine: Machine,
    whole: int,
    available: int | None,
) -> Rounds | None:
    """Plan rounds for a call that should use them; None for others.

    ``whole`` is the memory that it takes otherwise.
    """
    if method.rounds is None or not ask.output.block_rows or ask.what.sources is not None:
        return None
    seconds = _seconds(facts, ask, method, machine)
    fits, begun = available is None or whole <= available, ask.decided("rounds")
    if fits and seconds < _LONG and not begun:
        return None
    n, row = max(1, size.n), round_row(size)
    matrix, answer = n * row, n * n * (size.item + (4 if size.predecessors else 0))
    memory = whole if available is None else available
    if fits:
        memory = min(memory, max(n // _PART, _FEW_ROWS) * row)
    on_device = method.device == "cuda"
    panel = (machine.free_gpu_memory() or memory) if on_device else memory
    split = RoundSplit.fit(n, row, panel)
    count = -(-n // split.vertices)
    reason = f"rounds: the matrix takes {format_bytes(whole)} of memory"
    if fits:
        reason = "rounds: it takes long, and a call that was ended goes on where it was"
    if begun:
        reason = "rounds: the store was begun in rounds"
    bands = 12 * min(split.band, memory // (16 * row)) * row  # on their way, and of the answer
    return Rounds(
        count,
        min(split.vertices, n),
        bands if on_device else split.memory(row),
        2 * count * matrix + answer,  # the first round reads the graph, the answer the last copy
        matrix + max((min(count, 2) - 1) * matrix, answer),
        seconds,
        reason,
        split,
    )


def _seconds(facts: Facts, ask: Ask, method: Method, machine: Machine) -> float:
    """Estimate the computation."""
    if method.device == "cuda":
        return gpu_cost(facts, ask, method.name).work
    asked = ask.but(method=method.name)
    return searched_seconds(facts, asked, ask.where.threads or machine.cores)
