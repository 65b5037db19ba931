"""``.kp`` files that are damaged, hostile or stale: they are refused, or do no harm."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from prepared_city import city, prepared, require_same, save_city

import kleene as kl
from kleene.io.npz import write_aligned
from kleene.prepared import files
from torture.fuzz_prepared import check_prepared, prepared_graphs

Arrays = dict[str, Any]
WAYS = ("up", "down")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return save_city(tmp_path)


def edited(path: Path, change: Callable[[Arrays], None]) -> Path:
    """Write the file again with other arrays, whose checksums are right."""
    with np.load(path) as archive:
        arrays = {name: archive[name].copy() for name in archive}
    change(arrays)
    with path.open("wb") as file:
        write_aligned(file, arrays)
    return path


def entry(name: str, at: Any, value: Any) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays[f"prepared_{name}"][at] = value

    return change


def array(name: str, make: Callable[[Any], Any]) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays[f"prepared_{name}"] = make(arrays[f"prepared_{name}"])

    return change


def head(**fields: Any) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays["prepared"] = np.array(json.dumps(json.loads(str(arrays["prepared"])) | fields))

    return change


def gone(name: str) -> Callable[[Arrays], None]:
    return lambda arrays: arrays.__delitem__(name)


def other_weight(arrays: Arrays) -> None:
    arrays["weights"][0] += 1
    arrays["weights"][arrays["offsets"][1]] += 1  # the way back


HOSTILE: dict[str, tuple[Callable[[Arrays], None], str]] = {
    "no head": (gone("prepared"), "no prepared graph"),
    "another head": (head(format="kleene result 1"), "no prepared graph"),
    "a list as head": (lambda a: a.update(prepared=np.array("[1]")), "no prepared graph"),
    "numbers as head": (lambda a: a.update(prepared=np.arange(3)), "no prepared graph"),
    "a later version": (head(version=2), "found version 2, expected 1; upgrade"),
    "a version in words": (head(version="1"), "found version '1'"),
    "another digest": (head(graph=[1, 2, 3]), "stale"),
    "other weights": (other_weight, "stale"),
    "an unknown semiring": (head(semiring="plus_times"), "in the semiring 'plus_times'"),
    "a list of semirings": (head(semiring=["min_plus"]), "in the semiring"),
    "a type that no semiring has": (head(dtype="int8"), "found values of 'int8'"),
    "integers for probabilities": (head(semiring="max_times", dtype="int32"), "found values of"),
    "a number as type": (head(dtype=32), "found values of 32"),
    "other values than the type": (head(dtype="float32"), "expected a list of float32"),
    "negative in words": (head(negative="no"), "found negative = 'no'"),
    "no heads": (gone("prepared_heads"), "found nothing as heads"),
    "no up": (gone("prepared_up"), "found nothing as up"),
    "short up": (array("up", lambda a: a[:-1]), "expected"),
    "short down": (array("down", lambda a: a[:-1]), "expected"),
    "down of another type": (array("down", lambda a: a.astype(np.int64)), "as down"),
    "up in two dimensions": (array("up", lambda a: a[None]), "as up"),
    "up below zero": (entry("up", 3, -1), "expected values from 0 to 1073741823"),
    "up too large": (entry("up", 3, 2**30), "expected values from 0 to"),
    "short order": (array("order", lambda a: a[:-1]), "found 41 order, expected 42"),
    "long ranks": (array("ranks", lambda a: np.append(a, a[:1])), "found 43 ranks"),
    "wide heads": (array("heads", lambda a: a.astype(np.int64)), "expected a list of int32"),
    "swapped bytes": (array("heads", lambda a: a.astype(">i4")), "expected a list of int32"),
    "a vertex twice": (entry("order", 0, 1), "order and ranks"),
    "a vertex that is none": (entry("order", 0, 42), "order and ranks"),
    "a rank that is none": (entry("ranks", 0, -7), "order and ranks"),
    "offsets that begin late": (entry("offsets", 0, 1), "offsets do not rise"),
    "offsets that end late": (entry("offsets", -1, 10**12), "offsets do not rise"),
    "offsets that fall": (entry("offsets", 5, -5), "offsets do not rise"),
    "offsets beyond": (entry("offsets", 5, 2**62), "offsets do not rise"),
    "a head that is none": (entry("heads", 0, 42), "heads are not"),
    "a negative head": (entry("heads", 0, -1), "heads are not"),
    "a head below": (entry("heads", -1, 0), "heads are not"),
    "another parent": (entry("parents", 0, 41), "parents are not"),
    "a root that is none": (entry("parents", 0, -1), "parents are not"),
    "no arcs": (
        lambda a: a.update(
            prepared_heads=a["prepared_heads"][:0],
            prepared_offsets=0 * a["prepared_offsets"],
            prepared_parents=0 * a["prepared_parents"] - 1,
            prepared_up=a["prepared_up"][:0],
            prepared_down=a["prepared_down"][:0],
        ),
        "an arc of the graph",
    ),
    "no neighbors": (gone("neighbors"), "expected 'neighbors'"),
    "a graph with a wild arc": (lambda a: a["neighbors"].fill(99), "not below n"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused(saved: Path, name: str) -> None:
    change, message = HOSTILE[name]
    edited(saved, change)
    with pytest.raises(kl.FormatError, match=message) as caught:
        files.load(saved)
    assert str(caught.value).startswith(f"{saved}: ")


def test_values_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    files.save(tmp_path / "a.kp", *prepared(city(), dtype=np.float64))
    edited(tmp_path / "a.kp", entry("down", 5, np.nan))
    with pytest.raises(kl.FormatError, match="down from nan to nan"):
        files.load(tmp_path / "a.kp")


def test_a_file_of_another_graph_is_stale(saved: Path) -> None:
    g = city()
    for other in (g.reweight(2), kl.generate.path(42), g.reweight(None)):
        with pytest.raises(kl.FormatError, match=r"city\.kp: the file is stale.*prepare it again"):
            files.load(saved, other)


@pytest.mark.parametrize("contents", [b"", b"PK\x03\x04", b"p sp 1 0\n", b"\x93NUMPY\x01"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, contents: bytes) -> None:
    (tmp_path / "a.kp").write_bytes(contents)
    with pytest.raises(kl.FormatError, match=r"a\.kp: "):
        files.load(tmp_path / "a.kp")


def test_a_graph_alone_is_no_prepared_graph(tmp_path: Path) -> None:
    kl.write(city(), tmp_path / "a.npz")
    with pytest.raises(kl.FormatError, match=r"no prepared graph, expected what `kleene prepare`"):
        files.load(tmp_path / "a.npz")


def test_flipped_bits_and_cut_files_are_noticed(saved: Path) -> None:
    """Every byte of an array is covered by a checksum; elsewhere a change may not matter."""
    contents, chance = saved.read_bytes(), random.Random(5)
    parts = files.load(saved)
    for _ in range(300):
        at = chance.randrange(len(contents))
        spoiled = bytearray(contents)
        spoiled[at] ^= 1 << chance.randrange(8)
        try:
            loaded = files.load(io.BytesIO(spoiled))
        except kl.FormatError:
            continue
        require_same(loaded, parts)
    for _ in range(50):
        with pytest.raises(kl.FormatError):
            files.load(io.BytesIO(contents[: chance.randrange(len(contents))]))


def test_packed_again_by_another_program(saved: Path) -> None:
    """A compressed member, or one that is not aligned, is read instead."""
    parts = files.load(saved)
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        other = saved.with_name(f"{method}.kp")
        with zipfile.ZipFile(saved) as old, zipfile.ZipFile(other, "w", method) as new:
            for member in old.namelist():
                new.writestr(member, old.read(member))
        require_same(files.load(other), parts)


def test_wrong_values_do_not_reach_the_graph_of_the_user(saved: Path) -> None:
    """Whether values are right is not checked; they answer for the loaded graph alone."""
    g = city()
    right = kl.apsp(g, method="floyd_warshall", device="reference").distances
    edited(saved, lambda a: a.update({f"prepared_{w}": 0 * a["prepared_up"] + 1 for w in WAYS}))
    p = kl.load_prepared(saved, g)
    assert p.distance(0, 41) < right[0, 41]
    with pytest.raises(kl.VerificationError):
        p.trees().verify()
    for found in (
        kl.apsp(g, method="prepared"),
        kl.sssp(g, sources=range(40), method="prepared"),
        kl.prepare(g).trees(),
        p.customize().trees(),
    ):
        assert np.array_equal(found.distances, right[: len(found.distances)])
    check_prepared(saved.read_bytes())


def test_the_elimination_of_a_file_is_kept(saved: Path) -> None:
    """It is proved; but one that the graph has stays."""
    g, other = city(), city()
    p = kl.load_prepared(saved, g)
    assert kl.prepare(g)._elimination is p._elimination
    first = kl.prepare(other)
    kl.load_prepared(saved, other)
    assert kl.prepare(other)._elimination is first._elimination


@pytest.mark.parametrize("number", range(len(prepared_graphs())))
def test_right_files_of_all_kinds_keep_the_contract(tmp_path: Path, number: int) -> None:
    prepared_graphs()[number].save(tmp_path / "a.kp")
    check_prepared((tmp_path / "a.kp").read_bytes())
