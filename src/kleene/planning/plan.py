"""What will run, on which device, in which type, with how much memory, and why.

``make_plan`` is a pure function of the facts about the graph, the request and the machine. It
touches no array and starts nothing, so a plan can be made for a graph or a machine that is not
there. A call and ``explain`` plan by the same function, ``plan_call``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kleene.backends.common import predecessors
from kleene.errors import GraphError, MemoryBudgetError, RequestError
from kleene.graph.path_room import holds
from kleene.planning.device_choice import choose_device
from kleene.planning.device_split import choose_devices
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.machine import live_machine
from kleene.planning.prepared_cost import preparation_note
from kleene.planning.request import Facts, Request
from kleene.planning.rounds import Rounds, plan_rounds
from kleene.planning.rules import choose_method
from kleene.prepared.known import Known
from kleene.registry import Method, Size
from kleene.registry.memory import band_on_gpu, limited_workspace
from kleene.system.device_names import names_in_words
from kleene.system.formatting import format_bytes
from kleene.system.html import PLAIN_LIST, card, tag
from kleene.system.machine import Machine

__all__ = ["Plan", "check_semantics", "make_plan", "plan_call"]

#: Calls that take less memory are not checked against what is free: to ask costs 50 us.
_SMALL = 2**26  # bytes

#: Seconds for which a larger call is not checked again, and the part of what was available that it
#: may take. To ask costs 0.6 ms in a container with 16 cores, as much as a search on a GPU.
_REUSED, _SMALL_PART = 1.0, 1 / 16


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

    @property
    def first_device(self) -> str:
        """The device that runs it, or the first of several."""
        return self.devices[0] if self.devices else self.device

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


def plan_call(facts: Facts, request: Request) -> Plan:
    """Plan a call on the machine we run on.

    A small call whose device does not depend on free memory gets the same plan every time; a call
    that takes a small part of the free memory gets it again for a second.
    """
    plan, until = _PLANS.get((facts, request), (None, 0.0))
    if plan is None or (until and time.monotonic() > until):
        plan = make_plan(facts, request, live_machine())
        if plan.devices and (request.device == "auto" or _may_be_split(plan, request)):
            return plan  # it depends on the memory of the GPU, or on which others are open
        until = 0.0 if plan.available is None else time.monotonic() + _REUSED
        if plan.available is None or plan.memory <= _SMALL_PART * plan.available:
            if len(_PLANS) >= 256:
                _PLANS.clear()
            _PLANS[facts, request] = plan, until
    return plan


def _may_be_split(plan: Plan, request: Request) -> bool:
    several = plan.device == "emulated" or len(live_machine().visible(plan.device)) > 1
    return request.sources != 1 and several


#: Plans, and until when they hold; 0 is for ever.
_PLANS: dict[tuple[Facts, Request], tuple[Plan, float]] = {}


def make_plan(facts: Facts, request: Request, machine: Machine) -> Plan:
    """Decide everything, or refuse with a reason and advice."""
    check_semantics(facts, request)
    device, why_device = choose_device(facts, request, machine)
    threads = request.threads or machine.cores
    method, why_method = choose_method(facts, request._replace(threads=threads), device)
    dtype, why_dtype = choose_dtype(facts, request)
    devices, why_devices = choose_devices(facts, request, machine, device, method)
    size = Size.of(facts, request._replace(threads=threads), dtype.itemsize)
    rows, in_blocks = size.sources, bool(request.block_rows) and method.by_rows
    if in_blocks:
        size = size._replace(sources=min(rows, request.block_rows))
    workspace, on_each = _share_memory(method, size, max(1, len(devices)))
    searched_again = request.problem == "apsp" or method.name == "prepared"  # near the limit
    near_limit = request.limited and searched_again and dtype.kind == "f"
    if near_limit:
        workspace = max(workspace, limited_workspace(size))
    answer = _answer_bytes(size, request, method)
    if in_blocks:  # one is written while the next one is computed
        answer = 2 * _answer_bytes(size, request._replace(out=False), method)
    kept = answer if request.keep == "device" else 0
    memory = answer + workspace  # a kept answer is copied when it is read
    reasons: tuple[str, ...] = (why_device, why_method, why_dtype)
    if why_devices:
        reasons += (why_devices,)
    if device == "cpu" and (note := preparation_note(facts, request, threads, method.name)):
        reasons += (note,)
    if kept:
        reasons += (f"answer: {format_bytes(kept)} stay on the device, as asked",)
    chosen = 0
    if request.deterministic and request.predecessors:
        chosen = predecessors.workspace(size.m, size.item)
        memory += chosen
        reasons += ("predecessors: chosen by rule afterwards, the same in every run",)
    if in_blocks and rows > request.block_rows:
        blocks = -(-rows // request.block_rows)
        reasons += (f"store: {blocks:,} blocks of {request.block_rows:,} rows, one after another",)
    mapped = size.item * size.sources * size.n if request.out and request.block_rows else 0
    asks = machine.limited or memory + mapped >= _SMALL
    available = machine.free_memory() if asks else None
    rounds = plan_rounds(facts, request, method, size, machine, memory + mapped, available)
    if rounds is not None:
        block = size._replace(sources=min(size.sources, request.block_rows))
        memory = max(rounds.memory, chosen + (limited_workspace(block) if near_limit else 0))
        reasons += (rounds.reason,)
        if len(devices) > 1:
            devices, alone = devices[:1], "one device: rounds through files use one"
            reasons = tuple(alone if why == why_devices else why for why in reasons)
    too_large = available is not None and memory > available
    if too_large and method.name == "prepared" and request.method == "auto":
        refused = Known(0, 0, "counted", refused=f"it would take {format_bytes(workspace)}")
        return make_plan(replace(facts, prepared=refused), request, machine)
    if too_large and not in_blocks and request.method == "auto" and 0 < request.block_rows < rows:
        return make_plan(facts, request._replace(sources=request.block_rows), machine)
    _require_memory(memory, available, size, facts, request, method, dtype)
    return Plan(
        request.problem,
        method.name,
        device,
        request.semiring,
        str(dtype),
        threads,
        memory,
        available,
        reasons,
        kept + on_each,
        method.streams and not kept,
        rounds=rounds,
        devices=devices,
    )


def check_semantics(facts: Facts, request: Request) -> None:
    if request.limited and facts.min_weight < 0:
        raise RequestError(
            "limit needs weights that are not negative: a path may pass the limit and come back"
        )
    if request.semiring == "max_times" and facts.m:
        low, high = facts.min_weight, facts.max_weight
        if low < 0 or high > 1:
            raise GraphError(
                "the semiring 'max_times' takes weights from 0 to 1 (probabilities), and these "
                f"run from {low:g} to {high:g}"
            )


def _share_memory(method: Method, size: Size, devices: int) -> tuple[int, int]:
    """Return the bytes that a method works in on the host, and on each of several GPUs."""
    on_gpu = method.device_memory  # None: the emulator's memory is that of the host
    if method.splits == "rows" and devices > 1:
        return method.workspace(size), 0 if on_gpu is None else band_on_gpu(size, devices)
    share = size._replace(sources=-(-size.sources // devices))
    return devices * method.workspace(share), 0 if on_gpu is None else on_gpu(share)


def _answer_bytes(size: Size, request: Request, method: Method) -> int:
    if method.answer is not None:
        return method.answer(size)
    ids = 4 if size.n < 2**31 else 8
    per_pair = (0 if request.out else size.item) + (ids if request.predecessors else 0)
    return (per_pair + request.pair_bytes) * size.sources * size.n


def _require_memory(
    memory: int,
    available: int | None,
    size: Size,
    facts: Facts,
    request: Request,
    method: Method,
    dtype: np.dtype[Any],
) -> None:
    if available is None or memory <= available:
        return
    narrower = {"float64": "float32", "int64": "int32"}.get(str(dtype))
    fits = narrower is not None and holds(np.dtype(narrower), facts.path_bound)
    several, in_memory = size.sources > 1, not (request.out or request.block_rows)
    samples = _fitting_samples(memory - available, size, method)
    if request.out and not request.block_rows:  # fewer rows save work only
        several = samples > 0
    possible = {
        "samples": (samples > 0, f"samples={samples} for an estimate"),
        "sources": (several, "sources=[...] for some of the rows"),
        "out": (several and in_memory, "out='distances.npy' to keep the values in a file"),
        "predecessors": (request.predecessors, "predecessors=False"),
        "dtype": (fits, f"dtype={narrower!r}"),
    }
    advice = [text for name, (saves, text) in possible.items() if saves and request.advises(name)]
    raise MemoryBudgetError(
        f"{request.problem} on {size.n:,} vertices needs {format_bytes(memory)} and "
        f"{format_bytes(available)} are available",
        advice or ["a machine with more memory"],
    )


def _fitting_samples(excess: int, size: Size, method: Method) -> int:
    """Return how many sources would save so many bytes of work; 0 if none do."""
    for count in (1000, 100, 10, 1):
        saved = method.workspace(size) - method.workspace(size._replace(sources=count))
        if count < size.sources and (saved >= excess or not method.by_rows):
            return count
    return 0
