"""All experiments, in the order of the report: the documents' first, then ours."""

from kleene.lab.experiment import Experiment
from kleene.lab.experiments import (
    apsp_by_size,
    bfs_forms,
    bfs_tables,
    blocked_versions,
    paths_by_size,
    rmat_by_scale,
    spmv_by_format,
)

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: tuple[Experiment, ...] = (
    *apsp_by_size.EXPERIMENTS,
    *blocked_versions.EXPERIMENTS,
    *bfs_tables.EXPERIMENTS,
    *bfs_forms.EXPERIMENTS,
    *spmv_by_format.EXPERIMENTS,
    *paths_by_size.EXPERIMENTS,
    *rmat_by_scale.EXPERIMENTS,
)
