"""On which device a call runs."""

from __future__ import annotations

from kleene.errors import Code, DeviceError, RequestError, Text
from kleene.planning.ask import Ask
from kleene.planning.cost_model import GPU_START, count_sources, gpu_cost, has_gpu_cost
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import Facts
from kleene.planning.prepared_cost import cpu_seconds, gpu_seconds
from kleene.planning.rules import choose_method, unknown_method
from kleene.registry import DEVICES, Method, Size, find, methods
from kleene.registry.memory import band_on_gpu, copied_between
from kleene.system.devices import INDEXED, names_in_words, split_name
from kleene.system.formatting import format_bytes
from kleene.system.machine import Machine
from kleene.system.suggestions import no_such

__all__ = [
    "choose_device",
    "choose_devices",
    "require_device",
    "require_device_name",
]

#: The GPU must be faster by this factor, since estimates are rough and from other machines; for a
#: graph that the user placed on the GPU, by the second.
_MARGIN, _MARGIN_PLACED = 2.0, 1.0

#: Free GPU memory that a method wants beyond its own, as a factor.
_HEADROOM = 1.2

#: With so much GPU memory, matrices that are larger are streamed in large enough pieces.
_WORTH_STREAMING = 2**30


def choose_device(facts: Facts, ask: Ask, machine: Machine) -> tuple[str, str]:
    """Return a device that has the method, and why, or refuse with what is missing."""
    frozen = ask.decided("device")
    if frozen is not None:
        return str(frozen.choice), frozen.reason
    if ask.where.device != "auto":
        require_device_name(ask.where.device)
        if not methods(ask.what.problem, ask.where.device):
            unknown_method(ask, [ask.where.device])
        require_device(ask.where.device, machine)
        asked = names_in_words(ask.where.devices) or repr(ask.where.device)
        return ask.where.device, f"device {asked} was asked for"
    if ask.output.keep == "device":
        require_device("cuda", machine)
        return "cuda", "device cuda: the answer stays there"
    if not has_gpu_cost(ask.what.problem):  # light work: where the graph is
        hosts = [device for device in ("cpu", "reference") if _offers(device, ask)]
        if hosts and not _has(facts.device, ask):
            return hosts[0], f"device {hosts[0]}: {DEVICES[hosts[0]]}"
        require_device(facts.device, machine)
        return facts.device, f"device {facts.device}: the graph is placed there"
    # The fastest kind of device that has the method; a GPU is compared with the others.
    offering = [device for device in machine.devices if _offers(device, ask)]
    why = ""
    if offering[:1] == ["cuda"] and len(offering) > 1:
        pays, why = _gpu_pays(facts, ask, machine)
        if not pays:
            offering.remove("cuda")
    if offering:
        chosen = offering[0]
        return chosen, f"device {chosen}: {DEVICES[chosen]}" + (f"; {why}" if why else "")
    if find(ask.what.problem, ask.where.method, "cuda") is not None:
        require_device("cuda", machine)
    unknown_method(ask, machine.devices)


def require_device_name(device: str) -> None:
    """Raise RequestError for a kind of device that does not exist on any machine."""
    if device not in ("auto", *DEVICES):
        raise RequestError(no_such("device", device, ("auto", *DEVICES)), option="device")


def _gpu_pays(facts: Facts, ask: Ask, machine: Machine) -> tuple[bool, str]:
    """Return whether the GPU is clearly faster and has the memory, and why (not)."""
    modelled = has_gpu_cost(ask.what.problem, ask.where.method)
    rules = ask if modelled else ask.but(method="auto", options=())
    method, _ = choose_method(facts, rules, "cuda")
    threads = ask.where.threads or machine.cores
    gpu = gpu_seconds(facts, ask, method.name, threads)
    cpu = cpu_seconds(facts, ask, threads)
    placed = facts.device == "cuda"
    pays = gpu * (_MARGIN_PLACED if placed else _MARGIN) < cpu
    faster = "faster" if placed else "clearly faster"
    estimate = f"{faster} than the CPU, about {gpu:.2g} s against {cpu:.2g} s"
    there = ", with the graph there" if placed else ""
    if not pays:
        return False, f"the GPU is not {estimate}{there}"
    free = machine.free_gpu_memory(facts.placed if placed else "cuda")
    if free is None:
        return False, "the GPU does not open; see `kleene doctor`"
    size = Size.of(facts, ask, choose_dtype(facts, ask)[0].itemsize)
    needed = method.device_memory(size) if method.device_memory is not None else 0
    if placed:  # its arcs are counted in what the method needs
        needed -= 8 * (facts.n + 1) + 4 * facts.m
    needed = int(_HEADROOM * needed)
    if method.streams:
        needed = min(needed, _WORTH_STREAMING)
    if free <= needed:
        return (
            False,
            f"the GPU has {format_bytes(free)} free, and {format_bytes(needed)} are needed",
        )
    return True, estimate + there


def _offers(device: str, ask: Ask) -> bool:
    return device != "emulated" and _has(device, ask)  # the emulator only on request


def _has(device: str, ask: Ask) -> bool:
    if ask.where.method == "auto":
        return bool(methods(ask.what.problem, device))
    return find(ask.what.problem, ask.where.method, device) is not None


def require_device(device: str, machine: Machine) -> None:
    """Raise DeviceError, with what is missing, unless a machine has a kind of device."""
    if device in machine.devices:
        return
    why = dict(machine.absent).get(device)
    emulated = Text(Code("device='emulated'"), " runs the same kernels on the CPU; ")
    raise DeviceError(
        f"device {device!r} ({DEVICES[device]}) is not available here: ",
        why or f"there are {', '.join(map(repr, machine.devices))}",
        "; ",
        emulated if device == "cuda" else "",
        "see `kleene doctor`",
        option="device",
    )


# ---- Which devices share a call, and why --------------------------------------------------------
# Searches from many sources, and the rows of a dense matrix, are split over as many GPUs as make a
# call clearly faster by the estimate; emulated devices are there to be tested, so that all of them
# are used.

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
            f"device {missing[0]!r} cannot be used: {there}",
            option="device",
            advice=["see `kleene doctor`"],
        )
