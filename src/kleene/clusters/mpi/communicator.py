"""Communication between ranks: few collective calls, counted, with messages of any size.

Every call here is *collective*: all ranks make it, in the same order. Five kinds are enough:

- ``exchange``: an array from every rank to every rank (the messages of a search);
- ``gather_arrays``: an array from every rank to all (the bitmaps of a search);
- ``reduce``: sum, minimum or maximum of a few numbers, for all ranks;
- ``gather_all``: a small object from every rank to all;
- ``barrier``.

Sizes. MPI counts and displacements are C ints in most libraries, so that nothing larger than 2^31
may be sent at once. An exchange therefore goes in rounds: a rank sends at most ``round_bytes``, in
equal shares for all destinations, so that it receives no more than that either. The ranks first
tell each other how much comes, and the size of their largest part; everyone then knows the number
of rounds, which is nearly always one (none, if no rank has anything to send).

Errors that ranks raise together, or that end the job, are in ``agreement``.

Counting. ``messages`` and ``bytes_sent`` count what this rank sends to *other* ranks in exchanges
and gathered arrays, as if each went straight to its destination; empty arrays are not messages.
``collectives`` counts the calls of MPI. Headers and reductions, some bytes for every rank, are
counted there alone.
"""

# ruff: noqa: N802  (the names of MPI)
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.clusters.mpi.launch import deliver
from kleene.errors import RequestError

__all__ = ["Communicator", "MpiCommunicator", "Traffic"]

Array = NDArray[Any]

#: What a rank sends, and receives, in one call of MPI at most; far from 2^31, and it bounds the
#: memory of buffers.
ROUND_BYTES = 2**30

_REDUCTIONS = {"sum": np.add, "min": np.minimum, "max": np.maximum}


class Traffic(NamedTuple):
    """What was sent to other ranks: numbers of one rank, or of all together."""

    messages: int
    bytes: int
    collectives: int

    def since(self, earlier: Traffic) -> Traffic:
        """Return what was sent after an earlier count."""
        return Traffic(*(now - then for now, then in zip(self, earlier, strict=True)))


class Communicator:
    """Collective calls over an mpi4py communicator; without one, a job of this process alone.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        The communicator, or an object with those of its methods that are used here.
    round_bytes : int
        The most bytes that a rank sends or receives in one call of MPI.

    Attributes
    ----------
    rank, size : int
        The number of this process among all, and how many there are.
    messages, bytes_sent, collectives : int
        What this rank has sent to others so far; see the head of the module.

    Examples
    --------
    >>> alone = Communicator()
    >>> alone.size, alone.reduce(7, "sum")
    (1, 7)
    """

    def __init__(self, comm: Any = None, round_bytes: int = ROUND_BYTES) -> None:
        self._comm = _Alone() if comm is None else comm
        self._round_bytes = round_bytes
        self.rank: int = self._comm.Get_rank()
        self.size: int = self._comm.Get_size()
        self.messages = self.bytes_sent = self.collectives = 0
        self.agreed_error: Exception | None = None  # the last that all ranks raised together

    @property
    def traffic(self) -> Traffic:
        """What this rank has sent so far."""
        return Traffic(self.messages, self.bytes_sent, self.collectives)

    def exchange(self, parts: Sequence[Array]) -> list[Array]:
        """Send one array to every rank; return the arrays from all ranks.

        Parameters
        ----------
        parts : sequence of 1-D arrays
            One for each rank, of the same type on all ranks; they may be empty.

        Returns
        -------
        list of arrays
            By the rank that sent them.
        """
        dtype = parts[0].dtype
        counts = np.array([len(part) for part in parts], dtype=np.int64)
        self._count([len(part) for part in parts], dtype.itemsize)
        header = np.stack([counts, np.full(self.size, counts.max())], axis=1)
        headers = np.empty_like(header)
        self.collectives += 1
        self._comm.Alltoall(header, headers)
        share = self._share(self.size * dtype.itemsize)
        arrived: list[list[Array]] = [[] for _ in parts]
        for first in range(0, int(headers[:, 1].max()), share):
            sent = np.concatenate([_as_bytes(part[first : first + share]) for part in parts])
            incoming = np.clip(headers[:, 0] - first, 0, share) * dtype.itemsize
            outgoing = np.clip(counts - first, 0, share) * dtype.itemsize
            received = np.empty(int(incoming.sum()), dtype=np.uint8)
            self.collectives += 1
            self._comm.Alltoallv([sent, _places(outgoing)], [received, _places(incoming)])
            _collect(arrived, received, incoming)
        return [_joined(pieces, dtype) for pieces in arrived]

    def gather_arrays(self, array: Array, counts: Sequence[int] | Array) -> list[Array]:
        """Return the arrays of all ranks, on all ranks.

        Parameters
        ----------
        array : 1-D array
            What this rank shares, of the same type on all ranks.
        counts : sequence of int
            The length of the array of each rank.
        """
        lengths, item = np.asarray(counts, dtype=np.int64), array.dtype.itemsize
        self._count([len(array)] * self.size, item)
        share = self._share(self.size * item)
        arrived: list[list[Array]] = [[] for _ in lengths]
        for first in range(0, int(lengths.max()), share):
            incoming = np.clip(lengths - first, 0, share) * item
            received = np.empty(int(incoming.sum()), dtype=np.uint8)
            self.collectives += 1
            self._comm.Allgatherv(
                _as_bytes(array[first : first + share]), [received, _places(incoming)]
            )
            _collect(arrived, received, incoming)
        return [_joined(pieces, array.dtype) for pieces in arrived]

    def reduce(self, value: Any, op: str) -> Any:
        """Return the sum, minimum or maximum over all ranks, on all ranks.

        Parameters
        ----------
        value : number or array
            Of the same type and shape on all ranks. Integers are 64 bits wide.
        op : {"sum", "min", "max"}
            Every entry of an array is reduced for itself.
        """
        own = np.asarray(value)  # so few numbers are gathered as fast as they are reduced
        values = np.empty((self.size, *own.shape), dtype=own.dtype)
        self.collectives += 1
        self._comm.Allgather(np.asarray(own, order="C"), values)
        reduced = _REDUCTIONS[op].reduce(values, axis=0)
        return reduced if own.shape else reduced.item()

    def gather_all(self, item: Any) -> list[Any]:
        """Return the objects of all ranks, on all ranks; they are pickled.

        Parameters
        ----------
        item : object
            What this rank says; small.
        """
        self.collectives += 1
        return list(self._comm.allgather(item))

    def barrier(self) -> None:
        """Wait until all ranks are here."""
        self.collectives += 1
        self._comm.Barrier()

    def abort(self, message: str) -> NoReturn:
        """Print one line to the standard error, and end the processes of all ranks.

        Parameters
        ----------
        message : str
            What happened.
        """
        deliver(f"kleene: {message}; the job ends")
        self._comm.Abort(1)
        os._exit(1)  # MPICH may return while it ends the others

    def _share(self, bytes_per_item: int) -> int:
        """Return how many items go to each destination in one call."""
        return max(1, self._round_bytes // bytes_per_item)

    def _count(self, counts: list[int], item: int) -> None:
        others = [count for rank, count in enumerate(counts) if rank != self.rank and count]
        self.messages += len(others)
        self.bytes_sent += sum(others) * item


class MpiCommunicator(Communicator):
    """The ranks of an MPI job, by mpi4py.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        The communicator; ``MPI.COMM_WORLD`` by default.

    Examples
    --------
    >>> kl.distributed.MpiCommunicator().size  # doctest: +SKIP
    4
    """

    def __init__(self, comm: Any = None) -> None:
        super().__init__(_world() if comm is None else comm)


def _world() -> Any:
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise RequestError(
            'MPI needs the package mpi4py: pip install "kleene[mpi]", and an MPI library (the '
            "system's, or pip install mpich)"
        ) from error
    except RuntimeError as error:  # "cannot load MPI library"
        raise RequestError(
            "mpi4py finds no MPI library: load the module of your cluster, or pip install mpich"
        ) from error
    return MPI.COMM_WORLD


def _as_bytes(array: Array) -> Array:
    return np.ascontiguousarray(array).view(np.uint8)


def _places(counts: Array) -> tuple[list[int], list[int]]:
    """Return counts and displacements of consecutive pieces."""
    stops = np.cumsum(counts)
    return counts.tolist(), (stops - counts).tolist()


def _collect(arrived: list[list[Array]], received: Array, sizes: Array) -> None:
    """Add the pieces of one round to those of the rounds before."""
    for pieces, piece in zip(arrived, np.split(received, np.cumsum(sizes)[:-1]), strict=True):
        pieces.append(piece)


def _joined(pieces: list[Array], dtype: np.dtype[Any]) -> Array:
    if not pieces:
        return np.empty(0, dtype=dtype)
    return (pieces[0] if len(pieces) == 1 else np.concatenate(pieces)).view(dtype)


class _Alone:
    """The methods of a communicator with one rank."""

    def Get_rank(self) -> int:
        return 0

    def Get_size(self) -> int:
        return 1

    def Barrier(self) -> None:
        return None

    def Alltoall(self, sent: Array, received: Array) -> None:
        received[...] = sent

    def Allgather(self, sent: Array, received: Array) -> None:
        received[...] = sent

    def Alltoallv(self, sent: list[Any], received: list[Any]) -> None:
        received[0][...] = sent[0]

    def Allgatherv(self, sent: Array, received: list[Any]) -> None:
        received[0][...] = sent

    def allgather(self, item: Any) -> list[Any]:
        return [item]

    def Abort(self, code: int) -> NoReturn:
        raise SystemExit(code)
