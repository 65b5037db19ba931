"""Damaged files of every format give a graph or a KleeneError, and nothing else."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene.io import FORMATS, text


def samples() -> list[tuple[str, bytes]]:
    plain = kl.Graph.from_edges([0, 1, 2, 4], [1, 2, 0, 3], directed=False, name="g")
    weighted = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], np.array([4, 900, 2], np.int32))
    named = kl.Graph.from_edges([0, 1], [1, 2], [0.5, 1e9], labels=["a b", 'c"', "d,"])
    made = []
    for name in FORMATS:
        for graph in (plain, weighted, named):
            file = io.BytesIO()
            try:
                kl.write(graph, file, name)
            except kl.GraphError:
                continue
            made.append((name, file.getvalue()))
    for form in ("csr", "csc", "coo", "bsr", "dia"):
        file = io.BytesIO()
        scipy.sparse.save_npz(file, weighted.to_scipy().asformat(form), compressed=False)
        made.append(("npz", file.getvalue()))
    array = b"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2.5\n3\n"
    made.append(("matrix_market", array))
    made.append(("metis", b"% c\n3 3 111 1\n7 8 2 4 3 2\n7 8 1 4 3 9\n7 8 1 2 2 9\n"))
    made.append(("edge_list", gzip.compress(b"source;target\n1;2\n2;3\n", mtime=0)))
    return made


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


@settings(max_examples=1500, deadline=None)
@given(file=damaged(), grain=st.sampled_from([1, 8, 1 << 20]))
def test_damaged_files(file: tuple[str, bytes], grain: int) -> None:
    usual, text.GRAIN = text.GRAIN, grain
    try:
        check(*file)
    finally:
        text.GRAIN = usual


@settings(max_examples=300, deadline=None)
@given(contents=st.binary(max_size=60))
@pytest.mark.parametrize("name", [None, *FORMATS])
def test_any_bytes(name: str | None, contents: bytes) -> None:
    check(name, contents)


@settings(max_examples=300, deadline=None)
@given(contents=st.text(alphabet='01 29\n\t,;"#%-.eaxp', max_size=60))
@pytest.mark.parametrize("name", [name for name, format in FORMATS.items() if format.text])
def test_any_text(name: str, contents: str) -> None:
    check(name, contents.encode())


@pytest.mark.parametrize(("name", "contents"), SAMPLES)
def test_every_truncation(name: str, contents: bytes) -> None:
    for size in range(0, len(contents), max(1, len(contents) // 300)):
        check(name, contents[:size])
