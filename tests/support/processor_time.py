"""What another process has taken of the processors: a limit on it holds on a busy machine too."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

__all__ = ["taken_by"]


def taken_by(process: subprocess.Popen[Any]) -> float:
    """Return the seconds of the processors that a process has taken, also if it has just ended.

    Where there is no /proc, it is the clock: differences are never too small.
    """
    stat = Path(f"/proc/{process.pid}/stat")
    if not stat.exists():
        return time.monotonic()
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
