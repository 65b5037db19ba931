"""Every method on every device beside a simple solver, ``verify()``, itself and its peers.

A case is one run of one method on one random graph. Its values are compared with ``expected`` and
proved by ``verify()``; or with its own values on a graph that was changed (``relations``); or it is
a call of csgraph or of the NetworkX backend beside SciPy's and NetworkX's (``peers``).

Everything follows from a seed: ``python -m torture.differential 123`` runs that of seed 123 again.
A failure is made smaller before it is reported, by leaving out arcs, vertices and options.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import kleene as kl
from kleene.registry import Method, methods
from kleene.system.machine import this_machine
from torture.campaign import Budget, Outcome
from torture.expected import Expected, error_is_due, fault
from torture.random_graphs import Spec, random_spec
from torture.relations import RELATIONS, OneRow

__all__ = ["run"]

#: Problems, and semirings of the closure, by how often they are drawn.
_PROBLEMS = ["bfs", "sssp", "sssp", "apsp", "apsp", "apsp", "min_plus", "boolean", "max_min",
             "max_times"]  # fmt: skip

#: Of seeds: how many ask a peer instead, or for a product, encodings, bounded searches, or a kind
#: of structure; of graphs: how many run a method on the emulator, which takes ten times as long as
#: one on the CPU.
_SCIPY, _NETWORKX, _PRODUCT, _ENCODINGS, _STRUCTURE, _EMULATED = 0.2, 0.06, 0.04, 0.03, 0.02, 0.3
_WITHIN, _NEAREST, _PREPARED, _BANDS = 0.06, 0.06, 0.1, 0.02

#: The emulator runs a fiber for each thread of a block: graphs up to here are done soon enough.
_SMALL = 41

#: Seconds that a seed may take before its process counts as hung.
_PATIENCE = 120

#: Seconds, and steps, to make a failure smaller.
_SHRINK_SECONDS, _SHRINK_STEPS = 5, 400

Check = Callable[[Spec], str | None]


class _Case(NamedTuple):
    """Something to check, for counting and reporting."""

    kind: str
    label: str
    spec: Spec
    check: Check


# ---- cases of a seed ----------------------------------------------------------------------------


def _cases(seed: int) -> Iterator[_Case]:
    """Yield what is checked for this seed."""
    rng = np.random.default_rng([seed, 1])
    other = _other_case(seed, rng.random())
    if other is not None:
        yield other
        return
    problem = _PROBLEMS[rng.integers(len(_PROBLEMS))]
    spec = random_spec(seed, problem)
    rows = _rows(problem, spec, rng)
    expected = _expected(problem, spec)
    for row in rows:
        check = _differential(problem, row, expected)
        yield _Case(row.device if row else "auto", _label(problem, row), spec, check)
    if problem in ("bfs", "sssp", "apsp"):
        yield _Case("pairs", f"{problem} of pairs", spec, partial(_pairs, problem, seed))
        yield _Case("arrivals", f"{problem}, reverse", spec, partial(_arrivals, problem))
    relation = list(RELATIONS)[rng.integers(len(RELATIONS))]
    related = replace(spec, asked={k: v for k, v in spec.asked.items() if k == "sources"})
    for row in rows if len(rows) < 3 else [rows[i] for i in rng.choice(len(rows), 2)]:
        yield _Case(
            relation,
            f"{_label(problem, row)}, {relation}",
            related,
            _metamorphic(problem, row, relation, seed),
        )


def _other_case(seed: int, draw: float) -> _Case | None:
    """Return the case of a seed that does not ask for paths by a method."""
    from torture import (
        bands,
        bounded,
        centrality,
        distances,
        peers,
        prepared_graphs,
        products,
        structures,
        traffic,
    )

    kinds = (
        ("csgraph", _SCIPY, peers.random_csgraph, peers.scipy_fault),
        ("csgraph paths and parts", _STRUCTURE, peers.random_structure, peers.structure_fault),
        ("networkx", _NETWORKX, peers.random_networkx, peers.networkx_fault),
        ("spmv", _PRODUCT, products.random_product, products.product_fault),
        ("encodings", _ENCODINGS, products.random_encodings, products.encodings_fault),
        ("within", _WITHIN, bounded.random_reach, bounded.reach_fault),
        ("nearest", _NEAREST, bounded.random_nearest, bounded.nearest_fault),
        ("prepared", _PREPARED, prepared_graphs.random_prepared, prepared_graphs.prepared_fault),
        ("components", _STRUCTURE, structures.random_components, structures.components_fault),
        ("k_shortest", _STRUCTURE, structures.random_k_shortest, structures.k_shortest_fault),
        ("turns", _STRUCTURE, structures.random_turns, structures.turns_fault),
        ("betweenness", _STRUCTURE, centrality.random_question, centrality.answer_fault),
        ("loads", _STRUCTURE, traffic.random_traffic, traffic.traffic_fault),
        ("distances", _STRUCTURE, distances.random_distances, distances.distance_fault),
        ("bands", _BANDS, bands.random_bands, bands.bands_fault),
        ("matrices", _STRUCTURE, products.random_matrices, products.matrices_fault),
    )
    for kind, share, make, check in kinds:
        if draw < share:
            return _Case(kind, kind, make(seed), check)
        draw -= share
    return None


def _label(problem: str, row: Method | None) -> str:
    return problem if row is None else f"{problem} {row.name}/{row.device}"


def _rows(problem: str, spec: Spec, rng: np.random.Generator) -> list[Method | None]:
    """Return the methods to run: all on the CPU, a few where they are slower."""
    name = problem if problem in ("bfs", "sssp", "apsp") else "closure"
    negative = any(w < 0 for *_, w in spec.arcs())
    chosen: list[Method | None] = [None]
    for device in this_machine().devices:
        rows: list[Method | None] = [
            row for row in methods(name, device) if row.negative or not negative or name == "bfs"
        ]
        if device == "emulated":
            some = spec.n < _SMALL and rng.random() < _EMULATED
            rows = [rows[rng.integers(len(rows))]] if some else []
        elif device == "cuda":
            rows = [rows[i] for i in rng.choice(len(rows), min(len(rows), 3), replace=False)]
        elif device == "reference" and spec.n >= _SMALL:
            rows = []
        chosen += rows
    return chosen


def _expected(problem: str, spec: Spec) -> Expected:
    adds = problem in ("bfs", "sssp", "apsp")
    return Expected(spec, "min_plus" if adds else problem, problem == "bfs")


def _differential(problem: str, row: Method | None, shared: Expected) -> Check:
    def check(spec: Spec) -> str | None:
        expected = shared if spec is shared.spec else _expected(problem, spec)
        try:
            result = _call(problem, row, spec.graph(), spec.asked, expected.sources)
        except kl.KleeneError as error:
            return None if error_is_due(error, expected) else f"{type(error).__name__}: {error}"
        wrong = fault(result, expected)
        if wrong is not None:
            return wrong
        try:
            result.verify()
        except kl.VerificationError as error:
            return f"verify() refuses a right answer: {error}"
        return None

    return check


def _pairs(problem: str, seed: int, spec: Spec) -> str | None:
    from torture.pair_lists import pairs_fault

    return pairs_fault(problem, spec, seed)


def _arrivals(problem: str, spec: Spec) -> str | None:
    from torture.pair_lists import arrivals_fault

    return arrivals_fault(problem, spec, _expected(problem, spec))


def _metamorphic(problem: str, row: Method | None, name: str, seed: int) -> Check:
    semiring = {"bfs": "hops", "sssp": "min_plus", "apsp": "min_plus"}.get(problem, problem)

    def check(spec: Spec) -> str | None:
        sources = spec.asked.get("sources", list(range(spec.n)))
        try:
            old = _call(problem, row, spec.graph(), {}, sources)
        except kl.KleeneError:
            return None  # judged by the differential cases
        values = np.atleast_2d(old.distances)
        rng = np.random.default_rng([seed, 2])
        made = RELATIONS[name](spec, semiring, sources, values, rng)
        if made is None:
            return None
        graph, where, back = made
        try:
            new = _call(problem, row, graph, {"predecessors": False}, where)
        except kl.PathOverflowError:  # its bound may be another one
            return None
        found, reached = back(np.atleast_2d(new.distances)), back(np.atleast_2d(new.reached))
        want, joined = values, np.atleast_2d(old.reached)
        if isinstance(found, OneRow):
            want, joined = want[found.row : found.row + 1], joined[found.row : found.row + 1]
            found, reached = found.values, reached.values
        if (reached != joined).any():
            return f"reached {_first(reached != joined)} changes"
        wrong = joined & ~_near(found, want, spec)
        return (
            f"{_first(wrong)} changes from {want[wrong][0]} to {found[wrong][0]}"
            if (wrong.any())
            else None
        )

    return check


def _first(wrong: Any) -> list[int]:
    return np.argwhere(wrong)[0].tolist()


def _near(found: Any, want: Any, spec: Spec) -> Any:
    """Compare the same lengths, added up in another order or in a wider type."""
    if want.dtype.kind == "b":
        return found == want
    a, b = found.astype(np.float64), want.astype(np.float64)
    floats = [x.dtype for x in (found, want) if x.dtype.kind == "f"]
    eps = max((float(np.finfo(x).eps) for x in floats), default=0.0)
    if spec.exact and eps < 1e-10:
        eps = 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.abs(a - b) <= 4 * eps * (spec.n + 1) * np.abs(b) + (5e-324 if eps else 0)
    return close | (a == b)


def _call(
    problem: str, row: Method | None, graph: kl.Graph, asked: dict[str, Any], sources: list[int]
) -> kl.Result:
    asked = {"device": "cpu"} | asked
    if row is not None:
        asked |= {"method": row.name, "device": row.device}
        if row.device in ("cuda", "emulated") and graph.m % 2:  # some answers stay there
            asked["keep"] = "device"
    if problem in ("bfs", "sssp"):
        return getattr(kl, problem)(graph, **asked | {"sources": sources})
    if sources != graph.label(np.arange(graph.n)).tolist():
        asked["sources"] = sources
    return kl.apsp(graph, **asked) if problem == "apsp" else kl.closure(graph, problem, **asked)


# ---- one seed -----------------------------------------------------------------------------------


def _attempt(case: _Case, spec: Spec) -> str | None:
    """Return what is wrong; an unexpected error is wrong too."""
    try:
        return case.check(spec)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({where.filename.split('/')[-1]}:{where.lineno})"


def run_seed(seed: int) -> tuple[Counter[str], list[str]]:
    """Return how many cases of each kind ran, and the failures."""
    counts: Counter[str] = Counter()
    failures = []
    os.environ["KLEENE_EMULATOR_DEVICES"] = str(1 + seed % 3)  # sources are split over several
    for case in _cases(seed):
        counts[case.kind] += 1
        wrong = _attempt(case, case.spec)
        if wrong is not None:
            small = _shrunk(case)
            wrong = _attempt(case, small) or wrong
            said = " ".join(f"{case.label}: {wrong}; {small}".split())
            failures.append(f"{said}; again: python -m torture.differential {seed}")
    return counts, failures


# ---- making failures smaller --------------------------------------------------------------------


def _shrunk(case: _Case) -> Spec:
    """Leave out what is not needed to fail, greedily."""
    end = time.monotonic() + _SHRINK_SECONDS
    spec, steps, smaller = case.spec, 0, True
    while smaller:
        smaller = False
        for candidate in _smaller(spec):
            steps += 1
            if steps > _SHRINK_STEPS or time.monotonic() > end:
                return spec
            if _attempt(case, candidate) is not None:
                spec, smaller = candidate, True
                break
    return spec


def _smaller(spec: Spec) -> Iterator[Spec]:
    """Yield specs with fewer arcs, vertices or options, or with simpler weights."""
    count = len(spec.ends)
    size = count // 2
    while size:
        for first in range(0, count, size):
            kept = [i for i in range(count) if not first <= i < first + size]
            weights = None if spec.weights is None else tuple(spec.weights[i] for i in kept)
            yield replace(spec, ends=tuple(spec.ends[i] for i in kept), weights=weights)
        size //= 2
    used = [v for arc in spec.ends for v in arc]
    for name in ("sources", "targets", "indices", "ends"):
        used += spec.asked.get(name, [])
    if spec.n - 1 > max(used, default=0):
        yield replace(spec, n=max(used, default=0) + 1)
    for name in spec.asked:
        if name in ("deterministic", "dtype", "limit", "sources", "targets", "threads"):
            yield replace(spec, asked={k: v for k, v in spec.asked.items() if k != name})
    for name in ("sources", "targets", "indices"):
        if len(spec.asked.get(name, [])) > 1:
            yield replace(spec, asked=spec.asked | {name: spec.asked[name][1:]})
            yield replace(spec, asked=spec.asked | {name: spec.asked[name][:1]})


# ---- many seeds ---------------------------------------------------------------------------------


def _work(first: int, step: int, seconds: float, at: Any, pipe: Any) -> None:
    """Run every ``step``-th seed from the first on; ``at`` shows which one is being run."""
    end = time.monotonic() + seconds
    counts: Counter[str] = Counter()
    failures: list[str] = []
    seed = first
    while time.monotonic() < end and len(failures) < 20:
        at.value = seed
        ran, failed = run_seed(seed)
        counts += ran
        failures += failed
        seed += step
    pipe.send((counts, failures, (seed - first) // step))
    pipe.close()


def run(budget: Budget) -> Outcome:
    """Run seeds on all processes until the time is over."""
    context = multiprocessing.get_context("spawn")
    first = zlib.crc32(str(budget.seed).encode()) * 2**20
    workers = []
    for job in range(budget.jobs):
        at = context.Value("q", first + job)
        receiver, sender = context.Pipe(duplex=False)
        arguments = (first + job, budget.jobs, max(1.0, budget.left() - 3), at, sender)
        process = context.Process(target=_work, args=arguments)
        process.start()
        sender.close()
        workers.append((process, receiver, at))
    counts: Counter[str] = Counter()
    failures: list[str] = []
    seeds = 0
    for process, receiver, at in workers:
        try:
            if not receiver.poll(max(0.0, budget.left()) + _PATIENCE):
                process.kill()
                raise TimeoutError(f"hung for {_PATIENCE} s")
            ran, failed, done = receiver.recv()
            counts, failures, seeds = counts + ran, failures + failed, seeds + done
            process.join()
        except (EOFError, TimeoutError) as error:
            process.join()
            what = str(error) or f"the process died with {process.exitcode}"
            failures.append(f"{what}; again: python -m torture.differential {at.value}")
    names = sorted(counts, key=counts.__getitem__, reverse=True)
    facts = {"graphs": seeds, **{name: counts[name] for name in names}}
    return Outcome(counts.total(), failures, facts)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        counted, failed = run_seed(int(argument))
        print(f"seed {argument}: {counted.total()} cases")
        for line in failed:
            print(f"  FAILED {line}")
