"""When a call prepares its graph by itself: by facts alone, whatever machine runs the tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import kleene as kl
from kleene.errors import MemoryBudgetError
from kleene.planning.ask import ARC_BY_ARC, Ask
from kleene.planning.facts import Facts, graph_facts
from kleene.planning.plan import make_plan
from kleene.planning.prepared_cost import prepared_seconds
from kleene.prepared.elimination import expect
from kleene.prepared.known import Known
from kleene.system.machine import Machine

SMALL = Facts(100, 500, "int32", 1, 9, 900)
CPU_BOX = Machine(cores=2, memory=None, simd="AVX2", devices=("cpu", "reference"))
HIGHWAYS = Facts(560_282, 1_644_468, "int32", 1, 1_200_000, 5 * 10**9)
MADE = Known(2_391_289, 14_300_000, "eliminated", frozenset({("min_plus", "int64")}))


def on_cpu(problem: str, facts: Facts, box: Machine = CPU_BOX, **ask: Any) -> Any:
    return make_plan(facts, Ask.of(problem, **ask), box)


@pytest.mark.parametrize("problem", ["sssp", "apsp"])
def test_many_sources_on_roads_are_worth_to_prepare_them(problem: str) -> None:
    few, many = (on_cpu(problem, HIGHWAYS, sources=n) for n in (100, 3000))
    assert few.method != "prepared"
    assert many.method == "prepared"
    assert many.reasons[-1].startswith("prepared: about ")
    assert " s to prepare and " in many.reasons[-1]
    assert many.reasons[-1].endswith(" s without")
    assert not any("prepared" in reason for reason in few.reasons)
    sixteen = replace(CPU_BOX, cores=16)  # METIS has one core whatever there is
    assert on_cpu(problem, HIGHWAYS, sources=3000, box=sixteen).method != "prepared"
    assert on_cpu(problem, HIGHWAYS, sources=30_000, box=sixteen).method == "prepared"
    assert on_cpu(problem, HIGHWAYS, sources=3000, threads=16).method != "prepared"
    assert on_cpu(problem, HIGHWAYS, sources=3000, limited=True).method != "prepared"
    negative = replace(HIGHWAYS, min_weight=-1)
    assert on_cpu(problem, negative, sources=3000).method == "prepared"


def test_other_graphs_are_not_worth_to_prepare() -> None:
    social = replace(HIGHWAYS, m=20 * HIGHWAYS.n)
    for problem in ("sssp", "apsp", "closure"):
        assert on_cpu(problem, social, sources=10_000).method != "prepared"
        assert on_cpu(problem, SMALL).method != "prepared"
    hops = replace(HIGHWAYS, weight_dtype=None, min_weight=1, max_weight=1, path_bound=HIGHWAYS.n)
    assert on_cpu("bfs", hops, sources=10_000).method != "prepared"


def test_steps_that_were_taken_cost_nothing() -> None:
    def methods_of(known: Known | None) -> list[str]:
        facts = replace(HIGHWAYS, prepared=known)
        return [on_cpu("sssp", facts, sources=n).method for n in (1, 16, 100, 3000)]

    searched, prepared = "delta_stepping", "prepared"
    assert methods_of(None) == [searched] * 3 + [prepared]
    assert methods_of(MADE._replace(step="expected")) == [searched] * 3 + [prepared]
    assert methods_of(MADE._replace(step="counted")) == [searched] * 2 + [prepared] * 2
    assert methods_of(MADE) == [searched] + [prepared] * 3
    grown = MADE._replace(step="counted", pairs=10**9, triangles=10**12)
    assert methods_of(grown) == [searched] * 4
    reason = on_cpu("sssp", replace(HIGHWAYS, prepared=grown), sources=3000).reasons[-1]
    assert reason.startswith("not prepared: 1,000,000,000 pairs counted, about ")
    refused = MADE._replace(step="counted", refused="its 7 pairs take 1 TiB")
    assert methods_of(refused) == [searched] * 4
    reason = on_cpu("sssp", replace(HIGHWAYS, prepared=refused), sources=3000).reasons[-1]
    assert reason == "not prepared: its 7 pairs take 1 TiB"


def test_closures_of_sparse_graphs_are_worth_to_prepare_them() -> None:
    city = Facts(6000, 16_000, "int32", 1, 99, 6000 * 99)
    for semiring in ("min_plus", "max_min", "boolean"):
        assert on_cpu("closure", city, semiring=semiring).method == "prepared"
    assert on_cpu("closure", city, semiring="max_min", sources=3).method == "prepared"
    assert on_cpu("closure", replace(city, m=6000 * 600), semiring="max_min").method == "tiled"


def test_floats_that_must_be_added_in_the_order_of_a_search() -> None:
    floats = replace(HIGHWAYS, weight_dtype="float64", prepared=MADE)
    assert on_cpu("sssp", floats, sources=3000).method == "prepared"
    in_order = Ask.of("sssp", sources=3000)._replace(frozen=(ARC_BY_ARC,))
    assert make_plan(floats, in_order, CPU_BOX).method == "delta_stepping"
    whole = replace(HIGHWAYS, prepared=MADE)
    assert make_plan(whole, in_order, CPU_BOX).method == "prepared"


def test_nearest_facilities_by_elimination() -> None:
    made = replace(HIGHWAYS, prepared=MADE)
    assert on_cpu("nearest", made, sources=5).method == "prepared"
    assert on_cpu("nearest", made, sources=5, limited=True).method == "k_labels"
    assert on_cpu("nearest", replace(made, weight_dtype="float32"), sources=5).method == "k_labels"
    assert on_cpu("nearest", HIGHWAYS, sources=5).method == "k_labels"
    assert on_cpu("nearest", HIGHWAYS, sources=400).method == "prepared"


@pytest.mark.parametrize("problem", ["sssp", "apsp", "closure"])
def test_rows_that_a_gpu_sweeps_take_no_host_memory_for_threads(problem: str) -> None:
    box = replace(CPU_BOX, devices=("cpu", "emulated"))
    ask = {"method": "prepared", "device": "emulated", "sources": 2, "semiring": "min_plus"}
    one, many = (on_cpu(problem, HIGHWAYS, box, threads=t, **ask).memory for t in (1, 64))
    assert one == many


def test_what_memory_does_not_hold_is_not_prepared() -> None:
    facts = replace(HIGHWAYS, prepared=MADE)
    whole = on_cpu("sssp", facts, sources=8)
    plain = on_cpu("sssp", facts, sources=8, method="delta_stepping")
    assert plain.memory < whole.memory
    tight = replace(CPU_BOX, memory=(plain.memory + whole.memory) // 2)
    made = on_cpu("sssp", facts, sources=8, box=tight)
    assert made.method == "delta_stepping"
    assert made.reasons[-1].startswith("not prepared: it would take ")
    with pytest.raises(MemoryBudgetError):
        on_cpu("sssp", facts, sources=8, box=tight, method="prepared")


def test_whole_numbers_as_floats_are_computed_as_integers() -> None:
    made = MADE._replace(customized=frozenset({("min_plus", "int32")}))
    facts = replace(HIGHWAYS, path_bound=10**9, prepared=made)
    assert "to prepare" not in on_cpu("apsp", facts, sources=3000, dtype="float64").reasons[-1]
    facts = replace(facts, weight_dtype="float64")
    assert "to prepare" in on_cpu("apsp", facts, sources=3000, dtype="float64").reasons[-1]


def test_hop_counts_of_a_prepared_graph_are_searched() -> None:
    hops = replace(HIGHWAYS, weight_dtype=None, prepared=MADE)
    made = on_cpu("bfs", hops, sources=3000)
    assert made.method != "prepared"
    assert "prepared" not in str(made)


def test_one_estimate_of_each_step() -> None:
    """Whether a user asks what it takes to prepare a graph, or a call plans to."""
    g = kl.generate.grid(150, 150, weights=(1, 9), seed=1)
    text = str(kl.explain(g, "prepare", threads=2))
    fill = expect(g).fill
    expected = Known(fill.pairs, fill.triangles, "expected")
    facts, ask = replace(graph_facts(g), prepared=expected), Ask.of("apsp", predecessors=False)
    whole = prepared_seconds(facts, ask, 2)
    made = replace(facts, prepared=expected._replace(step="eliminated"))
    weights = prepared_seconds(made, ask, 2).prepare
    tree = 2 * whole.rows / g.n
    assert (
        f"prepared in about {whole.prepare:.2g} s, new weights in {weights:.2g} s, a tree in "
        f"{tree:.2g} s"
    ) in text
    assert 0 < tree < weights < whole.prepare
