"""The smallest calls do no more than they did: functions and builtins are counted, not timed."""

from __future__ import annotations

import json
import subprocess
import sys

import counted_calls
import pytest
import small_calls

KEPT = json.loads(counted_calls.FILE.read_text())
HERE = "{}.{}".format(*sys.version_info)

#: How much more a call may do. More is a decision: python tests/house/counted_calls.py renews
#: the file.
MORE = 1.05


@pytest.mark.skipif(KEPT["python"] != HERE, reason=f"counts are those of Python {KEPT['python']}")
def test_small_calls_do_no_more_than_they_did() -> None:
    found = {name: counted_calls.counted(call) for name, call in small_calls.calls().items()}
    assert found.keys() == KEPT["calls"].keys()
    more = {
        f"{name}: {what}": (found[name][what], kept)
        for name, counts in KEPT["calls"].items()
        for what, kept in counts.items()
        if found[name][what] > MORE * kept
    }
    assert more == {}, "python tests/house/counted_calls.py renews data/small_calls.json"


@pytest.mark.parametrize("name", counted_calls.FIRST)
def test_a_first_call_imports_no_more_than_it_did(name: str) -> None:
    found = counted_calls.imported(counted_calls.FIRST[name])
    assert found <= MORE * KEPT["modules"][name], (
        "python tests/house/counted_calls.py renews the file"
    )


def test_the_program_that_measures_them() -> None:
    made = subprocess.run(
        [sys.executable, small_calls.__file__, sys.executable, "--turns=1", "--seconds=0.001"],
        capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    header, *rows = made.stdout.splitlines()
    assert header.split() == ["other", "this", "ratio"]
    assert len(rows) == len(KEPT["calls"])
    assert all(float(row.split()[-1]) > 0 for row in rows)
