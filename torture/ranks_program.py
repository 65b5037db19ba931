"""A rank of an MPI job that dies at a chosen step: ``ranks_program.py RANK STEP bfs FILE SOURCE``.

A step is a collective call, or a file that is brought to the disk or gets its name. Without a rank
to die (-1) the job ends as usual, and each rank writes how many steps it took beside the output.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

STEPS = 0


def main() -> None:
    from kleene.clusters.mpi.communicator import Communicator
    from kleene.clusters.mpi.launch import launched_rank

    victim, step = int(sys.argv.pop(1)), int(sys.argv.pop(1))
    dies = launched_rank() == victim

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            global STEPS
            STEPS += 1
            if dies and step == STEPS:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return wrapped

    for name in ("exchange", "gather_all", "gather_arrays", "reduce", "barrier"):
        setattr(Communicator, name, counted(getattr(Communicator, name)))
    os.fsync = counted(os.fsync)
    Path.replace = counted(Path.replace)  # type: ignore[method-assign]
    from kleene.cli.main import main as run

    try:
        run()
    finally:
        if victim < 0:
            out = sys.argv[sys.argv.index("-o") + 1]
            Path(f"{out}.steps{launched_rank()}").write_text(str(STEPS))


if __name__ == "__main__":
    main()
