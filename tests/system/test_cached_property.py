"""Attributes that are computed once, by threads and in forked children too."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kleene
from kleene.system.cached_property import cached_property

FORK = """
import os, signal, threading, warnings
from kleene.system.cached_property import cached_property

class Slow:
    def __init__(self, wait):
        self.wait = wait

    @cached_property
    def value(self):
        self.wait()
        return 1

began, end = threading.Event(), threading.Event()
busy = threading.Thread(target=lambda: Slow(lambda: (began.set(), end.wait())).value)
busy.start()
began.wait()
warnings.simplefilter("ignore")  # Python 3.12: fork beside threads
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(Slow(lambda: None).value)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
end.set()
busy.join()
print(status)
"""


class Counted:
    """Counts how often its value was computed."""

    computed = 0

    @cached_property
    def value(self) -> int:
        """The value."""
        self.computed += 1
        return self.computed


def test_it_is_computed_once() -> None:
    counted = Counted()
    assert [counted.value, counted.value] == [1, 1]
    assert Counted().value == 1
    assert isinstance(Counted.value, cached_property)
    assert Counted.value.__doc__ == "The value."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_while_a_thread_computes_does_not_hang() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, timeout=600, check=True
    )
    assert ended.stdout.strip() == "1"


def test_no_module_uses_the_one_with_a_lock() -> None:
    root = Path(kleene.__file__).parent.parent
    users = [
        file.relative_to(root).as_posix()
        for file in root.rglob("*.py")
        if re.search(r"functools import .*cached_property", file.read_text())
    ]
    assert users == ["kleene/system/cached_property.py"]
