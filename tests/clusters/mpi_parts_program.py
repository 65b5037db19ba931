"""A program for mpiexec: reads, searches, proves and writes in parts, and compares with one rank.

``mpiexec -n 3 python mpi_parts_program.py FOLDER`` makes graphs in the folder and prints ``right``
if all ranks agree with what one process finds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import kleene as kl
from kleene import distributed as dist


def main(folder: Path) -> None:
    comm = dist.MpiCommunicator()
    graphs = {
        "rmat.npz": kl.generate.rmat(9, 8, seed=1, weights=(1, 255)),
        "kron.wsg": kl.generate.rmat(8, 8, seed=2, weights=(0, 3), directed=False),
        "grid.txt": kl.generate.grid(20, 21, weights=(0.5, 2.0)),
        "few.npz": kl.Graph.from_edges([0, 1], [1, 2], n=4),
    }
    if comm.rank == 0:
        for name, graph in graphs.items():
            kl.write(graph, folder / name)
    comm.barrier()
    for name, graph in graphs.items():
        options = {"directed": graph.directed} if name.endswith(".txt") else {}
        parts = dist.read(folder / name, comm=comm, **options)
        assert (parts.n, parts.m, parts.directed) == (graph.n, graph.m, graph.directed), name
        for search in ("bfs", "sssp"):
            result = getattr(dist, search)(parts, 1)
            expected = getattr(kl, search)(graph, 1).distances
            assert np.array_equal(result.distances, expected[parts.first : parts.stop]), name
            assert dist.verify(result).arcs == graph.m
            out = folder / f"{name}.{search}.npy"
            dist.write(result, out)
            assert np.array_equal(np.load(out), expected), name
    drawn = dist.rmat(9, 8, seed=1, weights=(1, 255), comm=comm)
    read = dist.read(folder / "rmat.npz", comm=comm)
    for name in ("offsets", "neighbors", "weights"):
        assert np.array_equal(getattr(drawn, name), getattr(read, name)), name
    if comm.rank == 0:
        print(f"right on {comm.size} ranks")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
