"""Binary formats: encodings byte by byte, files of other programs, and inconsistent files."""

from __future__ import annotations

import io
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import kleene as kl
from kleene.graph import checks

GRAPH = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], np.array([4, 9, 2], np.int32))


def read(contents: bytes, format: str, **options: Any) -> kl.Graph:
    return kl.read(io.BytesIO(contents), format, **options)


def written(graph: kl.Graph, format: str, **options: Any) -> bytes:
    file = io.BytesIO()
    kl.write(graph, file, format, **options)
    return file.getvalue()


def saved(save: Callable[..., None], *args: Any, **kwargs: Any) -> bytes:
    file = io.BytesIO()
    save(file, *args, **kwargs)
    return file.getvalue()


# ---- GAP ----------------------------------------------------------------------------------------


def test_gap_layout() -> None:
    header = struct.pack("<?qq", True, 3, 3)
    outgoing = struct.pack("<4q6i", 0, 1, 2, 3, 1, 4, 2, 9, 0, 2)
    incoming = struct.pack("<4q6i", 0, 1, 2, 3, 2, 2, 0, 4, 1, 9)
    assert written(GRAPH, "gap") == header + outgoing + incoming
    assert read(header + outgoing + incoming, "gap").equals(GRAPH)
    plain = struct.pack("<?qq3q2i", False, 2, 2, 0, 1, 2, 1, 0)
    assert written(kl.Graph.from_edges([0], [1], directed=False), "gap") == plain
    assert not read(plain, "gap").directed


def test_gap_suffix_decides_without_arcs(tmp_path: Path) -> None:
    path = tmp_path / "empty.wsg"
    path.write_bytes(struct.pack("<?qqqq", False, 0, 1, 0, 0))
    assert kl.read(path).weights is not None
    assert kl.read(path.rename(tmp_path / "empty.sg")).weights is None


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"\x00" * 16, "found 16 bytes, expected a header of 17"),
        (struct.pack("<Bqq", 2, 0, 0), "found the header"),
        (struct.pack("<?qq", False, -1, 0), "found the header"),
        (struct.pack("<?qq", False, 10**18, 10**18), "found 17 bytes, expected 12,000,000,0"),
        (struct.pack("<?qq3q2i", False, 2, 2, 0, 1, 2, 1, 7), "vertex 7, which is not below n"),
        (struct.pack("<?qq3qi", False, 1, 2, 0, 1, 1, 1), "no reverse arc"),
        (struct.pack("<?qq3q2i", False, 2, 2, 0, 3, 2, 1, 0), "offsets must not decrease"),
        (struct.pack("<?qq3q2i", False, 2, 2, 1, 1, 2, 1, 0), "offsets must run from 0"),
        (struct.pack("<?qq3q2i", False, 2, 2, 0, 1, 2, 1, 0)[:-1], "found 48 bytes, expected 49"),
    ],
)
def test_bad_gap(contents: bytes, message: str) -> None:
    with pytest.raises(kl.FormatError, match=message):
        read(contents, "gap")


def test_weights_gap_cannot_hold() -> None:
    with pytest.raises(kl.GraphError, match="int32 weights only"):
        written(GRAPH.reweight(arcs=[2**31, 1, 1]), "gap")


# ---- npz ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_scipy_archives(form: str) -> None:
    rng = np.random.default_rng(5)
    matrix = scipy.sparse.coo_array(rng.random((8, 8)) * (rng.random((8, 8)) < 0.3))
    contents = saved(scipy.sparse.save_npz, matrix.asformat(form))
    if form in ("bsr", "dia"):  # these two store zeros as well, which are arcs
        assert read(contents, "npz").equals(kl.Graph.from_scipy(matrix.asformat(form)))
    else:
        assert read(contents, "npz").equals(kl.Graph.from_scipy(matrix))
    assert not read(contents, "npz", directed=False).directed


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_scipy_archives_of_booleans(form: str) -> None:
    matrix = scipy.sparse.coo_array(
        ([True, False, True], ([0, 1, 2], [1, 2, 0])), shape=(3, 3)
    ).asformat(form)
    graph = read(saved(scipy.sparse.save_npz, matrix), "npz")
    assert graph.equals(kl.Graph.from_edges([0, 2], [1, 0], n=3))
    assert graph.weights is None


def test_everything_is_kept() -> None:
    graph = kl.Graph.from_edges(
        [0, 1], [1, 2], np.array([0.1, 2], np.float32), directed=False, labels="abc", name="tiny"
    )
    for compressed in (True, False):
        back = read(written(graph, "npz", compressed=compressed), "npz")
        assert back.equals(graph)
        assert (back.directed, back.name) == (False, "tiny")
    with pytest.raises(kl.FormatError, match="does not apply"):
        read(written(graph, "npz"), "npz", directed=True)


def archive(**members: Any) -> bytes:
    return saved(np.savez, **members)


OURS = {
    "format": "kleene.graph",
    "version": 1,
    "directed": True,
    "name": "",
    "offsets": [0, 1, 1],
    "neighbors": [1],
}


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"PK\x03\x04 garbage", "found a damaged archive"),
        (archive(x=1), "found no entries .* expected a Kleene graph or a SciPy sparse matrix"),
        (archive(**OURS | {"version": 2}), "found version 2, expected at most 1"),
        (archive(**OURS | {"neighbors": [9]}), "vertex 9"),
        (archive(**OURS | {"offsets": [0, 5, 1]}), "offsets must not decrease"),
        (archive(**OURS | {"weights": [np.nan]}), "nan"),
        (archive(**OURS | {"labels": ["one"]}), "got 1 labels for 2 vertices"),
        (
            archive(**{k: v for k, v in OURS.items() if k != "offsets"}),
            "found the entries directed, .* expected 'offsets' in a Kleene graph",
        ),
        (
            archive(**OURS | {"version": [1, 2]}),
            r"found 'version' of shape \(2,\), expected a scalar",
        ),
        (archive(**OURS | {"directed": False}), "no reverse arc"),
        (archive(format="csr", shape=[2, 2], indptr=[0, 9, 1], indices=[0], data=[1.0]), "decr"),
        (archive(format="csc", shape=[2, 2], indptr=[0, 9, 1], indices=[0], data=[1.0]), "decr"),
        (archive(format="coo", shape=[2, 2], row=[5], col=[0], data=[1.0]), "index 5|exceed"),
        (archive(format="coo", shape=[2, 2], row=[1], data=[1.0]), "expected 'col' in a sparse"),
        (
            archive(format="coo", shape=[2, 2], row=[np.inf], col=[0], data=[1.0]),
            "found 'row' of type float64, expected integers",
        ),
        (archive(format="csr", shape=[2, 3], indptr=[0, 0, 0], indices=[], data=[]), "square"),
        (archive(format="xyz", shape=[2, 2]), "found the sparse format 'xyz', expected one of csr"),
    ],
)
def test_bad_npz(contents: bytes, message: str) -> None:
    with pytest.raises(kl.FormatError, match=message) as caught:
        read(contents, "npz")
    assert str(caught.value).startswith("<stream>: ")


def test_nothing_is_unpickled() -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return pytest.fail, ("unpickled",)

    trap = np.array([Trap()], dtype=object)
    with pytest.raises(kl.FormatError, match="never unpickles"):
        read(archive(**OURS | {"labels": trap}), "npz")
    with pytest.raises(kl.FormatError, match="never unpickles"):
        read(saved(np.save, trap), "npy")


def test_archives_that_decompress_to_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("offsets.npy", bytes(1 << 27))
    monkeypatch.setattr(checks, "available_memory", lambda: 100 << 20)
    with pytest.raises(kl.MemoryBudgetError, match=r"128.0 MiB, but 100.0 MiB are available"):
        read(file.getvalue(), "npz")


# ---- npy ----------------------------------------------------------------------------------------


def test_matrices() -> None:
    matrix = np.array([[0, 3.5, np.inf], [1, 0, np.inf], [0, 2, 0]])
    for order in "CF":
        contents = saved(np.save, np.array(matrix, order=order))
        assert read(contents, "npy").equals(kl.Graph.from_dense(matrix))
    assert read(saved(np.save, matrix), "npy", null_value=0).m == 3
    with pytest.raises(kl.GraphError, match="self-loops"):
        written(kl.Graph.from_edges([0], [0], [-1]), "npy")


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (saved(np.save, np.zeros((2, 3))), r"square, but has shape \(2, 3\)"),
        (saved(np.save, np.zeros((2, 2), complex)), "real numbers"),
        (saved(np.save, np.full((2, 2), np.nan)), "nan"),
        (saved(np.save, np.zeros((9, 9)))[:-3], "bytes of data, expected"),
        (saved(np.save, np.zeros((9, 9))).replace(b"(9, 9)", b"(9, 9**9)"[:6]), "damaged header"),
        (b"\x93NUMPY\x09\x00", "damaged header"),
    ],
)
def test_bad_npy(contents: bytes, message: str) -> None:
    with pytest.raises(kl.FormatError, match=message):
        read(contents, "npy")


def test_a_header_with_a_huge_shape() -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }\n"
    contents = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(8)
    with pytest.raises(kl.FormatError, match="found 8 bytes of data, expected"):
        read(contents, "npy")


# ---- Parquet ------------------------------------------------------------------------------------


def parquet(**columns: Any) -> bytes:
    import pyarrow
    import pyarrow.parquet

    return saved(
        lambda file, table: pyarrow.parquet.write_table(table, file), pyarrow.table(columns)
    )


def test_parquet_tables() -> None:
    contents = parquet(u=[0, 1, 2], v=[1, 2, 0], km=np.array([4, 9, 2], np.int32))
    assert read(contents, "parquet", columns=["u", "v", "km"]).equals(GRAPH)
    named = read(parquet(source=["a", "b"], target=["b", "c"]), "parquet", directed=False)
    assert list(named.labels) == ["a", "b", "c"]  # type: ignore[arg-type]
    assert read(parquet(source=[5], target=[6]), "parquet", relabel=False).n == 7


@pytest.mark.parametrize(
    ("contents", "options", "message"),
    [
        (b"PAR1 garbage PAR1", {}, "PyArrow cannot read the file"),
        (parquet(a=[1], b=[2]), {}, "found the columns a, b, expected 'source'"),
        (
            parquet(source=[1], target=[2]),
            {"weighted": True},
            "target, expected 'weight'",
        ),
        (
            parquet(source=[1, None], target=[2, 3]),
            {},
            "1 of 2 rows has no value in 'source', row 1",
        ),
        (parquet(source=[-1], target=[2]), {"relabel": False}, "negative"),
        (parquet(source=[1], target=[2], weight=["x"]), {}, "real numbers|objects"),
    ],
)
def test_bad_parquet(contents: bytes, options: dict[str, Any], message: str) -> None:
    with pytest.raises(kl.FormatError, match=message):
        read(contents, "parquet", **options)


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(kl.KleeneError, match="pip install pyarrow"):
        read(b"PAR1", "parquet")


def test_names_in_parquet_are_numbered_as_they_appear() -> None:
    source, target = ["c", "a", "c", "b"], ["b", "c", "d", "a"]
    graph = read(parquet(source=source, target=target, weight=[1, 2, 3, 4]), "parquet")
    assert graph.equals(
        kl.Graph.from_edges([0, 2, 0, 1], [1, 0, 3, 2], [1, 2, 3, 4], labels="cbad")
    )
    mixed = read(parquet(source=[7, 3, 7], target=["x", "y", "y"]), "parquet")
    assert mixed.labels is not None
    assert mixed.labels.tolist() == [7, "x", 3, "y"]
    assert read(parquet(source=[], target=[]), "parquet").n == 0


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source": [[1]], "target": [2]}, r"found the type list<.*> in 'source', expected numb"),
        ({"source": ["a"], "target": ["b"], "weight": ["c"]}, "weights must hold real numbers"),
    ],
)
def test_parquet_columns_of_other_types(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(kl.FormatError, match=message):
        read(parquet(**columns), "parquet")


# ---- budgets ------------------------------------------------------------------------------------


def header_only(dtype: str, shape: tuple[int, ...]) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": dtype, "fortran_order": False, "shape": shape}
    )
    return file.getvalue()


DIAGONAL = {"format": b"dia", "data": np.ones((1, 4)), "offsets": [0]}
BLOCKS = {"format": b"bsr", "shape": [0, 0], "indices": np.array([], int), "indptr": [0]}


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (archive(**BLOCKS, data=np.ones((0, 0, 0))), r"blocks of shape \(0, 0\)"),
        (archive(**BLOCKS, data=np.ones(3)), r"blocks of shape \(\)"),
        (archive(**DIAGONAL, shape=[-1, -1]), "expected that of a square matrix"),
        (archive(**DIAGONAL, shape=[4]), "expected that of a square matrix"),
        (archive(**DIAGONAL, shape=[4.5, 4.5]), "expected that of a square matrix"),
        (archive(**DIAGONAL, shape=np.zeros((4, 0), "V8")), "items of .*V8.* in the entry 'shape"),
        (archive(format=b"\xff", shape=[2, 2]), "utf-8"),
    ],
)
def test_more_bad_npz(contents: bytes, message: str) -> None:
    with pytest.raises(kl.FormatError, match=message):
        read(contents, "npz")


@pytest.mark.parametrize("dtype", ["|V0", "<U0", "|V8"])
def test_items_that_are_no_numbers(dtype: str) -> None:
    with pytest.raises(kl.FormatError, match=r"expected numbers|bytes of data|damaged"):
        read(header_only(dtype, (2**40, 2**40)), "npy")


def bomb() -> bytes:
    zeros = np.zeros(1 << 20, np.int64)
    return parquet(source=zeros, target=zeros)


@pytest.mark.parametrize(
    ("contents", "format"),
    [
        (bomb(), "parquet"),
        (archive(**DIAGONAL, shape=[2**36, 2**36]), "npz"),
        (archive(format="coo", shape=[2**40, 2**40], data=[1], row=[0], col=[1]), "npz"),
        (saved(np.savez_compressed, **OURS | {"neighbors": np.zeros(1 << 24)}), "npz"),
    ],
)
def test_small_files_with_large_contents(
    contents: bytes, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(contents) < 200_000
    monkeypatch.setattr(checks, "available_memory", lambda: 70 << 20)
    with pytest.raises(kl.MemoryBudgetError):
        read(contents, format)


def test_other_entries_are_not_read() -> None:
    file = io.BytesIO(archive(**OURS))
    with zipfile.ZipFile(file, "a") as packed:
        packed.writestr("junk.npy", b"no array")
    assert read(file.getvalue(), "npz").m == 1
    with zipfile.ZipFile(file, "a") as packed, pytest.warns(UserWarning, match="Duplicate"):
        packed.writestr("version.npy", b"")
    with pytest.raises(kl.FormatError, match="found two entries 'version'"):
        read(file.getvalue(), "npz")
