"""Names of devices: a kind, and the index of one of several, as in ``"cuda:1"``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from kleene.errors import DeviceError, RequestError

__all__ = ["INDEXED", "count_from", "device_name", "names_in_words", "short_name", "split_name"]

#: Kinds of devices of which there may be several.
INDEXED = ("cuda", "emulated")

#: More than any machine has.
_MOST = 64


def split_name(name: str) -> tuple[str, int | None]:
    """Return the kind and the index of a device; None for a name without an index.

    >>> split_name("cuda:1"), split_name("cpu")
    (('cuda', 1), ('cpu', None))
    """
    kind, colon, number = name.partition(":")
    if not colon:
        return name, None
    if kind not in INDEXED or not (number.isascii() and number.isdecimal()):
        raise RequestError(
            f"no device {name!r}: a device has a name such as 'cpu' or 'cuda', or 'cuda:1' for one "
            "of several GPUs",
            option="device",
        )
    return kind, int(number)


def device_name(kind: str, index: int) -> str:
    """Return the name of one of several devices."""
    return f"{kind}:{index}"


def short_name(device: Any) -> str:
    """Return the name of an opened device; the first of its kind needs no index."""
    return device_name(device.kind, device.index) if device.index else str(device.kind)


def names_in_words(names: Sequence[str]) -> str:
    """Return the names of some devices, or how many they are.

    >>> names_in_words(["cuda:0", "cuda:2"])
    'cuda:0 and cuda:2'
    >>> names_in_words(["cuda:0", "cuda:1", "cuda:2", "cuda:3"])
    '4 devices, cuda:0 to cuda:3'
    """
    if len(names) > 3:
        return f"{len(names)} devices, {names[0]} to {names[-1]}"
    return " and ".join([", ".join(names[:-1]), *names[-1:]] if len(names) > 1 else names)


def count_from(variable: str) -> int:
    """Return a number of devices that the environment sets; 1 by default."""
    text = os.environ.get(variable) or "1"
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= _MOST):
        raise DeviceError(f"{variable} must be an integer from 1 to {_MOST}, not {text!r}")
    return int(text)
