"""Errors in a job of many ranks: all ranks raise the same one, or the job ends.

An error that one rank alone has, and the others do not know of, would leave them waiting forever
in their next collective call. There are two cases. Checks go through :func:`agreed`: the ranks
compare what they found, and all of them raise the same error. Everything else is in
:func:`guarded`: an error on any rank is reported in one line, and ends the job (``MPI_Abort``).
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, TypeVar

from kleene.clusters.mpi.communicator import Communicator
from kleene.errors import KleeneError, RequestError

__all__ = ["agreed", "guarded", "raise_together"]

Answer = TypeVar("Answer")


def agreed(communicator: Communicator, check: Callable[[], Answer], same: bool = False) -> Answer:
    """Return ``check()``; if it raises on any rank, all ranks raise the first of the errors.

    With ``same``, ranks that find different things raise as well.
    """
    answer: Answer | None = None
    own: Exception | None = None
    try:
        answer = check()
    except Exception as error:
        own = error
    said = communicator.gather_all(
        (None if own is None else _portable(own), answer if same else None)
    )
    failed = [(rank, error) for rank, (error, _) in enumerate(said) if error is not None]
    if failed:
        rank, first = failed[0]
        raise_together(communicator, own if own and rank == communicator.rank else first)
    if any(other != said[0][1] for _, other in said):
        different = ", ".join(f"{other!r} on rank {rank}" for rank, (_, other) in enumerate(said))
        raise_together(
            communicator,
            RequestError(f"all ranks must make the same call, but they ask for {different}"),
        )
    return answer  # type: ignore[return-value]


def raise_together(communicator: Communicator, error: Exception) -> NoReturn:
    """Raise an error that all ranks raise at this point: they know the same."""
    communicator.agreed_error = error
    raise error


@contextmanager
def guarded(communicator: Communicator, what: str) -> Iterator[None]:
    """End the job if this rank fails by an error that the others do not have: they would wait."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        if communicator.size > 1 and error is not communicator.agreed_error:
            communicator.abort(
                f"rank {communicator.rank} of {communicator.size} failed in {what}: "
                f"{_described(error)}"
            )
        raise


def _described(error: BaseException) -> str:
    """Return an error in one line; one that is not meant for users, with its place."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, (KleeneError, MemoryError, KeyboardInterrupt)):
        return text
    places = traceback.extract_tb(error.__traceback__)
    return f"{text} ({Path(places[-1].filename).name}:{places[-1].lineno})" if places else text


def _portable(error: Exception) -> Exception:
    """Return an error that can be sent to other ranks."""
    try:
        copy: Exception = pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return copy
