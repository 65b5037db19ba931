"""Sets of objects that several threads use at once, and what rests on them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kleene as kl
from kleene.system.live_set import LiveSet


@pytest.fixture(autouse=True)
def _often() -> Iterator[None]:
    """Let threads take turns as often as Python can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(work: Callable[[], Any], count: int = 6) -> None:
    """Do the same in some threads; raise what one of them raised."""
    errors: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class Town:
    pass


def test_objects_are_in_it_as_long_as_they_live() -> None:
    towns: LiveSet[Town] = LiveSet()
    kept = [Town() for _ in range(5)]
    for town in (*kept, *kept):
        towns.add(town)
    towns.add(Town())
    assert {id(town) for town in towns} == {id(town) for town in kept}
    assert len(list(towns)) == 5
    del town, kept[1:]
    assert [found is kept[0] for found in towns] == [True]
    assert len(towns._refs) == 1


def test_it_is_read_while_other_threads_add_to_it() -> None:
    towns: LiveSet[Town] = LiveSet()

    def work() -> None:
        own = []
        for _ in range(300):
            own.append(Town())
            towns.add(own[-1])
            assert own[-1] in list(towns)
            del own[:-20]

    in_threads(work)
    assert list(towns) == []


def test_prepared_graphs_are_loaded_by_several_threads(tmp_path: Path) -> None:
    graph = kl.generate.grid(6, 6, weights=(1, 9), seed=1)
    right = kl.sssp(graph, 0).distances[35]
    kl.prepare(graph).save(tmp_path / "g.kp")

    def work() -> None:
        for _ in range(60):
            assert kl.load_prepared(tmp_path / "g.kp").distance(0, 35) == right

    in_threads(work)
