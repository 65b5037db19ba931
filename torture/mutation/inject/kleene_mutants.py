"""The chosen mutant of the Python modules: the environment says which, or the test process."""

import os

number = int(os.environ.get("KLEENE_MUTANT", "0"))
executed: set[int] | None = None  # while a run is recorded


def chosen(mutant: int) -> bool:
    """Return whether this is the chosen mutant."""
    if executed is not None:
        executed.add(mutant)
    return mutant == number
