"""Stores of processes that end at any point: resumed, the same bytes, no block twice."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from store_samples import SPEC, fill, rows

from kleene.engine.pieces import Piece
from kleene.errors import StorageError
from kleene.stores.store import Store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs file locks and signals")

_KILLED = """
import random, sys
from pathlib import Path
import store_samples as s
from kleene.stores import ledger, npy
from kleene.stores.store import Store

folder, seed, count, name_ = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
draw = random.Random(seed)

def run(name, before, wanted):
    path = folder / name / name_
    path.parent.mkdir()
    def killed():
        before()
        s.fill(path)
    turns = 0
    while s.in_child(killed) and turns < 4:
        turns += 1
    found = Store.look(path)
    done = set() if found is None else set(found.done)
    again = s.fill(path)
    assert not done & set(again), (name, done, again)
    assert len(done) + len(again) == 5
    assert s.content(path) == wanted, name
    assert Store.look(path).verify() == 5
    return turns

(folder / "whole").mkdir()
s.fill(folder / "whole" / name_)
wanted = s.content(folder / "whole" / name_)
assert not s.in_child(lambda: (s.die_at_line(10**9), None))
killed = 0
for i in range(count):
    line = draw.randrange(1, 700)
    killed += run(f"line {i}", lambda: s.die_at_line(line), wanted) > 0
assert killed > count // 2
for i in range(1, 13, 2) if name_ == "d.npy" else ():  # two headers, then two arrays a block
    part = draw.choice([0.0, 0.3, 1.0])
    assert run(f"data {i}", lambda: s.die_in_write(npy, i, part), wanted)
for i in range(1, 7):  # the header, then a line a block
    part = draw.choice([0.0, 0.5, 1.0])
    assert run(f"ledger {i}", lambda: s.die_in_write(ledger, i, part), wanted)
print("right")
"""


@pytest.mark.parametrize("name", ["d.npy", "d.zarr"])
def test_kill_at_any_point(tmp_path: Path, name: str) -> None:
    """At lines of the modules of stores, in the middle of blocks and of lines of the ledger."""
    seed = str(random.randrange(10**6))
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, tmp_path, seed, "20" if name == "d.npy" else "8", name],
        env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.stdout.endswith("right\n"), (seed, done.stderr)


@pytest.mark.parametrize("first", [False, True], ids=["before", "between"])
def test_stopped_at_the_renames(
    tmp_path: Path, first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, kept, left = tmp_path / "d.npy", Path.replace, [1 if first else 0]

    def replace(self: Path, target: Path) -> Path:
        left[0] -= 1
        if left[0] < 0:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        return kept(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(StorageError, match="Permission denied"):
        fill(path)
    monkeypatch.undo()
    assert not path.exists()
    looked = Store.look(path)
    assert looked is not None
    assert not looked.missing()
    assert not looked.finished
    assert fill(path) == []
    assert np.array_equal(np.load(path), rows(Piece(0, 0, SPEC.shape[0]))[0])
