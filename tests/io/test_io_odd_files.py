"""Files that are none, or not what their name says, read as every format: an error, and no hang.

Pipes, devices, directories, empty files, other encodings, and small gzip files with large contents.
"""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

import kleene as kl
from kleene.io import FORMATS
from kleene.io.npz import write_aligned
from torture.fuzz_seeds import samples

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits memory, and has these devices")
every_format = pytest.mark.parametrize("format", [None, *FORMATS])
SAMPLES = samples()
pytestmark = pytest.mark.filterwarnings("ignore::kleene.GraphWarning")


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    """End a read that waits for ever."""

    def stop(*_: object) -> NoReturn:
        raise TimeoutError("the read hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(120)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@every_format
@pytest.mark.parametrize("packed", [False, True])
def test_empty_files(tmp_path: Path, format: str | None, packed: bool) -> None:
    path = tmp_path / "empty"
    path.write_bytes(gzip.compress(b"") if packed else b"")
    with pytest.raises(kl.FormatError, match="empty: found an empty file, expected a graph"):
        kl.read(path, format)


@every_format
def test_directories(tmp_path: Path, format: str | None) -> None:
    with pytest.raises(kl.FormatError, match="found a directory, expected a file"):
        kl.read(tmp_path, format)


@linux
@every_format
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/urandom"])
def test_devices_without_an_end(device: str, format: str | None) -> None:
    with pytest.raises(kl.FormatError, match=f"{device}: found a device, which has no end"):
        kl.read(device, format)
    with open(device, "rb") as file, pytest.raises(kl.FormatError, match="found a device"):
        kl.read(file, format)


@linux
@every_format
def test_a_device_that_is_empty(format: str | None) -> None:
    with pytest.raises(kl.FormatError, match="/dev/null: found an empty file"):
        kl.read("/dev/null", format)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no named pipes")
@pytest.mark.parametrize(("format", "contents"), SAMPLES)
def test_pipes(tmp_path: Path, format: str, contents: bytes) -> None:
    """A pipe gives what the file gives; so does one whose writer stops in the middle."""
    for part in (contents, contents[: len(contents) // 2]):
        path = tmp_path / "pipe"
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=(part,), daemon=True)
        writer.start()
        try:
            wanted: kl.Graph | str = kl.read(io.BytesIO(part), format)
        except kl.KleeneError as error:
            wanted = str(error).replace("<stream>", str(path))
        try:
            found: kl.Graph | str = kl.read(path, format)
        except kl.KleeneError as error:
            found = str(error)
        writer.join()
        path.unlink()
        if isinstance(wanted, kl.Graph):
            assert isinstance(found, kl.Graph)
            assert found.equals(wanted)
        else:
            assert found == wanted


ENCODINGS = {
    "utf-16": "UTF-16LE",
    "utf-16-be": "UTF-16BE",
    "utf-16-le": "UTF-16LE",
    "utf-32": "UTF-32LE",
    "utf-32-be": "UTF-32BE",
    "utf-32-le": "UTF-32LE",
    "gb18030": "GB18030",
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("format", [n for n, f in FORMATS.items() if f.text and n != "graphml"])
def test_other_encodings(tmp_path: Path, format: str, encoding: str) -> None:
    text = next(contents for name, contents in SAMPLES if name == format).decode()
    marked = "\ufeff" + text if encoding == "gb18030" else text
    message = f"found text in {ENCODINGS[encoding]}, expected UTF-8; save the file as UTF-8"
    path = tmp_path / f"graph{FORMATS[format].suffixes[0]}"
    for contents in (marked.encode(encoding), gzip.compress(marked.encode(encoding))):
        path.write_bytes(contents)
        for named in (format, None):
            with pytest.raises(kl.FormatError, match=message):
                kl.read(path, named)
    unknown = tmp_path / "graph"
    unknown.write_bytes(marked.encode(encoding))
    with pytest.raises(kl.FormatError, match=message):
        kl.read(unknown)


@pytest.mark.parametrize("encoding", [name for name in ENCODINGS if "16" not in name])
def test_xml_in_an_encoding_that_is_not_read(tmp_path: Path, encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><graphml><graph/></graphml>'
    path = tmp_path / "graph.graphml"
    path.write_bytes(("\ufeff" + text if encoding == "gb18030" else text).encode(encoding))
    for named in ("graphml", None):
        with pytest.raises(kl.FormatError, match=f"found text in {ENCODINGS[encoding]}, expected"):
            kl.read(path, named)


def test_xml_says_its_own_encoding(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?><graphml><graph><node id="é"/></graph></graphml>'
    path = tmp_path / "graph.graphml"
    path.write_bytes(text.encode("utf-16"))
    assert list(kl.read(path).labels) == ["é"]  # type: ignore[arg-type]


# ---- large contents of small files -------------------------------------------------------------

_BOMBS = r"""
import gzip, io, resource, sys, warnings
from pathlib import Path
import kleene as kl
import pyarrow.parquet
from kleene.io import FORMATS
warnings.simplefilter("ignore", kl.GraphWarning)
unit, repeats, rooms = eval(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
heads = {
    "dimacs": b"p sp 2 1\n",
    "matrix_market": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n",
    "edge_list": b"0 1 5\n", "metis": b"2 1\n", "graphml": b"<graphml><graph>", "gml": b"graph [ ",
    "tntp": b"<END OF METADATA>\n",
}
packed = {}
for name, head in heads.items():
    file = io.BytesIO()
    with gzip.GzipFile("", "wb", 1, file) as out:
        out.write(head)
        for _ in range(repeats):
            out.write(unit * ((1 << 20) // len(unit)))
    packed[name] = file.getvalue()
for room in rooms:
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = taken + (int(room) << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    for name in heads:
        try:
            print(name, kl.read(io.BytesIO(packed[name]), name).m)
        except kl.KleeneError as error:
            print(name, type(error).__name__)
"""


UNITS = [b"\n", b" ", b"#\n", b"\0", b"x", b'"', b"a b\n", b"1 2 3\n", b"<a>", b"["]


@linux
@pytest.mark.parametrize("unit", UNITS)
def test_large_contents_of_small_files(unit: bytes) -> None:
    made = subprocess.run(
        [sys.executable, "-c", _BOMBS, repr(unit), "16", "30", "150"],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr[-2000:]
    assert len(made.stdout.splitlines()) == 2 * 7


@linux
def test_blank_lines_take_no_memory() -> None:
    """Lines that hold no arc have no slots, which would take 400 MB here."""
    made = subprocess.run(
        [sys.executable, "-c", _BOMBS, repr(b"\n"), "48", "300"],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert "edge_list 1\n" in made.stdout, made.stdout + made.stderr


@linux
def test_native_code_without_memory() -> None:
    """Memory that ends where no check foresaw it is an error of Kleene, in any call."""
    program = """
import io, resource
from pathlib import Path
import numpy as np
import kleene as kl
from kleene import _native
from kleene.graph import checks
checks.available_memory = lambda: 1 << 60
text = b"0 1\\n" * 15_000_000
file, array = io.BytesIO(text), np.frombuffer(text, np.uint8)
taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + (100 << 20), resource.RLIM_INFINITY))
try:
    kl.read(file, "edge_list", threads=1)
except kl.MemoryBudgetError as error:
    print("refused:", error)
try:
    _native.parse_arcs(
        array, begin=0, line=1, grain=1 << 20, separator=" ", comments="", tag="", source=0,
        target=1, weight=-1, exact=True, kind="any", low=0, high=9, base=0, names=False,
        threads=1, progress=None,
    )
except kl.MemoryBudgetError as error:
    print("refused:", error)
"""
    made = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600
    )
    assert made.stdout.count("refused: ") == 2, made.stdout + made.stderr
    assert "bad_alloc" not in made.stdout


@linux
@linux
def test_archives_are_written_to_devices() -> None:
    """They are always at byte 0, by which an archive got negative lengths."""
    graph = kl.generate.grid(20, 20, weights=(1, 9), seed=1)
    with open("/dev/null", "wb") as null:
        for compressed in (True, False):
            kl.write(graph, null, format="npz", compressed=compressed)
            kl.write(graph, "/dev/null", format="npz", compressed=compressed)
        write_aligned(null, {name: np.arange(9) for name in "abcdefghi"})


@pytest.mark.parametrize("as_pipe", [True, False])
def test_standard_input_by_name(tmp_path: Path, as_pipe: bool) -> None:
    program = "import kleene as kl; print(kl.read('/dev/stdin', 'edge_list').weights.tolist())"
    command = [sys.executable, "-c", program]
    path = tmp_path / "arcs.txt"
    path.write_bytes(b"0 1 5\n1 2 7\n")
    with path.open("rb") as file:
        given = {"input": path.read_bytes()} if as_pipe else {"stdin": file}
        made = subprocess.run(command, capture_output=True, timeout=600, **given)  # type: ignore[call-overload]
    assert made.stdout == b"[5, 7]\n", made.stderr
