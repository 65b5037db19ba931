"""What will run, on which device, in which type, with how much memory, and why.

A plan is a list of decisions, ``DECIDE``: each is a pure function of the facts about the graph,
what is asked for, the machine, and the decisions before it. It touches no array and starts nothing,
so a plan can be made for a graph or a machine that does not exist. A call and ``explain`` plan by
the same function, ``plan_call``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, NoReturn

import numpy as np

from kleene.backends.common import predecessors
from kleene.errors import Code, GraphError, MemoryBudgetError, RequestError, Text
from kleene.graph.checks import holds
from kleene.planning.ask import Ask, Decision
from kleene.planning.cost_model import count_sources
from kleene.planning.device_choice import choose_device, choose_devices
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import Facts
from kleene.planning.machine import live_machine
from kleene.planning.prepared_cost import preparation_note
from kleene.planning.rounds import Rounds, plan_rounds
from kleene.planning.rules import choose_method
from kleene.prepared.known import Known
from kleene.registry import Method, Size, find
from kleene.registry.memory import band_on_gpu, limited_workspace
from kleene.system.devices import names_in_words
from kleene.system.formatting import format_bytes
from kleene.system.html import PLAIN_LIST, card, tag
from kleene.system.machine import Machine

__all__ = [
    "FEWER_ROWS",
    "IN_A_FILE",
    "Memory",
    "Plan",
    "check_semantics",
    "make_plan",
    "plan_call",
    "refuse_memory",
    "with_notes",
]

#: Calls that take less memory are not checked against what is free: to ask costs 50 us.
_SMALL = 2**26  # bytes

#: Seconds for which a larger call is not checked again, and the part of what was available that it
#: may take. To ask costs 0.6 ms in a container with 16 cores, as much as a search on a GPU.
_REUSED, _SMALL_PART = 1.0, 1 / 16

#: What makes an answer fit in memory.
FEWER_ROWS = Text(Code("sources=[...]"), " for some of the rows")
IN_A_FILE = Text(Code("out='distances.npy'"), " to keep the values in a file")


@dataclass(frozen=True)
class Plan:
    """What runs and why; prints as an explanation.

    Attributes
    ----------
    problem, method, device : str
        The registry's row.
    semiring : str
        What "best path" means.
    dtype : str
        The type of the path values.
    threads : int
        How many threads the method may use.
    memory : int
        Bytes for the answer and the method's work.
    available : int or None
        Bytes that were available when the plan was made; None for a small call,
        where it does not matter, or where the system does not say.
    reasons : tuple of str
        Why these, in order of the decisions.
    device_memory : int
        Bytes on the GPU, checked before anything starts.
    streams : bool
        Whether a GPU with less memory can run it: the matrix is then streamed through in pieces.
    rounds : Rounds or None
        Of a matrix that goes through files: how many rounds, and what they move.
    devices : tuple of str
        The names of the GPUs or emulated devices that run it, such as ``"cuda:1"``; several share
        the sources, or the rows of a matrix. ``"cuda"`` is the first, or that which another library
        made current.
    form : str
        What of the graph it works on: "arcs", or what a prepared graph holds, "prepared".
    """

    problem: str
    method: str
    device: str
    semiring: str
    dtype: str
    threads: int
    memory: int
    available: int | None
    reasons: tuple[str, ...]
    device_memory: int = 0
    streams: bool = False
    rounds: Rounds | None = None
    devices: tuple[str, ...] = ()
    form: str = "arcs"

    @property
    def first_device(self) -> str:
        """The device that runs it, or the first of several."""
        return self.devices[0] if self.devices else self.device

    @property
    def _row(self) -> Method:
        """The row of the registry that it runs."""
        row = find(self.problem, self.method, self.device)
        assert row is not None
        return row

    @property
    def where(self) -> str:
        """The devices in words."""
        return names_in_words(self.devices) or self.device

    @property
    def _headline(self) -> str:
        return f"{self.problem} by {self.method} on {self.where}, {self.dtype} values"

    @property
    def _memory_facts(self) -> dict[str, str]:
        has = "" if self.available is None else f" of {format_bytes(self.available)} available"
        facts = {"memory": f"{format_bytes(self.memory)}{has}"}
        if self.rounds is not None:
            facts["rounds"] = str(self.rounds)
        if self.device_memory:
            streamed = "; streamed from the host if less is free" if self.streams else ""
            each = " each" if len(self.devices) > 1 else ""
            facts["on GPU"] = f"{format_bytes(self.device_memory)}{each}{streamed}"
        return facts

    def __str__(self) -> str:
        facts = [*self._memory_facts.items(), *(("because", reason) for reason in self.reasons)]
        return "\n".join([self._headline, *(f"  {name:7}  {text}" for name, text in facts)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        because = tag("ul", *(tag("li", reason) for reason in self.reasons), style=PLAIN_LIST)
        threads = {"threads": str(self.threads)} if self.device == "cpu" else {}
        facts = {**self._memory_facts, **threads, "because": because}
        return card("Plan", self._headline, facts)


def with_notes(plan: Plan, *notes: str) -> Plan:
    """Return a plan with more reasons: what showed while the call ran."""
    return replace(plan, reasons=(*plan.reasons, *filter(None, notes)))


def plan_call(facts: Facts, ask: Ask) -> Plan:
    """Plan a call on the machine we run on.

    A small call whose device does not depend on free memory gets the same plan every time; a call
    that takes a small part of the free memory gets it again for a second.
    """
    plan, until = _PLANS.get((facts, ask), (None, 0.0))
    if plan is None or (until and time.monotonic() > until):
        plan = make_plan(facts, ask, live_machine())
        if plan.devices and (ask.where.device == "auto" or _may_be_split(plan, ask)):
            return plan  # it depends on the memory of the GPU, or on which others are open
        until = 0.0 if plan.available is None else time.monotonic() + _REUSED
        if plan.available is None or plan.memory <= _SMALL_PART * plan.available:
            if len(_PLANS) >= 256:
                _PLANS.clear()
            _PLANS[facts, ask] = plan, until
    return plan


def _may_be_split(plan: Plan, ask: Ask) -> bool:
    several = plan.device == "emulated" or len(live_machine().visible(plan.device)) > 1
    return ask.what.sources != 1 and several


#: Plans, and until when they hold; 0 is forever.
_PLANS: dict[tuple[Facts, Ask], tuple[Plan, float]] = {}


def make_plan(facts: Facts, ask: Ask, machine: Machine) -> Plan:
    """Decide everything, or refuse with a reason and advice."""
    check_semantics(facts, ask)
    if ask.where.threads is None:
        ask = ask.but(threads=machine.cores)
    while True:
        made: dict[str, Decision] = {}
        for decide in DECIDE:
            decision = decide(facts, ask, machine, made)
            made[decision.name] = decision
        memory: Memory = made["memory"].choice
        if not memory.short:
            break
        instead = _instead(facts, ask, made, memory)
        if instead is None:
            _require_memory(memory, made["size"].choice, facts, ask, made)
        facts, ask = instead
    return _plan(ask, made, memory)


#: The decisions so far, by name.
Made = Mapping[str, Decision]


class Memory(NamedTuple):
    """What a call takes, in bytes, and what there is."""

    needed: int
    available: int | None  # None where it was not asked for
    device: int = 0  # on each GPU
    rounds: Rounds | None = None

    @classmethod
    def of(cls, needed: int, machine: Machine, mapped: int = 0) -> Memory:
        """Return what a call takes, beside mapped files; small calls do not ask what there is."""
        asks = machine.limited or needed + mapped >= _SMALL
        return cls(needed, machine.free_memory() if asks else None)

    @property
    def short(self) -> bool:
        """Whether more is needed than there is."""
        return self.available is not None and self.needed > self.available


def _device(facts: Facts, ask: Ask, machine: Machine, made: Made) -> Decision:
    return ask.decided("device") or Decision("device", *choose_device(facts, ask, machine))


def _method(facts: Facts, ask: Ask, machine: Machine, made: Made) -> Decision:
    return Decision("method", *choose_method(facts, ask, made["device"].choice))


def _dtype(facts: Facts, ask: Ask, machine: Machine, made: Made) -> Decision:
    return Decision("dtype", *choose_dtype(facts, ask))


def _devices(facts: Facts, ask: Ask, machine: Machine, made: Made) -> Decision:
    """Decide which devices share the work."""
    device, method = made["device"].choice, made["method"].choice
    return Decision("devices", *choose_devices(facts, ask, machine, device, method))


def _preparation(facts: Facts, ask: Ask, machine: Machine, made: Made) -> Decision:
    """Say why the graph is prepared, or why not."""
    if made["device"].choice != "cpu":
        return Decision("preparation", None)
    method, threads = made["method"].choice.name, ask.where.threads or machine.cores
    return Decision("preparation", None, preparation_note(facts, ask, threads, method))


def _size(facts: Facts, ask: Ask, machine: Machine, made: Made) -> Decision:
    """Decide how many rows are in memory at once."""
    size = Size.of(facts, ask, made["dtype"].choice.itemsize)
    if ask.output.block_rows and made["method"].choice.cuts != "never":
        size = size._replace(sources=min(size.sources, ask.output.block_rows))
    return Decision("size", size)


def _keep(facts: Facts, ask: Ask, machine: Machine, made: Made) -> Decision:
    """Decide how many bytes of the answer stay on the device."""
    if ask.output.keep != "device":
        return Decision("keep", 0)
    kept = _answer_bytes(made["size"].choice, ask, made["method"].choice)
    return Decision("keep", kept, f"answer: {format_bytes(kept)} stay on the device, as asked")


def _predecessors(facts: Facts, ask: Ask, machine: Machine, made: Made) -> Decision:
    """Decide how many bytes the choice of predecessors by rule takes."""
    if not (ask.what.deterministic and ask.what.predecessors):
        return Decision("predecessors", 0)
    size = made["size"].choice
    why = "predecessors: chosen by rule afterwards, the same in every run"
    return Decision("predecessors", predecessors.workspace(size.m, size.item), why)


def _blocks(facts: Facts, ask: Ask, machine: Machine, made: Made) -> Decision:
    """Decide in how many blocks the rows go to a store; 0 where all are computed at once."""
    each, rows = ask.output.block_rows, count_sources(facts, ask)
    if not each or made["method"].choice.cuts == "never":
        return Decision("blocks", 0)
    blocks = -(-rows // each)
    why = f"store: {blocks:,} blocks of {each:,} rows, one after another"
    return Decision("blocks", max(1, blocks), why if blocks > 1 else "")


def _memory(facts: Facts, ask: Ask, machine: Machine, made: Made) -> Decision:
    """Add up what the answer, the method and the steps after it take; small calls do not ask."""
    size, method, chosen = (made[name].choice for name in ("size", "method", "predecessors"))
    workspace, on_each = _share_memory(method, size, max(1, len(made["devices"].choice)))
    # Near a limit, rows are searched for again.
    again = ask.what.problem == "apsp" or method.name == "prepared"
    near_limit = ask.what.limited and again and made["dtype"].choice.kind == "f"
    if near_limit:
        workspace = max(workspace, limited_workspace(size))
    answer = _answer_bytes(size, ask, method)
    if made["blocks"].choice:  # one is written while the next one is computed
        answer = 2 * _answer_bytes(size, ask.but(given=False), method)
    needed = answer + workspace + chosen  # a kept answer is copied when it is read
    mapped = size.item * size.sources * size.n if ask.output.given and ask.output.block_rows else 0
    memory = Memory.of(needed, machine, mapped)._replace(device=on_each)
    rounds = plan_rounds(facts, ask, method, size, machine, needed + mapped, memory.available)
    if rounds is None:
        return Decision("memory", memory)
    block = size._replace(sources=min(size.sources, ask.output.block_rows))
    needed = max(rounds.memory, chosen + (limited_workspace(block) if near_limit else 0))
    return Decision("memory", memory._replace(needed=needed, rounds=rounds), rounds.reason)


def _devices_of_rounds(facts: Facts, ask: Ask, machine: Machine, made: Made) -> Decision:
    """Decide again which devices share the work: rounds through files use one."""
    devices: Decision = made["devices"]
    if made["memory"].choice.rounds is None or len(devices.choice) < 2:
        return devices
    return Decision("devices", devices.choice[:1], "one device: rounds through files use one")


#: The decisions, in order; reasons are printed in this order. One that is made again takes the
#: place of the first.
DECIDE: tuple[Callable[[Facts, Ask, Machine, Made], Decision], ...] = (
    _device, _method, _dtype, _devices, _preparation, _size, _keep, _predecessors, _blocks, _memory,
    _devices_of_rounds,
)  # fmt: skip


def _instead(facts: Facts, ask: Ask, made: Made, memory: Memory) -> tuple[Facts, Ask] | None:
    """Return what to plan where memory does not suffice: without a preparation, or by rows."""
    if ask.where.method != "auto":
        return None
    if made["method"].choice.name == "prepared":
        takes = made["method"].choice.workspace(made["size"].choice)
        refused = f"it would take {format_bytes(takes)}"
        return replace(facts, prepared=Known(0, 0, "counted", refused=refused)), ask
    blocks = not made["blocks"].choice and ask.output.block_rows
    if blocks and blocks < count_sources(facts, ask):
        return facts, ask.but(sources=blocks)
    return None


def _plan(ask: Ask, made: Made, memory: Memory) -> Plan:
    method, kept = made["method"].choice, made["keep"].choice
    return Plan(
        ask.what.problem,
        method.name,
        made["device"].choice,
        ask.what.semiring,
        str(made["dtype"].choice),
        ask.where.threads or 0,
        memory.needed,
        memory.available,
        tuple(decision.reason for decision in made.values() if decision.reason),
        kept + memory.device,
        method.streams and not kept,
        rounds=memory.rounds,
        devices=made["devices"].choice,
    )


def check_semantics(facts: Facts, ask: Ask) -> None:
    if ask.what.limited and facts.min_weight < 0:
        raise RequestError(
            Code("limit"),
            " needs non-negative weights: otherwise a path may exceed the limit and come back "
            "below it",
        )
    if ask.what.semiring == "max_times" and facts.m:
        low, high = facts.min_weight, facts.max_weight
        if low < 0 or high > 1:
            raise GraphError(
                "the semiring 'max_times' takes weights from 0 to 1 (probabilities), but these run "
                f"from {low:g} to {high:g}"
            )


def _share_memory(method: Method, size: Size, devices: int) -> tuple[int, int]:
    """Return the bytes that a method works in on the host, and on each of several GPUs."""
    on_gpu = method.device_memory  # None: the emulator's memory is that of the host
    if method.splits == "rows" and devices > 1:
        return method.workspace(size), 0 if on_gpu is None else band_on_gpu(size, devices)
    share = size._replace(sources=-(-size.sources // devices))
    return devices * method.workspace(share), 0 if on_gpu is None else on_gpu(share)


def _answer_bytes(size: Size, ask: Ask, method: Method) -> int:
    if method.answer is not None:
        return method.answer(size)
    ids = 4 if size.n < 2**31 else 8
    per_pair = (0 if ask.output.given else size.item) + (ids if ask.what.predecessors else 0)
    return (per_pair + ask.what.pair_bytes) * size.sources * size.n


def _require_memory(memory: Memory, size: Size, facts: Facts, ask: Ask, made: Made) -> NoReturn:
    method, dtype = made["method"].choice, made["dtype"].choice
    narrower = {"float64": "float32", "int64": "int32"}.get(str(dtype))
    fits = narrower is not None and holds(np.dtype(narrower), facts.path_bound)
    several, in_memory = size.sources > 1, not (ask.output.given or ask.output.block_rows)
    samples = _fitting_samples(memory.needed - (memory.available or 0), size, method)
    if ask.output.given and not ask.output.block_rows:  # fewer rows save work only
        several = samples > 0
    possible = {
        "samples": (samples > 0, Text(Code(f"samples={samples}"), " for an estimate")),
        "sources": (several, FEWER_ROWS),
        "out": (several and in_memory, IN_A_FILE),
        "predecessors": (ask.what.predecessors, Code("predecessors=False")),
        "dtype": (fits, Code(f"dtype={narrower!r}")),
    }
    refuse_memory(
        memory, ask, size.n, {name: text for name, (saves, text) in possible.items() if saves}
    )


def refuse_memory(memory: Memory, ask: Ask, n: int, possible: Mapping[str, str]) -> NoReturn:
    """Raise the error of a call that does not fit; ``possible`` are keywords that make it fit."""
    assert memory.available is not None
    advice = [text for name, text in possible.items() if ask.advises(name)]
    raise MemoryBudgetError(
        f"{ask.what.problem} on {n:,} vertices needs {format_bytes(memory.needed)} and "
        f"{format_bytes(memory.available)} are available",
        advice=advice or ["a machine with more memory"],
        needed=memory.needed,
        available=memory.available,
    )


def _fitting_samples(excess: int, size: Size, method: Method) -> int:
    """Return how many sources would save so many bytes of work; 0 if none do."""
    for count in (1000, 100, 10, 1):
        saved = method.workspace(size) - method.workspace(size._replace(sources=count))
        if count < size.sources and (saved >= excess or method.cuts == "never"):
            return count
    return 0
