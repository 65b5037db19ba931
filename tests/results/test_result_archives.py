"""Archives of results that are damaged, too large or of another kind: refused, nothing unpacked."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from edited_results import CHAIN, edited
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene import FormatError
from kleene.system.npy_header import LONGEST_HEADER


def test_what_does_not_belong_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, right = tmp_path / "result.npz", kl.bfs(CHAIN, 0)
    right.save(file)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("junk.npy", bytes(1 << 20))
    opened: list[str] = []
    own = zipfile.ZipFile.open

    def open_member(self: Any, member: Any, *rest: Any, **options: Any) -> Any:
        opened.append(member.filename)
        return own(self, member, *rest, **options)

    monkeypatch.setattr(zipfile.ZipFile, "open", open_member)
    assert kl.Result.load(file, CHAIN).distances.tolist() == right.distances.tolist()
    assert "values.npy" in opened
    assert "junk.npy" not in opened


def replaced(file: Path, name: str, data: bytes, **changes: Any) -> None:
    """Write an archive again, with another member of this name."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[name] = data
    with zipfile.ZipFile(file, "w", **({"compression": zipfile.ZIP_DEFLATED} | changes)) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize("name", ["values", "predecessors", "horizons"])
def test_arrays_larger_than_the_sources_allow(name: str, tmp_path: Path) -> None:
    """A small file that unpacks to a large array is refused before that."""
    file = tmp_path / "result.npz"
    kl.sssp(CHAIN, 0, limit=5).save(file)
    replaced(file, f"{name}.npy", bytes(1 << 20))
    assert file.stat().st_size < 10_000
    with pytest.raises(FormatError, match=f"found 1,048,576 bytes of '{name}', too many"):
        kl.Result.load(file, CHAIN)


def test_an_array_one_number_larger_than_the_sources_allow(tmp_path: Path) -> None:
    n = 1000
    right = kl.bfs(kl.Graph.from_edges([0], [1], n=n), 0, dtype=float, predecessors=False)
    most = n + (LONGEST_HEADER - 128) // 8  # NumPy's header has 128 bytes
    with pytest.raises(FormatError, match=r"values have shape"):
        edited(right, tmp_path, values=np.zeros((1, most)))
    with pytest.raises(FormatError, match=r"bytes of 'values', too many"):
        edited(right, tmp_path, values=np.zeros((1, most + 1)))


@pytest.mark.parametrize("shape", [(), (1,)])
def test_a_head_that_is_no_text(shape: tuple[int, ...], tmp_path: Path) -> None:
    for head in (np.array(0x110000, np.uint32).view("U1"), np.array("{}"), np.array(1.5)):
        np.savez(tmp_path / "result.npz", head=head.reshape(shape))
        with pytest.raises(FormatError, match=r"not a result saved by Kleene|not Unicode"):
            kl.Result.load(tmp_path / "result.npz", CHAIN)


def test_arrays_larger_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "result.npz"
    kl.sssp(CHAIN, 0).save(file)
    replaced(file, "sources.npy", bytes(1 << 26))
    monkeypatch.setattr("kleene.graph.checks.available_memory", lambda: 2**26 - 1)
    with pytest.raises(kl.MemoryBudgetError, match="the file may be damaged or malicious"):
        kl.Result.load(file, CHAIN)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"", "damaged header"),
        (b"\x93NUMPY\1\0", "damaged header"),
        (b"x" * 2**21, "found 2,097,152 bytes of 'head', too many"),
    ],
    ids=["empty", "short", "long"],
)
def test_heads_that_are_damaged(head: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "result.npz"
    kl.sssp(CHAIN, 0).save(file)
    replaced(file, "head.npy", head)
    with pytest.raises(FormatError, match=message):
        kl.Result.load(file, CHAIN)


def test_heads_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "result.npz"
    texts = ["", "{", "[]", "7", "NaN", "[" * 100_000, '{"format": []}', "9" * 5000]
    for head in (*map(np.array, texts), np.array(7), np.array(["{}"]), np.array(b"{}")):
        np.savez(file, head=head)
        with pytest.raises(FormatError, match="not a result saved by Kleene"):
            kl.Result.load(file, CHAIN)


def test_archives_of_other_kinds(tmp_path: Path) -> None:
    file = tmp_path / "result.npz"
    kl.sssp(CHAIN, 0).save(file)
    with np.load(file) as archive:
        values = archive["values"]
    replaced(file, "note.txt", b"", compression=zipfile.ZIP_LZMA)
    with pytest.raises(FormatError, match="compression that NumPy does not write"):
        kl.Result.load(file, CHAIN)
    for damage in (b"", b"PK\3\4", bytes(values)):
        file.write_bytes(damage)
        with pytest.raises(FormatError, match="damaged archive"):
            kl.Result.load(file, CHAIN)
    with pytest.raises(FormatError, match="found a directory, expected a file"):
        kl.Result.load(tmp_path, CHAIN)
    np.savez(file, head=np.array({"format": "kleene result 1"}), values=values)  # pickled
    with pytest.raises(FormatError, match="found Python objects"):
        kl.Result.load(file, CHAIN)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_files_raise_errors_of_our_own(tmp_path: Path, data: st.DataObject) -> None:
    """Whatever happens to the bytes, the answer is right or refused."""
    file, right = tmp_path / "result.npz", kl.sssp(CHAIN, 0, limit=8)
    right.save(file)
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, 2**16)) % len(content)] = data.draw(st.integers(0, 255))
    file.write_bytes(content[: len(content) - data.draw(st.integers(0, 40))])
    try:
        loaded = kl.Result.load(file, CHAIN)
        loaded.verify()
    except kl.KleeneError:
        return
    assert loaded.distances.tolist() == right.distances.tolist()


def _streets() -> kl.Graph:
    return kl.generate.grid(20, 20, weights=(1, 9), seed=4)


@pytest.mark.parametrize("predecessors", [True, False])
@pytest.mark.parametrize("limit", [None, 40])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("search", [kl.sssp, kl.bfs])
def test_a_file_of_a_call_with_targets_holds_what_was_asked_for(
    search: Any, reverse: bool, limit: int | None, predecessors: bool, tmp_path: Path
) -> None:
    g, targets = _streets(), [399, 7, 7, 210, 0]
    for sources in ({"sources": range(0, 400, 9)}, {"source": 21}):
        made = search(
            g, **sources, targets=targets, limit=limit, reverse=reverse, predecessors=predecessors
        )
        made.save(tmp_path / "r.npz")
        with np.load(tmp_path / "r.npz") as archive:
            assert archive["values"].size == made.distances.size
            assert "predecessors" not in archive
        loaded = kl.Result.load(tmp_path / "r.npz", g)
        assert np.array_equal(loaded.distances, made.distances)
        assert loaded.distances.shape == made.distances.shape
        assert np.array_equal(loaded.targets, made.targets)
        assert np.array_equal(loaded.reached, made.reached)
        assert loaded.to_frame().equals(made.to_frame())
        assert loaded.to_pandas().distance.equals(made.to_pandas().distance)
        assert loaded.verify().rows == made.verify().rows
        first = made.sources[0]
        if not predecessors:
            assert loaded.predecessors is None if not reverse else True
            for result in (made, loaded):
                with pytest.raises(kl.RequestError, match="predecessors=True"):
                    result.paths(source=first)
            continue
        again, before = loaded.routes(source=first), made.routes(source=first)
        assert [one.distance for one in again] == [one.distance for one in before]
        assert [len(one.vertices) > 0 for one in again] == np.atleast_2d(made.reached)[0].tolist()
        loaded.save(tmp_path / "again.npz")
        assert np.array_equal(kl.Result.load(tmp_path / "again.npz", g).distances, made.distances)


def test_a_wrong_value_of_a_target_is_refused(tmp_path: Path) -> None:
    g = _streets()
    made = kl.sssp(g, sources=[0, 5], targets=[399, 7], limit=60)
    for at in range(4):
        for value in (made.no_path, 0, -1, 61, 3):
            values = made.distances.copy()
            if values.reshape(-1)[at] == value:
                continue
            values.reshape(-1)[at] = value
            loaded = edited(made, tmp_path, values=values)
            with pytest.raises(kl.VerificationError):
                loaded.verify()


def test_whole_rows_of_a_call_with_targets_are_still_read(tmp_path: Path) -> None:
    """As files were before they held the targets alone."""
    g = _streets()
    whole, made = kl.sssp(g, [0, 5][0]), kl.sssp(g, 0, targets=[399, 7])
    assert whole.predecessors is not None

    def as_before(head: dict[str, Any]) -> None:
        head["format"] = "kleene result 1"
        del head["paths"]

    loaded = edited(
        made, tmp_path, as_before, values=whole.distances[None],
        predecessors=whole.predecessors[None],
    )  # fmt: skip
    assert loaded.verify().rows == 1
    assert loaded.distances.tolist() == made.distances.tolist()
    assert loaded.path(7)[-1] == 7


@pytest.mark.parametrize(("field", "value"), [("paths", 1), ("paths", "yes"), ("limit", -1)])
def test_fields_of_a_file_of_targets_are_checked(field: str, value: Any, tmp_path: Path) -> None:
    made = kl.sssp(_streets(), 0, targets=[7])
    with pytest.raises(kl.FormatError, match=field):
        edited(made, tmp_path, lambda head: head.update({field: value}))
