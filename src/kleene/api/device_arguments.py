"""Checks of ``device`` and ``devices``: where a call runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kleene.errors import Code, RequestError
from kleene.system.device_names import INDEXED, device_name, split_name

__all__ = ["Devices", "as_devices", "check_keep"]

Devices = Iterable[int | str] | None

_PLAIN = ("auto", "cpu", "cuda")


def as_devices(device: Any, devices: Any) -> tuple[str, tuple[str, ...]]:
    """Return the kind of device, and the names of those that were chosen."""
    if not isinstance(device, str):
        raise RequestError(Code("device"), f" must be a name, not {device!r}")
    if devices is None and device in _PLAIN:  # soon, since small calls take microseconds
        return device, ()
    kind, index = split_name(device)
    named = () if index is None else (device_name(kind, index),)
    if devices is None:
        return kind, named
    if isinstance(devices, (str, bytes)) or not np.iterable(devices):
        raise RequestError(
            Code("devices"),
            " must be a list of numbers or names, as in [0, 2] or ['cuda:0', 'cuda:2'], not "
            f"{devices!r}",
        )
    chosen = [_as_device(each, kind) for each in devices]
    names = tuple(device_name(*each) for each in chosen)
    if not names:
        raise RequestError(Code("devices"), " is empty: name at least one, or leave it out")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RequestError(Code("devices"), f" names {twice!r} twice")
    found = {of for of, _ in chosen} | ({kind} - {"auto"})
    if len(found) > 1 or (named and named != names):
        raise RequestError(
            Code("devices"),
            f" {', '.join(map(repr, names))} and ",
            Code(f"device={device!r}"),
            " do not go together: devices of one kind share a call",
        )
    return found.pop(), names


def _as_device(given: Any, kind: str) -> tuple[str, int]:
    """Return the kind and the index of one of several devices."""
    if isinstance(given, str):
        of, index = split_name(given)
        if of in INDEXED:
            return of, index or 0
    elif isinstance(given, (int, np.integer)) and not isinstance(given, bool) and given >= 0:
        return (kind if kind in INDEXED else "cuda"), int(given)
    raise RequestError(
        Code("devices"),
        f" has {given!r}, and should have numbers from 0 on, or names such as 'cuda:1'",
    )


def check_keep(keep: Any, kind: str) -> None:
    """Refuse what is not "device", and devices that leave nothing there."""
    if keep != "device":
        raise RequestError(Code("keep"), f" must be 'host' or 'device', not {keep!r}")
    if kind not in ("auto", *INDEXED):
        raise RequestError(
            Code("keep='device'"),
            " leaves the answer on a GPU, and the call is for ",
            Code(f"device={kind!r}"),
            ": use ",
            Code("device='cuda'"),
            ", or leave out keep",
        )
