"""Files read in parts: the same graph as by one process, and the same error on every rank."""

from __future__ import annotations

import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from fake_communicator import run_ranks
from hypothesis import given, settings
from hypothesis import strategies as st
from mpi_samples import RANKS, SAMPLES, assert_same_graph, described, spoiled

import kleene as kl
from kleene.clusters.mpi.reading import read
from kleene.clusters.mpi.reading_npz import crc_of_pieces, piece_crc


def read_by(ranks: int, path: Path, seed: int = 0, **options: Any) -> list[Any]:
    return run_ranks(ranks, lambda comm: described(read(path, comm=comm, **options)), seed)


def errors_by(ranks: int, path: Path, **options: Any) -> set[tuple[type, str]]:
    """Return the errors of all ranks: one, if they are the same."""

    def attempt(comm: Any) -> tuple[type, str]:
        with pytest.raises(kl.KleeneError) as raised:
            read(path, comm=comm, **options)
        return type(raised.value), str(raised.value)

    return set(run_ranks(ranks, attempt))


# ---- the same graph -----------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("suffix", [".npz", ".wsg", ".txt"])
def test_parts_are_the_whole(name: str, suffix: str, ranks: int, tmp_path: Path) -> None:
    graph = SAMPLES[name]()
    if suffix == ".wsg" and graph.weights is not None and graph.weights.dtype.kind == "f":
        pytest.skip("GAP files hold integers")
    path = tmp_path / f"g{suffix}"
    kl.write(graph, path)
    options = {"directed": graph.directed} if suffix == ".txt" else {}
    assert_same_graph(read_by(ranks, path, seed=ranks, **options), kl.read(path, **options))


@pytest.mark.parametrize("ranks", RANKS)
def test_compressed_and_scipy(ranks: int, tmp_path: Path) -> None:
    graph = SAMPLES["rmat"]()
    kl.write(graph, tmp_path / "c.npz", compressed=True)
    assert_same_graph(read_by(ranks, tmp_path / "c.npz"), graph)
    for compressed in (False, True):
        scipy.sparse.save_npz(tmp_path / "s.npz", graph.to_scipy(), compressed=compressed)
        assert_same_graph(read_by(ranks, tmp_path / "s.npz"), kl.read(tmp_path / "s.npz"))
    flags = scipy.sparse.csr_array(np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0]], dtype=bool))
    flags.data[1] = False
    scipy.sparse.save_npz(tmp_path / "b.npz", flags)
    assert_same_graph(read_by(ranks, tmp_path / "b.npz"), kl.read(tmp_path / "b.npz"))


@pytest.mark.parametrize("ranks", RANKS)
def test_labels(ranks: int, tmp_path: Path) -> None:
    named = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], labels=["a", "b", "see"])
    kl.write(named, tmp_path / "named.npz")
    assert_same_graph(read_by(ranks, tmp_path / "named.npz"), named)
    text = spoiled(tmp_path / "far.txt", b"1000000000000 -5\n7 3\n3 -5\n\n# none\n20 7\n")
    assert_same_graph(read_by(ranks, text), kl.read(text))
    found = run_ranks(ranks, lambda comm: _find(read(text, comm=comm), 20, 4))
    assert found == [(4 - 1, 10**12)] * ranks


def _find(graph: Any, label: Any, vertex: int) -> tuple[int, Any]:
    with pytest.raises(kl.GraphError, match="no vertex 'x'"):
        graph.index("x")
    return graph.index(label), graph.label(vertex)


TEXTS = {
    "comments": (b"# one\n% two\n\n0 1 2.5\n1 2 3\n\n# three\n2 0 4\n0 2 1", {}),
    "crlf": (b"0 1\r\n1 2\r\n2 3\r\n", {}),
    "header": (b"source,target,km\n1,2,0.5\n2,3,1e3\n", {}),
    "mark": (b"\xef\xbb\xbf0\t1\n1\t2\n", {}),
    "columns": (b"x,5,1,9\ny,6,1,8\nz,1,5,7\n", {"columns": [1, 2, 3]}),
    "late float": (b"".join(b"%d %d 7\n" % (i, i + 1) for i in range(50)) + b"50 0 0.25\n", {}),
    "late long": (b"0 1 1\n1 2 1\n2 3 5000000000\n", {}),
    "positions": (b"0 5\n5 9\n", {"relabel": False}),
    "undirected": (b"0 1 4\n1 0 3\n1 2 2\n", {"directed": False}),
    "unweighted": (b"0 1 4\n1 2 2\n", {"weighted": False}),
    "only comments": (b"# nothing\n# here\n", {}),
    "one long comment": (b"#" + b"c" * 200_000 + b"\n0 1\n1 2\n", {}),
    "one line": (b"3 4", {}),
    "loops": (b"1 1\n2 2\n", {}),
}


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", TEXTS)
def test_texts(name: str, ranks: int, tmp_path: Path) -> None:
    content, options = TEXTS[name]
    path = spoiled(tmp_path / "g.txt", content)
    assert_same_graph(read_by(ranks, path, **options), kl.read(path, **options))


# ---- the same error -----------------------------------------------------------------------------


def test_hops_are_not_counted_without_a_word(tmp_path: Path) -> None:
    """As by one process: one rank warns, once a graph; an error that it becomes is one of all."""
    path = tmp_path / "g.csv"
    path.write_text("source,target,lanes,speed\n0,1,2,50\n1,2,1,30\n")
    alone = kl.distributed.Communicator()
    graph = read(path, comm=alone)
    assert kl.distributed.bfs(graph, 0).distances.tolist() == [0, 1, 2]
    with pytest.warns(kl.GraphWarning, match="'lanes', 'speed'.*weight='lanes'") as said:
        kl.distributed.sssp(graph, 0)
    assert len(said) == 1
    assert kl.distributed.sssp(graph, 0).distances.tolist() == [0, 1, 2]
    for weight, distances in ((None, [0, 1, 2]), ("speed", [0, 50, 80])):
        graph = read(path, comm=alone, weight=weight)
        assert kl.distributed.sssp(graph, 0).distances.tolist() == distances

    def attempt(comm: Any) -> str:
        with pytest.raises(kl.GraphWarning) as raised:
            kl.distributed.sssp(read(path, comm=comm), 0)
        return str(raised.value)

    assert len(set(run_ranks(3, attempt))) == 1
    with pytest.warns(kl.GraphWarning) as said:
        run_ranks(3, lambda comm: kl.distributed.sssp(read(path, comm=comm), 0).distances)
    assert len(said) == 1


def test_a_wrong_line_has_its_number(tmp_path: Path) -> None:
    lines = [b"# head", *(b"%d %d" % (i, i + 1) for i in range(40))]
    lines[33] = b"32 x"
    path = spoiled(tmp_path / "g.txt", b"\n".join(lines))
    with pytest.raises(kl.FormatError) as one:
        kl.read(path)
    assert ":34:" in str(one.value)
    for ranks in RANKS:
        assert errors_by(ranks, path) == {(kl.FormatError, str(one.value))}


def test_the_first_of_several_wrong_lines(tmp_path: Path) -> None:
    path = spoiled(tmp_path / "g.txt", b"0 1\n" * 5 + b"a 1\n" + b"0 1\n" * 5 + b"b 1\n")
    for ranks in RANKS:
        ((kind, message),) = errors_by(ranks, path)
        assert kind is kl.FormatError
        assert ":6: found 'a'" in message


@pytest.mark.parametrize("suffix", [".npz", ".wsg"])
def test_truncated_files(suffix: str, tmp_path: Path) -> None:
    kl.write(SAMPLES["rmat"](), tmp_path / f"g{suffix}")
    whole = (tmp_path / f"g{suffix}").read_bytes()
    for end in (0, 1, 10, 17, len(whole) // 2, len(whole) - 1):
        path = spoiled(tmp_path / f"t{suffix}", whole[:end])
        for ranks in (1, 3):
            ((kind, message),) = errors_by(ranks, path)
            assert kind is kl.FormatError
            assert message.startswith(str(path))


def test_every_flipped_byte_of_an_archive_is_noticed(tmp_path: Path) -> None:
    kl.write(SAMPLES["pair"](), tmp_path / "g.npz", rows=False)
    whole = (tmp_path / "g.npz").read_bytes()
    path = tmp_path / "s.npz"

    def attempt(comm: Any) -> Any:
        try:
            return described(read(path, comm=comm))
        except kl.KleeneError as error:
            return str(error)

    refused = 0
    for at in range(0, len(whole), 11):
        changed = bytearray(whole)
        changed[at] ^= 0x41
        spoiled(path, bytes(changed))
        parts = run_ranks(2, attempt)
        if isinstance(parts[0], str):
            assert parts[0] == parts[1]
            refused += 1
        else:  # a byte of a time, or of the name of an entry that need not be there
            assert_same_graph(parts, kl.read(path))
    assert refused > 30


def test_hostile_rows(tmp_path: Path) -> None:
    header = np.array([(1, 4, 4)], dtype=[("d", "u1"), ("m", "<i8"), ("n", "<i8")]).tobytes()
    good = np.array([0, 1, 2, 3, 4], "<i8")
    arcs = np.array([1, 2, 3, 0], "<i4")
    for offsets, heads in (
        ([0, 3, 2, 3, 4], arcs),
        ([0, 1, 2, 3, 9], arcs),
        ([0, 1, -2, 3, 4], arcs),
        ([1, 1, 2, 3, 4], arcs),
        ([0, 1, 2, 3, 3], arcs),
        (good, [1, 2, 3, 4]),
        (good, [1, -1, 3, 0]),
    ):
        half = np.asarray(offsets, "<i8").tobytes() + np.asarray(heads, "<i4").tobytes()
        path = spoiled(tmp_path / "g.sg", header + half + half)
        for ranks in (1, 2, 4, 7):
            ((kind, _),) = errors_by(ranks, path)
            assert kind is kl.FormatError


def test_hostile_entries(tmp_path: Path) -> None:
    """What one process refuses, ranks refuse."""
    facts = {"format": "kleene.graph", "version": 1, "directed": True, "name": ""}
    rows = {"offsets": np.array([0, 1, 2]), "neighbors": np.array([1, 0])}
    no_text = np.array([0x110000, 0x41], np.uint32).view("U1")
    for entries, words in (
        ({"weights": np.array([1.0, np.nan])}, "nan"),
        ({"weights": np.array([-np.inf, 1.0])}, "-inf"),
        ({"weights": np.array([1, 2, 3])}, "3 weights, expected 2"),
        ({"weights": np.array(["a", "b"])}, "holds text"),
        ({"neighbors": np.array([0.5, 1])}, "not an integer vertex id"),
        ({"neighbors": np.array([[1], [0]])}, "expected a list"),
        ({"offsets": np.array([], np.int64)}, "offsets"),
        ({"labels": np.array([1, 2, 3])}, "3 labels, expected 2"),
        ({"version": 99}, "upgrade Kleene"),
        ({"format": "other"}, "'other'"),
        ({"directed": np.array([True])}, "expected a scalar"),
        ({"name": no_text[:1].reshape(())}, "not Unicode"),
        ({"labels": no_text}, "not Unicode"),
    ):
        np.savez(tmp_path / "g.npz", **{**facts, **rows, **entries})
        with pytest.raises(kl.FormatError):
            kl.read(tmp_path / "g.npz")
        for ranks in (1, 3):
            ((kind, message),) = errors_by(ranks, tmp_path / "g.npz")
            assert kind is kl.FormatError
            assert words in message, message


def test_an_undirected_file_with_a_single_arc(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "g.npz",
        format="kleene.graph", version=1, directed=False, name="",
        offsets=np.array([0, 1, 1]), neighbors=np.array([1], np.int32),
    )  # fmt: skip
    for ranks in (1, 2, 3):
        ((kind, message),) = errors_by(ranks, tmp_path / "g.npz")
        assert kind is kl.FormatError
        assert "one way only" in message


def test_what_has_no_parts(tmp_path: Path) -> None:
    gzipped = spoiled(tmp_path / "g.txt.gz", zlib.compress(b"0 1\n", wbits=31))
    names = spoiled(tmp_path / "n.txt", b"ann bob\nbob cy\n")
    dimacs = spoiled(tmp_path / "g.gr", b"p sp 2 1\na 1 2 7\n")
    good = spoiled(tmp_path / "g.txt", b"0 1\n")
    scipy.sparse.save_npz(tmp_path / "c.npz", scipy.sparse.coo_array(np.eye(3)))
    for path, options, words in (
        (gzipped, {}, "gunzip"),
        (names, {}, "kleene convert"),
        (dimacs, {}, "kleene convert"),
        (tmp_path / "c.npz", {}, "kleene convert"),
        (tmp_path, {}, "directory"),
        (Path("-"), {}, "pass its name"),
        (good, {"directed": "oneway"}, "True or False"),
        (good, {"names": True}, "in parts does not take names"),
        (good, {"through": True}, "does not take through; it takes"),
    ):
        ((_, message),) = errors_by(3, path, **options)
        assert words in message, message


def test_a_file_that_one_rank_does_not_see(tmp_path: Path) -> None:
    kl.write(SAMPLES["rmat"](), tmp_path / "g.npz")
    kl.write(SAMPLES["pair"](), tmp_path / "other.npz")

    def absent(comm: Any) -> str:
        with pytest.raises(FileNotFoundError) as raised:
            read(tmp_path / ("g.npz" if comm.rank != 1 else "none.npz"), comm=comm)
        return str(raised.value)

    def another(comm: Any) -> str:
        with pytest.raises(kl.FormatError, match="different sizes") as raised:
            read(tmp_path / ("g.npz" if comm.rank != 1 else "other.npz"), comm=comm)
        return str(raised.value)

    for work in (absent, another):
        assert len(set(run_ranks(3, work))) <= 2  # each names its own file


@pytest.mark.parametrize("suffix", [".npz", ".wsg", ".txt"])
def test_memory_is_asked_for_before_arcs_are_read(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kl.write(SAMPLES["rmat"](), tmp_path / f"g{suffix}")
    monkeypatch.setattr("kleene.clusters.mpi.collective.memory_for", lambda most: 3000)
    ((kind, message),) = errors_by(3, tmp_path / f"g{suffix}")
    assert kind is kl.MemoryBudgetError
    assert "on each of 3 ranks" in message
    assert "use more machines" in message


def test_checksums_of_pieces() -> None:
    data = np.random.default_rng(0).integers(0, 256, 5000, dtype=np.uint8)
    for cuts in ([], [0], [1], [17, 17, 4000], [5000]):
        pieces = [piece_crc(piece) for piece in np.split(data, cuts)]
        assert crc_of_pieces(pieces) == zlib.crc32(data)


# ---- any text, any number of ranks --------------------------------------------------------------

LINES = st.sampled_from(
    [b"0 1", b"1 2 5", b"7 3 0.5", b"# note", b"", b"  4\t4 ", b"9 9 9 9", b"x y", b"-3 8 1", b"5"]
)


@pytest.mark.filterwarnings("ignore::kleene.errors.GraphWarning")  # an edge, not a header
@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(LINES, max_size=12),
    ending=st.sampled_from([b"\n", b"\r\n"]),
    closed=st.booleans(),
    ranks=st.integers(1, 7),
    relabel=st.booleans(),
    seed=st.integers(0, 99),
)
def test_any_text_is_read_as_by_one_process(
    lines: list[bytes], ending: bytes, closed: bool, ranks: int, relabel: bool, seed: int
) -> None:
    """The same graph, or the same error with the same line number."""
    with tempfile.TemporaryDirectory() as folder:
        path = spoiled(Path(folder, "g.txt"), ending.join(lines) + (ending if closed else b""))

        def attempt(read_it: Any) -> Any:
            try:
                return read_it()
            except kl.KleeneError as error:
                return type(error), str(error)

        whole = attempt(lambda: kl.read(path, relabel=relabel))
        parts = run_ranks(
            ranks,
            lambda comm: attempt(lambda: described(read(path, comm=comm, relabel=relabel))),
            seed,
        )
    if "vertex names" in str(parts[0][1]):  # which one process can number
        assert all("vertex names" in str(part[1]) for part in parts)
    elif isinstance(whole, kl.Graph):
        assert_same_graph(parts, whole)
    else:
        assert parts == [whole] * ranks


def test_a_matrix_without_its_shape(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    rows = {"indptr": np.array([0, 1, 1]), "indices": np.array([1]), "data": np.array([2])}
    np.savez(path, format=np.array(b"csr"), **rows)
    [(kind, message)] = errors_by(2, path)
    assert kind is kl.FormatError
    assert "found no entry 'shape'" in message
