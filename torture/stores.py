"""Stores: killed while they are written, on disks without room, and with damaged ledgers.

Calls with ``out="d.npy"`` and ``out="d.zarr"``, by rows and by closures in rounds through files,
run in forked children, which end by SIGKILL at a random moment, at a random line of the modules of
stores, or meet a limit of file size. After one to four such ends the call is made once more, and
must finish the store with the same bytes as without trouble, and write no block that the ledger
had. Then ledger or blocks are changed: the same call must refuse them, or give the right answer;
``Store.verify`` must notice every changed value.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from torture.campaign import Budget, Outcome
from torture.processes import HANG, run_processes

__all__ = ["run"]

_DONE, _REFUSED, _WRONG = 0, 7, 8  # exit codes of a child
_CALLS: tuple[dict[str, Any], ...] = (
    {},
    {"sources": range(100), "predecessors": False},
    {"limit": 6, "reverse": True},
    {"sources": range(90), "targets": [4, 9, 4]},
    {"method": "tiled"},
    {"method": "tiled", "predecessors": False, "limit": 6},
)
_ROUNDS = {True: "230K", False: "110K"}  # memory in which a closure takes two, with predecessors


def run(budget: Budget) -> Outcome:
    """Run cases in several processes, each with its own seed."""
    if sys.platform == "win32":
        return Outcome(0, [], {"skipped": "needs fork"})
    return run_processes("torture.stores", budget)


class Campaign:
    """The cases of one process."""

    def __init__(self, seed: int, folder: Path) -> None:
        import kleene as kl

        self.seed, self.folder = seed, folder
        self.random = random.Random(seed)
        self.cases, self.failures, self.facts = 0, list[str](), Counter[str]()
        self.graph = kl.generate.uniform(130, 900, weights=(1, 9), seed=seed)
        self.number = 0

    def solve(self, path: Path, options: dict[str, Any]) -> Any:
        import kleene as kl

        allowed = _ROUNDS[options.get("predecessors", True)] if "method" in options else ""
        os.environ["KLEENE_MEMORY"] = allowed
        return kl.apsp(self.graph, out=path, threads=1, **{"method": "batched", **options})

    def go(self, end: float) -> None:
        """Run cases until a time."""
        while time.monotonic() < end:
            options = self.random.choice(_CALLS)
            suffix = self.random.choice(("npy", "zarr"))
            self.cases += 1
            self.number += 1
            place = self.folder / str(self.number)
            what = f"seed {self.seed}, case {self.number}, .{suffix}, {options}"
            try:
                self.case(place, f"d.{suffix}", options)
            except Exception as error:
                self.failures.append(f"{what}: {type(error).__name__}: {error}")
            shutil.rmtree(place, ignore_errors=True)

    def case(self, place: Path, name: str, options: dict[str, Any]) -> None:
        """Write a store through some trouble, compare it, then damage it."""
        from kleene.stores.store import Store
        from kleene.stores.writer import StoreWriter

        whole, path = place / "whole" / name, place / "own" / name
        for file in (whole, path):
            file.parent.mkdir(parents=True)
        self.solve(whole, options)
        for _ in range(self.random.randint(1, 4)):
            trouble = self.random.choice((self.at_random, self.at_line, self.limited))
            self.facts[trouble.__name__.strip("_")] += 1
            trouble(path, options)
        found = Store.look(path)
        done = set() if found is None else set(found.done)
        written: list[int] = []
        kept = StoreWriter.write

        def counted(files: Any, piece: Any, *arrays: Any) -> Any:
            written.append(piece.index)
            return kept(files, piece, *arrays)

        StoreWriter.write = counted  # type: ignore[method-assign]
        try:
            self.solve(path, options)
        finally:
            StoreWriter.write = kept  # type: ignore[method-assign]
        self.facts["blocks kept"] += len(done)
        assert not done & set(written), f"blocks {sorted(done & set(written))} were done again"
        assert _content(path) == _content(whole), "other bytes than without trouble"
        self.damage_ledger(path, options)
        self.damage_data(whole)

    # ---- trouble ----------------------------------------------------------------------------

    def at_random(self, path: Path, options: dict[str, Any]) -> None:
        """End the process at a random moment."""
        delay = self.random.expovariate(1 / (0.1 if "method" in options else 0.02))
        self._child(path, options, lambda: None, delay)

    def at_line(self, path: Path, options: dict[str, Any]) -> None:
        """End the process at a line of the modules of stores."""
        line = self.random.randrange(1, 1500)
        self._child(path, options, lambda: _die_at_line(line))

    def limited(self, path: Path, options: dict[str, Any]) -> None:
        """Limit the size of files."""
        size = self.random.randrange(1, 80_000)
        self._child(path, options, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))

    def _child(
        self, path: Path, options: dict[str, Any], prepare: Callable[[], object], delay: float = -1
    ) -> None:
        child = os.fork()
        if child == 0:
            code = _WRONG
            try:
                prepare()
                code = self._ending(path, options)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        if delay >= 0:
            time.sleep(delay)
            os.kill(child, signal.SIGKILL)
        end = time.monotonic() + HANG
        while not (status := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                raise AssertionError("a child hangs")
            time.sleep(0.001)
        if os.WIFSIGNALED(status[1]):
            assert os.WTERMSIG(status[1]) == signal.SIGKILL, f"signal {os.WTERMSIG(status[1])}"
        else:
            assert os.WEXITSTATUS(status[1]) in (_DONE, _REFUSED), "a child failed: see its trace"

    def _ending(self, path: Path, options: dict[str, Any]) -> int:
        import kleene as kl

        try:
            self.solve(path, options)
        except kl.StorageError:
            return _REFUSED
        return _DONE

    # ---- damage -----------------------------------------------------------------------------

    def damage_ledger(self, path: Path, options: dict[str, Any]) -> None:
        """Change the ledger: the same call refuses it, or gives the right answer."""
        import kleene as kl
        from kleene.stores.store import Store, ledger_of

        ledger = ledger_of(path)
        content, data = ledger.read_bytes(), _content(path)
        for _ in range(12):
            ledger.write_bytes(_mutated(content, self.random))
            for use in (lambda: Store.look(path), lambda: self.solve(path, options)):
                try:
                    use()
                    self.facts["damaged, accepted"] += 1
                except kl.KleeneError:
                    self.facts["damaged, refused"] += 1
            if path.suffix == ".npy" or path.exists():
                assert _content(path) == data, "a damaged ledger changed the data"
            for beside in path.parent.glob("*.partial"):
                beside.unlink() if beside.is_file() else shutil.rmtree(beside)
        ledger.write_bytes(content)

    def damage_data(self, path: Path) -> None:
        """Change bytes of the arrays: a store whose values changed is refused."""
        import kleene as kl
        from kleene.stores.store import Store

        store = Store.look(path)
        assert store is not None
        files = [f for f in path.parent.rglob("*") if f.is_file() and f.suffix != ".ledger"]
        right = store.writer().rows(0, store.spec.shape[0])
        for _ in range(12):
            file = self.random.choice(files)
            content = file.read_bytes()
            file.write_bytes(_mutated(content, self.random))
            try:
                store.verify()
            except kl.KleeneError:
                self.facts["damage found"] += 1
            else:
                found = store.writer().rows(0, store.spec.shape[0])
                for mine, other in zip(found, right, strict=True):
                    same = mine is other is None or mine.tobytes() == other.tobytes()
                    assert same, f"changed values of {file.name} were accepted"
            file.write_bytes(content)


def _mutated(content: bytes, draw: random.Random) -> bytes:
    """Return bytes with a small change: of a byte, of a part, or of lines."""
    kind = draw.randrange(6)
    at = draw.randrange(len(content))
    if kind == 0:
        return content[:at] + bytes([content[at] ^ (1 << draw.randrange(8))]) + content[at + 1 :]
    if kind == 1:
        return content[:at]
    if kind == 2:
        return content[:at] + draw.randbytes(draw.randint(1, 9)) + content[at:]
    lines = content.splitlines(keepends=True)
    line = draw.randrange(len(lines))
    if kind == 3:
        return b"".join(lines[:line] + lines[line + 1 :])
    if kind == 4:
        return b"".join([*lines[: line + 1], lines[line], *lines[line + 1 :]])
    draw.shuffle(lines)
    return b"".join(lines)


def _content(path: Path) -> dict[str, bytes]:
    """Return the files of a store without its ledger."""
    return {
        str(file.relative_to(path.parent)): file.read_bytes()
        for file in path.parent.rglob("*")
        if file.is_file() and not file.name.endswith((".ledger", ".partial"))
    }


def _die_at_line(line: int) -> None:
    folder = str(Path(sys.modules["kleene.stores"].__file__ or "").parent)
    left = line

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(folder):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    threading.settrace(trace)
    sys.settrace(trace)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    began = time.monotonic()
    os.environ["KLEENE_PIECE_SECONDS"] = "0.0001"
    with tempfile.TemporaryDirectory(prefix="kleene-stores-") as folder:
        campaign = Campaign(args.seed, Path(folder))
        campaign.go(began + args.seconds)
    facts = dict(campaign.facts)
    print(json.dumps({"cases": campaign.cases, "failures": campaign.failures, "facts": facts}))


if __name__ == "__main__":
    main()
