"""``--on`` and ``--workers``: a Dask cluster that computes, there already or started here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene.errors import Code

__all__ = ["on_cluster"]

_ALL_LOST = "30s"  # after which work without any process is given up


@contextmanager
def on_cluster(on: str | None, workers: int | None) -> Iterator[dict[str, Any]]:
    """Yield the keyword of the call, if a cluster is asked for; end what was started here."""
    from kleene.errors import RequestError, reworded

    if on is not None and workers is not None:
        raise RequestError(
            "--on names a cluster and --workers starts one", advice=["give one of them"]
        )
    if workers is None:
        yield {} if on is None else {"on": on}
        return
    with _local_client(workers) as client:
        try:
            yield {"on": client}
        except RequestError as error:  # it names the keyword of the call
            raise RequestError(reworded(error, _started_here)) from None


def _started_here(code: Code) -> Code:
    """Return the keyword for processes of this machine in place of that for a cluster."""
    return type(code)("workers=") if code.name == "on" else code


@contextmanager
def _local_client(workers: int) -> Iterator[Any]:
    """Yield a client of so many processes here, which Ctrl-C does not reach: they end with us."""
    import logging
    import warnings

    from kleene.clusters.dask.client import import_dask
    from kleene.system.machine import cores

    dask = import_dask()
    from dask import config

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # or it reports their end
    warnings.filterwarnings("ignore", module="distributed")
    with config.set({"distributed.scheduler.no-workers-timeout": _ALL_LOST}):
        cluster = dask.LocalCluster(
            n_workers=workers,
            threads_per_worker=max(1, cores() // workers),
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            preload=["kleene.clusters.dask.preload"],
        )
    with cluster, dask.Client(cluster) as client:
        yield client
