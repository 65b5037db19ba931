"""All experiments, in the order of the report: the documents' first, then ours."""

from kleene_lab.experiments import (
    apsp_by_size,
    bfs_forms,
    bfs_tables,
    blocked_versions,
    crossovers,
    dense,
    dropins,
    dropins_small,
    files,
    gap,
    gap_betweenness,
    generators,
    gpu_peers,
    machine_learning,
    many_sources,
    measures,
    paths,
    paths_by_size,
    peers,
    prepared,
    prepared_peers,
    products,
    rmat_by_scale,
    scaling,
    searches,
    spmv_by_format,
    startup,
)
from kleene_lab.harness.experiment import Experiment

__all__ = ["EXPERIMENTS"]

_DOCUMENTS = (
    apsp_by_size, blocked_versions, bfs_tables, bfs_forms, spmv_by_format, paths_by_size,
    rmat_by_scale,
)  # fmt: skip
_OURS = (
    dense, searches, many_sources, paths, crossovers, scaling, peers, gap, gpu_peers,
    prepared, prepared_peers, measures, gap_betweenness, products, dropins, dropins_small,
    machine_learning, startup, files, generators,
)  # fmt: skip

EXPERIMENTS: tuple[Experiment, ...] = tuple(
    experiment for theme in (*_DOCUMENTS, *_OURS) for experiment in theme.EXPERIMENTS
)
