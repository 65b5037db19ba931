"""All experiments, in the order of the report: the documents' first, then ours."""

from kleene.lab.experiment import Experiment
from kleene.lab.experiments import apsp_by_size, beside, dense, searches

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: tuple[Experiment, ...] = (
    *apsp_by_size.EXPERIMENTS,
    *dense.EXPERIMENTS,
    *searches.EXPERIMENTS,
    *beside.EXPERIMENTS,
)
