"""On which device a call runs."""

from __future__ import annotations

from kleene.errors import Code, DeviceError, RequestError, Text
from kleene.planning.ask import Ask
from kleene.planning.cost_model import has_gpu_cost
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import Facts
from kleene.planning.prepared_cost import cpu_seconds, gpu_seconds
from kleene.planning.rules import choose_method, unknown_method
from kleene.registry import DEVICES, Size, find, methods
from kleene.system.device_names import names_in_words
from kleene.system.formatting import format_bytes
from kleene.system.machine import Machine
from kleene.system.suggestions import no_such

__all__ = ["choose_device", "require_device", "require_device_name"]

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
        return "cuda", "device cuda: the answer is to stay there"
    if not has_gpu_cost(ask.what.problem):  # light work: where the graph is
        hosts = [device for device in ("cpu", "reference") if _offers(device, ask)]
        if hosts and not _has(facts.device, ask):
            return hosts[0], f"device {hosts[0]}: {DEVICES[hosts[0]]}"
        require_device(facts.device, machine)
        return facts.device, f"device {facts.device}: the graph is there"
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
