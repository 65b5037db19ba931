"""All experiments, in the order of the report: the documents' first, then ours."""

from kleene_lab.experiments import (
    apsp,
    bfs,
    crossovers,
    dense,
    dropins,
    gap,
    inputs,
    machine_learning,
    many_sources,
    measures,
    paths,
    paths_by_size,
    peers,
    prepared,
    prepared_peers,
    rmat_by_scale,
    scaling,
    searches,
    spmv_by_format,
    startup,
)
from kleene_lab.harness.experiment import Experiment

__all__ = ["EXPERIMENTS"]

_DOCUMENTS = (apsp, bfs, spmv_by_format, paths_by_size, rmat_by_scale)
_OURS = (
    dense, searches, many_sources, paths, crossovers, scaling, peers, gap, prepared, prepared_peers,
    measures, dropins, machine_learning, startup, inputs,
)  # fmt: skip

EXPERIMENTS: tuple[Experiment, ...] = tuple(
    experiment for theme in (*_DOCUMENTS, *_OURS) for experiment in theme.EXPERIMENTS
)
