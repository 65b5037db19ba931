"""Mutations that know what a file is made of: they reach behind checksums and compression.

A damaged ZIP member or gzip stream is refused by its checksum before a reader sees it. So an
archive is taken apart, one of its members is mutated, and it is put together again.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import warnings
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["mutate_bytes", "mutate_file"]

Mutate = Callable[[bytes], bytes]

_TOKENS = [
    b"-1", b"0", b"1", b"nan", b"inf", b"-inf", b"1e400", b"1e308", b"9" * 18, b"9" * 20, b"\0",
    b"\n", b"\r", b'"', b" ", b"\t", b",", b";", b"%", b"#", b"c", b"\xff\xfe", b"a 1 1 1\n",
    b"1 2\n", b"4294967296", b"2147483648", b"true", b"null", b"[]", b"{}", b"<U9", b"<i8", b"|b1",
    b">f4", b"<f2", b"|O", b"boolean", b"max_min", b"min_plus", b"bfs", b"apsp", b"closure", b"NaN",
    b"<graph>", b"</graph>", b"<node id=", b"</data>", b"<data key=", b"<!DOCTYPE", b"&#0;",
    b"LINESTRING (", b"]]>", b"<!--", b"[", b"]", b"graph [", b"node [ id 1 ]", b"edge [", b"~",
    b"<FIRST THRU NODE> 2\n", b"&lt;", b"v",
    b'{"type":"LineString","coordinates":[[0,0],[1,1]]}', b'"features":[', b'"geometry":',
    b"GP\0\1",
]  # fmt: skip

_VALUES: list[Any] = [None, True, False, [], {}, "", "bfs", "sssp", "apsp", "closure", "min_plus"]
_VALUES += ["boolean", "max_min", "max_times", "int32", "int64", "float32", "float64", "<i2", [0]]
_VALUES += [-1, 0, 1, 2, 5, 0.5, -0.5, 1e308, 1e-320, 2**31, 2**63, 10**30]
_VALUES += [float("nan"), float("inf"), -float("inf")]
_TYPES = ("i1", "i2", "i4", "i8", "u1", "u4", "u8", "f2", "f4", "f8", ">i4", ">f8", "?", "U5")


def mutate_bytes(contents: bytes, random: random.Random) -> bytes:
    """Return the bytes with one to four random edits."""
    for _ in range(random.randint(1, 4)):
        at = random.randint(0, len(contents))
        end = min(len(contents), at + random.choice((1, 2, 4, 8, 40)))
        match random.randrange(7):
            case 0:
                contents = contents[:at]
            case 1 if at < len(contents):
                flipped = contents[at] ^ 1 << random.randrange(8)
                contents = contents[:at] + bytes([flipped]) + contents[at + 1 :]
            case 2:
                contents = contents[:at] + random.choice(_TOKENS) + contents[at:]
            case 3:
                contents = contents[:at] + random.choice(_TOKENS) + contents[end:]
            case 4:
                contents = contents[:at] + contents[end:]
            case 5:
                other = random.randint(0, len(contents))
                contents = contents[:other] + contents[at:end] + contents[other:]
            case _:
                contents = contents[:at] + random.randbytes(end - at) + contents[end:]
    return contents


def mutate_file(contents: bytes, mutate: Mutate, random: random.Random) -> bytes:
    """Return the file with something inside it mutated; now and then, with its own bytes."""
    if random.random() < 0.8:
        if contents.startswith(b"PK"):
            return _mutate_archive(contents, mutate, random)
        if contents.startswith(b"\x1f\x8b"):
            return _mutate_gzip(contents, mutate)
    return mutate(contents)


def _mutate_archive(contents: bytes, mutate: Mutate, random: random.Random) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(contents)) as archive:
            members = [(member.filename, archive.read(member)) for member in archive.infolist()]
    except Exception:  # damaged already
        return mutate(contents)
    if not members:
        return mutate(contents)
    at = random.randrange(len(members))
    name, held = members[at]
    match random.randrange(12):
        case 0:
            del members[at]
        case 1:
            members.append((random.choice(members)[0], held))
        case _:
            members[at] = (name, _mutate_member(held, mutate, random))
    return _archive(members)


def _mutate_member(contents: bytes, mutate: Mutate, random: random.Random) -> bytes:
    """Return an array with another item, type or shape, or a text with another value."""
    try:
        array = np.load(io.BytesIO(contents), allow_pickle=False)
        if random.random() < 0.3 or array.dtype.kind not in "Ubif":
            return mutate(contents)
        if array.dtype.kind == "U" and array.ndim == 0:
            array = np.array(_mutate_json(str(array), random))
        else:
            array = _mutate_array(array, random)
    except Exception:  # damaged already
        return mutate(contents)
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _mutate_json(text: str, random: random.Random) -> str:
    """Return JSON with one value of one object replaced, or removed."""
    held = json.loads(text)
    inner = random.choice([held, *(value for value in held.values() if isinstance(value, dict))])
    key = random.choice([*inner])
    if random.random() < 0.1:
        del inner[key]
    else:
        inner[key] = random.choice([*_VALUES, *inner.values()])
    return json.dumps(held)


def _mutate_array(array: NDArray[Any], random: random.Random) -> NDArray[Any]:
    match random.randrange(4):
        case 0:
            return array.astype(random.choice(_TYPES))
        case 1:
            return array[..., :-1] if array.ndim else array[np.newaxis]
        case 2:
            return array.reshape(array.shape[::-1] if random.random() < 0.5 else -1)
        case _:
            changed = array.copy()
            items = [value for value in _VALUES if isinstance(value, (int, float))]
            at = random.randrange(max(1, array.size))
            near = changed.flat[at] + random.choice((-1, 1, 0.5))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                changed.flat[at] = random.choice([near, near, *items])
            return changed


def _archive(members: list[tuple[str, bytes]]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in dict.fromkeys(name for name, _ in members):
            held = [contents for other, contents in members if other == name][-1]
            archive.writestr(zipfile.ZipInfo(name), held)  # of a fixed date
    return file.getvalue()


def _mutate_gzip(contents: bytes, mutate: Mutate) -> bytes:
    try:
        held = zlib.decompressobj(wbits=31).decompress(contents, 1 << 20)
    except zlib.error:
        return mutate(contents)
    return gzip.compress(mutate(held), mtime=0)
