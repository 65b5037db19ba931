"""All experiments, in the order of the report: the documents' first, then ours."""

from kleene.lab.experiment import Experiment
from kleene.lab.experiments import (
    apsp_by_size,
    beside,
    crossovers,
    dense,
    files,
    generators,
    many,
    paths,
    scaling,
    searches,
    starting,
)

__all__ = ["EXPERIMENTS"]

_DOCUMENTS = (apsp_by_size,)
_OURS = (dense, searches, many, paths, crossovers, scaling, beside, starting, files, generators)

EXPERIMENTS: tuple[Experiment, ...] = tuple(
    experiment for theme in (*_DOCUMENTS, *_OURS) for experiment in theme.EXPERIMENTS
)
