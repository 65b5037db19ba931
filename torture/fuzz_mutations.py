"""Mutations that know what a file is made of: they reach behind checksums and compression.

A damaged ZIP member or gzip stream is refused by its checksum before a reader sees it. So an
archive is taken apart, one of its members is mutated, and it is put together again.
"""

from __future__ import annotations

import gzip
import io
import random
import zipfile
import zlib
from collections.abc import Callable

__all__ = ["mutate_bytes", "mutate_file"]

Mutate = Callable[[bytes], bytes]

_TOKENS = [
    b"-1", b"0", b"1", b"nan", b"inf", b"-inf", b"1e400", b"1e308", b"9" * 18, b"9" * 20, b"\0",
    b"\n", b"\r", b'"', b" ", b"\t", b",", b";", b"%", b"#", b"c", b"\xff\xfe", b"a 1 1 1\n",
    b"1 2\n", b"4294967296", b"2147483648", b"true", b"null", b"[]", b"{}", b"<U9", b"<i8", b"|b1",
    b">f4", b"<f2", b"|O", b"boolean", b"max_min", b"min_plus", b"bfs", b"apsp", b"closure", b"NaN",
]  # fmt: skip


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
            members[at] = (name, mutate(held))
    return _archive(members)


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
