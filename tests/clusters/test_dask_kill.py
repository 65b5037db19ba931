"""Workers and clients that are killed: the campaign's cases, one of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from torture.clusters import Clusters

pytest.importorskip("dask.distributed")
pytest.importorskip("zarr")


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    with Clusters(1, tmp_path_factory.mktemp("clusters")) as started:
        yield started


def test_a_killed_worker_changes_nothing(clusters: Clusters) -> None:
    while not clusters.counts["workers killed"] and clusters.cases < 5:  # one may be too fast
        clusters.kill_workers(kills=1)
    assert clusters.counts["workers killed"] == 1
    assert not clusters.failures


def test_a_worker_killed_at_pairs_or_sums_changes_nothing(clusters: Clusters) -> None:
    before, cases = clusters.counts["workers killed"], clusters.cases
    while clusters.counts["workers killed"] == before and clusters.cases < cases + 5:
        clusters.kill_workers_of_parts(kills=1)
    assert clusters.counts["workers killed"] == before + 1
    assert not clusters.failures


def test_the_same_call_resumes_after_a_kill_of_the_client(clusters: Clusters) -> None:
    cases = clusters.cases
    while not clusters.counts["clients killed"] and clusters.cases < cases + 5:  # may be too fast
        clusters.kill_client(kills=1)
    assert clusters.counts["clients killed"] == 1
    assert not clusters.failures


def test_a_wrong_store_is_noticed(clusters: Clusters, tmp_path: Path) -> None:
    """The campaign can fail."""
    clusters._check(3, tmp_path / "nothing.npy", "workers")
    assert clusters.failures.pop().endswith("the store is not finished")
