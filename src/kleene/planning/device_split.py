"""Which devices share a call, and why.

Searches from many sources, and the rows of a dense matrix, are split over as many GPUs as make a
call clearly faster by the estimate; emulated devices are there to be tested, so that all of them
are used.
"""

from __future__ import annotations

from kleene.errors import DeviceError
from kleene.planning.ask import Ask
from kleene.planning.cost_model import GPU_START, count_sources, gpu_cost
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import Facts
from kleene.planning.prepared_cost import gpu_seconds
from kleene.registry import Method, Size
from kleene.registry.memory import band_on_gpu, copied_between
from kleene.system.device_names import INDEXED, names_in_words, split_name
from kleene.system.formatting import format_bytes
from kleene.system.machine import Machine

__all__ = ["choose_devices"]

#: Several GPUs must take less than this part of the time of one, since estimates are rough.
_WORTH = 0.8

#: Rows of a tile of the dense closure: a band is one or more of them (``closure_layout.BLOCK``).
_BLOCK = 128


def choose_devices(
    facts: Facts, ask: Ask, machine: Machine, kind: str, method: Method
) -> tuple[tuple[str, ...], str]:
    """Return the names of the devices that a call runs on, and why; none on the CPU."""
    if kind not in INDEXED:
        return (), ""
    asked = ask.where.devices
    if ask.decided("device") is not None:  # of another machine
        return asked, ""
    if asked:
        _require(asked, machine.visible(kind))
    one = (asked or (facts.placed if split_name(facts.placed)[0] == kind else kind,))[:1]
    alone = _why_alone(facts, ask, method)
    if alone:
        return one, f"one device: {alone}" if len(asked) > 1 else ""
    if asked or kind == "emulated":
        devices = (asked or machine.visible(kind))[: _most(facts, ask, method)]
        if len(devices) > 1:
            return devices, _split(facts, ask, method, devices)
        return asked or one, ""
    return _worth_splitting(facts, ask, machine, method, one)


def _why_alone(facts: Facts, ask: Ask, method: Method) -> str:
    """Return why one device runs the call, nothing if several may."""
    if method.splits == "rows":
        return "" if facts.n > _BLOCK else f"the matrix has one block of up to {_BLOCK} rows"
    sources = count_sources(facts, ask)
    if sources < 2:
        return "there is one source" if sources else "there is no source"
    if not method.splits:
        return f"{method.name} works on the whole matrix"
    return "the answer stays there" if ask.output.keep == "device" else ""


def _most(facts: Facts, ask: Ask, method: Method) -> int:
    """Return how many devices can have a share of the work."""
    return -(-facts.n // _BLOCK) if method.splits == "rows" else count_sources(facts, ask)


def _worth_splitting(
    facts: Facts, ask: Ask, machine: Machine, method: Method, one: tuple[str, ...]
) -> tuple[tuple[str, ...], str]:
    """Return as many GPUs as pay by the estimate: the work is shared, opening is not."""
    visible = machine.visible("cuda")
    threads = ask.where.threads or machine.cores
    alone = _seconds(facts, ask, method, threads, 1)
    best, seconds = 1, _WORTH * alone
    for count in range(2, min(len(visible), _most(facts, ask, method)) + 1):
        closed = sum(not machine.is_open(name) for name in visible[1:count])
        together = _seconds(facts, ask, method, threads, count) + GPU_START * closed
        if together < seconds:
            best, seconds = count, together
    if best > 1:
        used, against = visible[:best], f"about {seconds:.2g} s against {alone:.2g} s on one"
        return used, f"{_split(facts, ask, method, used)}; {against}"
    if len(visible) > 1:
        return one, f"one device: the work of about {alone:.2g} s is too short for several"
    return one, ""


def _seconds(facts: Facts, ask: Ask, method: Method, threads: int, count: int) -> float:
    if method.splits == "rows":
        return gpu_cost(facts, ask, method.name, count).total
    share = ask.but(sources=-(-count_sources(facts, ask) // count))
    return gpu_seconds(facts, share, method.name, threads)


def _split(facts: Facts, ask: Ask, method: Method, devices: tuple[str, ...]) -> str:
    """Return in words what the devices share."""
    names, count = names_in_words(devices), len(devices)
    if method.splits == "sources":
        sources = count_sources(facts, ask)
        return f"devices: {sources:,} sources are split over {names}, in pieces"
    size = Size.of(facts, ask, choose_dtype(facts, ask)[0].itemsize)
    held, copied = band_on_gpu(size, count), copied_between(size, count)
    return (
        f"devices: the matrix is split over {names}, in bands of about {-(-facts.n // count):,} "
        f"rows; each takes up to {format_bytes(held)}, and {format_bytes(copied)} are copied "
        "between them"
    )


def _require(asked: tuple[str, ...], visible: tuple[str, ...]) -> None:
    missing = [name for name in asked if name not in visible]
    if missing:
        there = f"there are {', '.join(map(repr, visible))}" if visible else "there is none"
        raise DeviceError(
            f"no device {missing[0]!r} that can be used: {there}; see `kleene doctor`",
            option="device",
        )
