"""Plans print as they did: see printed_plans."""

from __future__ import annotations

import difflib
import os
import subprocess
import sys

import printed_plans


def test_plans_are_those_of_the_file() -> None:
    """Whatever this machine is, and whatever its environment says."""
    made = subprocess.run(
        [sys.executable, printed_plans.__file__, "--print"],
        env=os.environ | {"KLEENE_MEMORY": "1M", "KLEENE_DEVICES_PER_GPU": "3"},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    listed = printed_plans.FILE.read_text()
    changed = difflib.unified_diff(listed.splitlines(), made.stdout.splitlines(), lineterm="", n=4)
    renew = "python tests/house/printed_plans.py renews the file"
    assert made.stdout == listed, "\n".join([renew, *changed])
    assert listed.count("\n\n") > 400
