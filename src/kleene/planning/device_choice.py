"""On which device a call runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from kleene.errors import DeviceError, RequestError
from kleene.planning.cost_model import estimate
from kleene.registry import DEVICES, find, methods
from kleene.system.machine import Machine

if TYPE_CHECKING:
    from kleene.planning.plan import Facts, Request

__all__ = ["choose_device", "unknown_method"]

#: The GPU must be faster by this, since estimates are rough and from other machines; a graph that
#: was placed on the GPU has someone who wants it there.
_CLEARLY, _PLACED = 2.0, 1.0


def _gpu_pays(facts: Facts, request: Request, machine: Machine) -> tuple[bool, str]:
    """Is a GPU clearly the better place, and why, or why not?"""
    gpu, cpu = estimate(facts, request, machine)
    placed = facts.device == "cuda"
    pays = gpu * (_PLACED if placed else _CLEARLY) < cpu
    faster = "faster" if placed else "clearly faster"
    told = f"{faster} than the CPU, about {gpu:.2g} s against {cpu:.2g} s"
    there = ", with the graph there" if placed else ""
    return pays, (told if pays else f"the GPU is not {told}") + there


def choose_device(facts: Facts, request: Request, machine: Machine) -> tuple[str, str]:
    """Return a device that has the method, and why, or refuse with what is missing."""
    if request.device != "auto":
        if request.device not in DEVICES:
            known = ", ".join(map(repr, ("auto", *DEVICES)))
            raise RequestError(f"no device {request.device!r}; there are {known}")
        _require_device(request.device, machine)
        return request.device, f"device {request.device!r} was asked for"
    # The first that has it, best first; a GPU is compared with the others.
    offering = [device for device in machine.devices if _offers(device, request)]
    why = ""
    if offering[:1] == ["cuda"] and len(offering) > 1:
        pays, why = _gpu_pays(facts, request, machine)
        if not pays:
            offering.remove("cuda")
    if offering:
        chosen = offering[0]
        return chosen, f"device {chosen}: {DEVICES[chosen]}" + (f"; {why}" if why else "")
    if find(request.problem, request.method, "cuda") is not None:
        _require_device("cuda", machine)
    unknown_method(request)


def _offers(device: str, request: Request) -> bool:
    if device == "emulated":  # runs only for those who ask for it
        return False
    if request.method == "auto":
        return bool(methods(request.problem, device))
    return find(request.problem, request.method, device) is not None


def _require_device(device: str, machine: Machine) -> None:
    if device in machine.devices:
        return
    why = dict(machine.absent).get(device)
    instead = "; device='emulated' runs the same kernels on the CPU" if device == "cuda" else ""
    raise DeviceError(
        f"device {device!r} ({DEVICES[device]}) is not available here: "
        + (why or f"there are {', '.join(map(repr, machine.devices))}")
        + f"{instead}; see `kleene doctor`"
    )


def unknown_method(request: Request) -> NoReturn:
    """Refuse a method that is not there, and tell those that are."""
    device = None if request.device == "auto" else request.device
    names = dict.fromkeys(row.name for row in methods(request.problem, device))
    where = "" if device is None else f" on device {device!r}"
    there = f"there are {', '.join(map(repr, names))}" if names else "there are none yet"
    raise RequestError(f"no method {request.method!r} for {request.problem}{where}; {there}")
