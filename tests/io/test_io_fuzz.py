"""Damaged files of every format give a graph or a KleeneError, and nothing else.

The part `fuzz` of the campaign does the same for as long as it is given.
"""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene.io import FORMATS, text
from torture.fuzz import CORPUS
from torture.fuzz_seeds import samples
from torture.fuzz_targets import TARGETS

pytestmark = pytest.mark.filterwarnings("ignore::kleene.GraphWarning")

SAMPLES = samples()
TOKENS = [b"-1", b"99999999999999999999", b"nan", b"-inf", b"1e400", b"\x00", b"\n", b"\r", b'"']
TOKENS += [b" ", b",", b"%", b"#", b"c", b"\xff\xfe", b"a 1 1 1\n", b"1 2\n", b"0", b"9" * 18]


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, bytes]:
    name, contents = draw(st.sampled_from(SAMPLES))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(contents)))
        match draw(st.sampled_from(["cut", "flip", "insert", "remove", "repeat"])):
            case "cut":
                contents = contents[:at]
            case "flip" if at < len(contents):
                bit = 1 << draw(st.integers(0, 7))
                contents = contents[:at] + bytes([contents[at] ^ bit]) + contents[at + 1 :]
            case "insert":
                contents = contents[:at] + draw(st.sampled_from(TOKENS)) + contents[at:]
            case "remove":
                contents = contents[:at] + contents[at + draw(st.integers(1, 9)) :]
            case _:
                contents = contents[:at] + contents[at // 2 :]
    return name, contents


def check(name: str | None, contents: bytes) -> None:
    message = "a graph"
    try:
        graph = kl.read(io.BytesIO(contents), name)
    except kl.KleeneError as error:
        message = str(error)
    else:
        assert kl.Graph.from_csr(*graph.csr).csr.offsets.tolist() == graph.offsets.tolist()
    assert message
    assert message.isprintable()


@settings(max_examples=500, deadline=None)
@given(file=damaged(), grain=st.sampled_from([1, 8, 1 << 20]))
def test_damaged_files(file: tuple[str, bytes], grain: int) -> None:
    usual, text.GRAIN = text.GRAIN, grain
    try:
        check(*file)
    finally:
        text.GRAIN = usual


@settings(max_examples=100, deadline=None)
@given(contents=st.binary(max_size=60))
@pytest.mark.parametrize("name", [None, *FORMATS])
def test_any_bytes(name: str | None, contents: bytes) -> None:
    check(name, contents)


@settings(max_examples=100, deadline=None)
@given(contents=st.text(alphabet='01 29\n\t,;"#%-.eaxp', max_size=60))
@pytest.mark.parametrize("name", [name for name, format in FORMATS.items() if format.text])
def test_any_text(name: str, contents: str) -> None:
    check(name, contents.encode())


@pytest.mark.parametrize(("name", "contents"), SAMPLES)
def test_every_truncation(name: str, contents: bytes) -> None:
    for size in range(0, len(contents), max(1, len(contents) // 100)):
        check(name, contents[:size])


@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replay what fuzzing found: each input reaches code of its own, or made a reader fail."""
    monkeypatch.setattr("kleene.graph.checks.available_memory", lambda: 1 << 28)
    files = sorted((CORPUS / target).iterdir())
    assert files
    for file in files:
        try:
            TARGETS[target](file.read_bytes())
        except Exception as error:
            error.add_note(f"with {file.relative_to(CORPUS.parent.parent)}")
            raise


#: Options of ``torture/fuzzers/layout.hpp`` are followed by text, which the readers also read.
@pytest.mark.parametrize(("target", "options"), [("arcs", 6), ("names", 6), ("rows", 3)])
def test_the_corpus_of_native_parsers(
    target: str, options: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read its texts as files; the parsers' own contracts are checked by ``make torture``."""
    monkeypatch.setattr("kleene.graph.checks.available_memory", lambda: 1 << 28)
    for file in sorted((CORPUS / target).iterdir()):
        contents = file.read_bytes()[options:]
        for name in ("edge_list", "metis", "dimacs"):
            check(name, contents)
            check(name, b"p sp 9 3\n" + contents if name == "dimacs" else b"9 3 1\n" + contents)
