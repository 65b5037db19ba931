"""What the user asks for, without the data: what is computed, where, and where the answer goes.

The three axes are independent: a cluster or a store changes nothing of what is computed. What was
decided before the plan is made comes as a frozen decision: a resumed store, for example, keeps the
order of addition that it was begun in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kleene.system.devices import INDEXED

__all__ = [
    "ARC_BY_ARC", "IN_BATCHES", "ROUNDS_BEGUN", "Ask", "Decision", "Output", "What", "Where",
]  # fmt: skip


class What(NamedTuple):
    """What is computed."""

    problem: str
    semiring: str = "min_plus"
    sources: int | None = None  # how many; None for all vertices
    predecessors: bool = True
    dtype: str | None = None
    limited: bool = False
    deterministic: bool = False
    trips: int = 0  # of loads, whose sources are the roots of searches
    split: bool = False  # of loads: over all shortest paths
    pair_bytes: int = 0  # bytes of the answer for a pair, beside its value and predecessor


class Where(NamedTuple):
    """Where it is computed, and how."""

    method: str = "auto"
    device: str = "auto"
    devices: tuple[str, ...] = ()  # names of those to run on; none: the plan chooses
    threads: int | None = None
    options: tuple[tuple[str, int], ...] = ()  # settings of the method


class Output(NamedTuple):
    """Where the answer goes."""

    keep: str = "host"  # where it stays: "host" or "device"
    given: bool = False  # the memory for the values is there
    block_rows: int = 0  # rows in memory at once, of an answer in a store; 0 for all


class Decision(NamedTuple):
    """One choice of a plan, and why; one without a reason is not printed."""

    name: str
    choice: Any
    reason: str = ""


#: Floats are added from the source on, as searches do: all methods that do so give the same bits.
ARC_BY_ARC = Decision("order", "arc by arc")

#: Some rows are kept at a time: a method that fills a matrix does not pay.
IN_BATCHES = Decision("cuts", "rows")

#: Files of rounds are there, and go on.
ROUNDS_BEGUN = Decision("rounds", "begun")


class Ask(NamedTuple):
    """What the user asks for, by three axes, and what is decided already."""

    what: What
    where: Where = Where()
    output: Output = Output()
    frozen: tuple[Decision, ...] = ()
    keywords: tuple[str, ...] | None = None  # that advice may name; None: see _ADVISED

    @classmethod
    def of(cls, problem: str, **fields: Any) -> Ask:
        """Return a request by the names of fields, whatever their axis.

        Examples
        --------
        >>> from kleene.planning.ask import Ask
        >>> Ask.of("sssp", sources=1, device="cpu").where.device
        'cpu'
        """
        return cls(What(problem)).but(**fields)

    def but(self, **fields: Any) -> Ask:
        """Return this with other values of some fields of its axes."""
        axes: dict[str, dict[str, Any]] = {}
        for name in fields:
            axes.setdefault(_AXES[name], {})[name] = fields[name]
        changed = {axis: getattr(self, axis)._replace(**own) for axis, own in axes.items()}
        return self._replace(**changed)

    def freeze(self, *decisions: Decision) -> Ask:
        """Return this with decisions that the plan does not make."""
        return self._replace(frozen=(*self.frozen, *decisions))

    def for_workers(self) -> Ask:
        """Return this as it is planned for workers: they have the GPUs that are asked for."""
        device = self.where.device
        if device not in INDEXED:
            return self
        made = Decision("device", device, f"device: {device!r} on the workers, as asked")
        return self.freeze(made, IN_BATCHES)

    def decided(self, name: str) -> Decision | None:
        """Return a decision that is frozen, or None."""
        return next((made for made in self.frozen if made.name == name), None)

    def advises(self, keyword: str) -> bool:
        """Return whether the user's call has a keyword that advice may name."""
        own = self.keywords
        return keyword in (_ADVISED.get(self.what.problem, ()) if own is None else own)


#: The axis of each field.
_AXES = {
    name: axis
    for axis, kind in (("what", What), ("where", Where), ("output", Output))
    for name in kind._fields
}

#: Keywords that advice on memory and types may name, of the calls named as these problems.
_ADVISED = {
    "bfs": ("sources", "out", "predecessors", "dtype"),
    "sssp": ("sources", "out", "predecessors", "dtype"),
    "apsp": ("sources", "out", "predecessors", "dtype"),
    "closure": ("sources", "out", "predecessors", "dtype"),
}
