"""The machine: cores and memory, within what control groups allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.planning.ask import Ask
from kleene.planning.facts import Facts
from kleene.system import machine as machine_module
from kleene.system.machine import Machine, available_memory, cores, threads_for


def test_machine_is_sane() -> None:
    assert cores() >= 1
    memory = available_memory()
    assert memory is None or memory > 2**20
    assert threads_for(10) == 1
    assert threads_for(10, 5) == 5
    assert threads_for(10**9) == cores()


def test_control_groups_are_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "outer" / "memory.max").write_text("3000000\n")
    (tmp_path / "outer" / "memory.current").write_text("1000000\n")
    (inner / "memory.max").write_text("max\n")
    (inner / "memory.current").write_text("500\n")
    (inner / "cpu.max").write_text("100000 100000\n")
    folders = [inner, tmp_path / "outer", tmp_path]
    monkeypatch.setattr(machine_module, "_cgroup_folders", lambda controller: folders)
    assert available_memory() == 2_000_000
    assert cores() == 1


def test_control_group_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_module, "_CGROUP_ROOT", tmp_path)
    lines = "5:memory,cpu:/a/b\n3:pids:/c\n0::/d\n"
    monkeypatch.setattr(Path, "read_text", lambda self: lines)
    assert machine_module._cgroup_folders("memory") == [
        tmp_path / "memory/a/b",
        tmp_path / "memory/a",
        tmp_path / "memory",
        tmp_path / "d",
        tmp_path,
    ]


def test_a_larger_call_asks_for_free_memory_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    from kleene.planning import plan as planning

    asked: list[int] = []
    now, free = [100.0], [2**34]

    class Asked(Machine):
        def free_memory(self) -> int:
            asked.append(1)
            return free[0]

    machine = Asked(4, None, "baseline", ("cpu",), ())
    monkeypatch.setattr(planning, "live_machine", lambda: machine)
    monkeypatch.setattr(planning.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(planning, "_PLANS", {})
    facts = Facts(2**24, 2**26, None, 1, 1, 2**24)
    ask = Ask.of("bfs", sources=1, predecessors=False)
    first = planning.plan_call(facts, ask)
    assert first.memory >= planning._SMALL
    assert planning.plan_call(facts, ask) is first
    assert len(asked) == 1
    now[0] += 1.5
    assert planning.plan_call(facts, ask) is not first
    assert len(asked) == 2
    planning._PLANS.clear()
    free[0] = 4 * first.memory  # a large part of what there is: ask every time
    for _ in range(3):
        planning.plan_call(facts, ask)
    assert len(asked) == 5
