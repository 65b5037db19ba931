"""Rows by elimination on a GPU: the method ``prepared`` of sssp, apsp and closure.

Order and elimination run on the host, once for a graph (``kleene.prepared.cache``); weights are
customized and rows are swept on the device.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kleene.backends.answer import Answer
from kleene.backends.common.johnson import johnson
from kleene.backends.cuda.device_graph import deriving
from kleene.backends.cuda.prepared_customize import customize
from kleene.backends.cuda.prepared_trees import Rows, open_batch, repair_kept
from kleene.backends.cuda.row_batches import fill_rows
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.task import Task
from kleene.prepared.cache import Preparation
from kleene.prepared.tree_repair import repair_trees

__all__ = ["rows"]


def rows(task: Task) -> Answer:
    """Return one row per source: the best paths over the task's semiring."""
    graph, semiring = task.graph, task.semiring.name
    if graph.n == 0 or len(task.sources) == 0:
        return Answer(task.empty_values(), task.empty_predecessors())
    on_device = partial(customize, device=task.device)
    with deriving():
        parts = Preparation.of(graph).sure_parts(
            graph, semiring, task.dtype, threads=task.threads, by=on_device
        )
    if parts is None:
        return johnson(task)
    elimination, customization = parts
    wanted = Rows(elimination, customization, task.sources, None, task.predecessors)
    device, whole = open_device(task.device), replace(task, limit=None, targets=None)
    with open_batch(wanted, device, buffers=0 if task.keep else 2) as (batch, width):
        answer = fill_rows(whole, device, batch, width)
    if answer.kept is not None:
        repair_kept(wanted, answer.kept)
    elif answer.predecessors is not None:
        found = answer.values, answer.predecessors
        repair_trees(elimination, customization, task.sources, *found, task.threads)
    return answer
