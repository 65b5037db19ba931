"""``kleene.csgraph`` beside ``scipy.sparse.csgraph``: the same calls, the same answers."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.sparse as sp
import scipy.sparse.csgraph as theirs
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph._validation import validate_graph

import kleene as kl
from kleene import csgraph as ours
from kleene.interop import csgraph as replaced
from kleene.interop.csgraph import direct
from kleene.system.machine import this_machine

FUNCTIONS = [n for n in replaced.__all__ if n != "NegativeCycleError" and hasattr(theirs, n)]
#: Before, some calls failed on what they now take (64-bit indices, no indices with min_only), and
#: Dijkstra's search did not find paths with negative lengths.
recent = pytest.mark.skipif(
    tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 17),
    reason="an older SciPy answers some calls differently",
)
NULL = -9999


# ---- the surface --------------------------------------------------------------------------------


def test_the_import_is_replaced_whole() -> None:
    assert set(theirs.__all__) <= set(ours.__all__)
    for name in set(theirs.__all__) - set(replaced.__all__):
        assert getattr(ours, name) is getattr(theirs, name)
    for name in FUNCTIONS:
        assert getattr(ours, name).__module__.startswith("kleene.interop")
    assert ours._validation is theirs._validation
    assert "dijkstra" in dir(ours)
    with pytest.raises(AttributeError):
        ours.nothing  # noqa: B018


def test_it_is_loaded_by_those_who_ask() -> None:
    code = (
        "import sys, kleene; assert 'scipy' not in sys.modules; import kleene.csgraph as c; c.yen"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@recent
@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_begin_with_those_of_scipy(name: str) -> None:
    here = list(inspect.signature(getattr(ours, name)).parameters.values())
    there = list(inspect.signature(getattr(theirs, name)).parameters.values())
    for own, other in zip(here, there, strict=False):
        assert (own.name, own.default, own.kind) == (other.name, other.default, other.kind)
    more = here[len(there) :]
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in more)
    paths = not name.startswith(("breadth_first", "connected_components"))
    assert [p.name for p in more] == (["device", "threads", "dtype"] if paths else [])


def test_a_negative_cycle_is_an_error_of_both_kinds() -> None:
    graph = np.array([[0, 1, 0], [0, 0, -3], [1, 0, 0.0]])
    for name in ("bellman_ford", "johnson", "floyd_warshall", "dijkstra"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(theirs.NegativeCycleError, match="Negative cycle") as caught:
                getattr(ours, name)(graph)
        assert isinstance(caught.value, kl.NegativeCycleError)
        assert isinstance(caught.value, ours.NegativeCycleError)
        assert sorted(caught.value.cycle) == [0, 1, 2]
        again = pickle.loads(pickle.dumps(caught.value))
        assert (str(again), again.cycle) == (str(caught.value), caught.value.cycle)


# ---- our keywords -------------------------------------------------------------------------------

STREETS = np.array([[0, 3, 3, 0], [0, 0, 0, 2], [0, 1, 0, 0], [1, 0, 0, 0]], dtype=float)


@pytest.mark.parametrize("name", ["shortest_path", "floyd_warshall", "dijkstra", "johnson"])
def test_device_threads_and_dtype(name: str) -> None:
    function = getattr(ours, name)
    right = getattr(theirs, name)(STREETS)
    for device in this_machine().devices:
        assert np.array_equal(function(STREETS, device=device, threads=1), right)
    narrow = function(STREETS, dtype=np.float32)
    assert narrow.dtype == np.float32
    assert np.array_equal(narrow, right)
    with pytest.raises(kl.KleeneError):
        function(STREETS, device="nowhere")


def test_an_integer_dtype_has_the_largest_value_for_no_path() -> None:
    line = sp.csr_array(np.array([[0, 2, 0], [0, 0, 3], [0, 0, 0]]))
    top = np.iinfo(np.int64).max
    assert ours.dijkstra(line, dtype=np.int64).tolist() == [[0, 2, 5], [top, 0, 3], [top, top, 0]]
    nearest, parents, sources = ours.dijkstra(
        line, indices=[1], min_only=True, return_predecessors=True, dtype=np.int64
    )
    assert nearest.tolist() == [top, 0, 3]
    assert (parents.tolist(), sources.tolist()) == ([NULL, NULL, 1], [NULL, 1, 1])
    assert ours.dijkstra(line, indices=1, unweighted=True, dtype=np.int64).tolist() == [top, 0, 1]
    assert ours.yen(line, 0, 2, 3, dtype=np.float32).dtype == np.float32


# ---- conventions --------------------------------------------------------------------------------


def test_overwrite_puts_the_answer_in_the_graph() -> None:
    for weights in (STREETS, STREETS / 3):
        graph = weights.copy()
        found = ours.floyd_warshall(graph, overwrite=True)
        assert np.shares_memory(found, graph)
        assert np.allclose(graph, theirs.floyd_warshall(weights))
        graph = weights.copy()
        ours.floyd_warshall(graph)
        ours.dijkstra(graph)
        assert np.array_equal(graph, weights)
    frozen = STREETS.copy()
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ours.floyd_warshall(frozen, overwrite=True)
    assert np.array_equal(ours.floyd_warshall(frozen), theirs.floyd_warshall(STREETS))


def test_dense_entries_near_zero_are_no_arcs() -> None:
    """As in SciPy, whose masked arrays compare with a tolerance of 1e-8."""
    graph = np.array([[0, 1e-9, -1e-8, 0], [1.1e-8, 0, 2, 1e-300], [0, 3, 0, -0.5], [0, 0, 0, 0]])
    for name in ("bellman_ford", "johnson", "floyd_warshall"):
        assert_same(getattr(ours, name)(graph), getattr(theirs, name)(graph))
    assert_same(ours.dijkstra(abs(graph)), theirs.dijkstra(abs(graph)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", ["floyd_warshall", "shortest_path", "dijkstra", "johnson"])
def test_the_shortest_arcs_of_a_masked_array(name: str, directed: bool, dtype: Any) -> None:
    """An entry that is not masked is an arc, however short; zeros are none for Floyd-Warshall."""
    lengths = np.array([[0, 1e-9, 5, 1e-8], [5e-30, 0, 1e-8, 0], [0, 3, 0, 2], [1, 0, 2e-8, 0]])
    hidden = np.array([[1, 0, 0, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]], bool)
    for mask in (hidden, np.zeros_like(hidden)):
        graph = np.ma.masked_array(lengths.astype(dtype), mask)
        for options in ({}, {"unweighted": True}):
            held, right = (
                getattr(module, name)(graph.copy(), directed=directed, **options)
                for module in (ours, theirs)
            )
            np.testing.assert_allclose(held, right, rtol=1e-12, atol=0)
    if name in ("floyd_warshall", "shortest_path"):
        plain = np.ma.masked_array(lengths.astype(dtype))  # no mask at all
        held, right = (module.floyd_warshall(plain.copy()) for module in (ours, theirs))
        np.testing.assert_allclose(held, right, rtol=1e-12, atol=0)


def test_any_order_of_memory_will_do() -> None:
    """SciPy prints an ignored error and returns the graph itself."""
    for layout in (np.asfortranarray(STREETS), np.tile(STREETS, 2)[:, :4]):
        for overwrite in (False, True):
            found = ours.floyd_warshall(layout.copy("K"), overwrite=overwrite)
            assert np.array_equal(found, theirs.floyd_warshall(STREETS))


def test_integers_are_exact_as_far_as_floats_are() -> None:
    for weight in (2**30, 2**52, 2**61):
        tails, heads = np.array([[0, 1, 2], [1, 2, 3]], dtype=np.int32)  # all that old SciPy takes
        chain = sp.csr_array(([weight] * 3, (tails, heads)), shape=(4, 4))
        assert np.array_equal(ours.dijkstra(chain), theirs.dijkstra(chain))
        assert np.array_equal(ours.floyd_warshall(chain), theirs.floyd_warshall(chain))


def test_many_sources_with_whole_lengths() -> None:
    """Whole numbers are added as integers, whatever type they came in."""
    graph = kl.generate.uniform(60, 200, weights=(1, 9), seed=3).to_scipy()
    for scale in (1, 0.5):
        lengths = graph.astype(float) * scale
        for predecessors in (False, True):
            found = ours.dijkstra(lengths, return_predecessors=predecessors)
            values = found[0] if predecessors else found
            assert values.dtype == np.float64
            assert np.array_equal(values, theirs.dijkstra(lengths))


def test_all_pairs_in_batches() -> None:
    """Answers that are converted are made some rows at a time."""
    rome = kl.datasets.rome().to_scipy()
    some = [0, 511, 512, 1000, 3352]
    for graph in (rome, rome.astype(float)):
        for unweighted in (False, True):
            right = theirs.dijkstra(graph, indices=some, unweighted=unweighted)
            found, parents = ours.dijkstra(graph, return_predecessors=True, unweighted=unweighted)
            np.testing.assert_array_equal(found[some], right)
            lengths = graph.toarray().astype(float)
            arcs = np.where(lengths == 0, np.inf, 1 if unweighted else lengths)
            assert ((parents[some] == NULL) == (np.isinf(right) | (right == 0))).all()
            for row in some:
                ends = np.flatnonzero(parents[row] != NULL)
                before = parents[row, ends]
                assert (found[row, before] + arcs[before, ends] == found[row, ends]).all()
    near = ours.dijkstra(rome, limit=900)
    np.testing.assert_array_equal(near[some], theirs.dijkstra(rome, indices=some, limit=900))


def test_arrays_that_are_longer_than_they_need_be() -> None:
    graph = sp.csr_array(STREETS)
    graph.indices = np.append(graph.indices, [7, 7]).astype(np.int32)
    graph.data = np.append(graph.data, [-1.0, np.nan])
    assert np.array_equal(ours.johnson(graph), theirs.johnson(STREETS))
    assert ours.breadth_first_order(graph, 0)[0].tolist() == [0, 1, 2, 3]


def test_what_crashes_scipy_is_an_error() -> None:
    assert np.array_equal(ours.shortest_path(STREETS.tolist()), theirs.shortest_path(STREETS))
    with pytest.raises(ValueError, match="i_start is 4"):
        ours.breadth_first_order(STREETS, 4)
    with pytest.raises(OverflowError):
        ours.breadth_first_order(STREETS, -1)
    with pytest.raises(TypeError):
        ours.breadth_first_order(STREETS, "0")
    with pytest.raises(kl.GraphError, match="-inf"):
        ours.dijkstra(sp.csr_array(np.array([[0, -np.inf], [1, 0]])))
    with pytest.raises(ValueError, match="limit"):
        ours.dijkstra(STREETS, limit=np.nan)
    for broken in ("indices", "indptr"):
        graph = sp.csr_array(STREETS)
        getattr(graph, broken)[1] = 99 if broken == "indices" else -1
        for directed in (True, False):
            with pytest.raises(kl.GraphError):
                ours.breadth_first_order(graph, 0, directed)
            with pytest.raises(kl.GraphError):
                ours.dijkstra(graph, directed)


@pytest.mark.parametrize("size", [40, 200])
def test_small_searches_make_no_graph(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the type of indices; negative and huge lengths take the longer way."""

    def refuse(*_: Any) -> None:
        raise AssertionError("a Graph was made")

    graph = kl.generate.uniform(size, 4 * size, weights=(1, 9), seed=2).to_scipy().astype(float)
    wide = sp.csr_array((graph.data, graph.indices.astype(np.int64), graph.indptr), graph.shape)
    mixed = graph.copy()
    mixed.indices = mixed.indices.astype(np.int64)
    with monkeypatch.context() as patch:
        for name in ("as_graph", "as_matrix_graph"):
            patch.setattr(f"kleene.interop.csgraph.shortest.{name}", refuse)
        for form in (graph, wide, mixed, sp.csr_matrix(graph), graph.tocsc(), graph.toarray()):
            for name in ("dijkstra", "bellman_ford", "johnson", "shortest_path"):
                right = getattr(theirs, name)(graph, indices=[3, 0])
                np.testing.assert_array_equal(getattr(ours, name)(form, indices=[3, 0]), right)
            if size <= direct.MOST_MATRIX:
                np.testing.assert_array_equal(
                    ours.floyd_warshall(form), theirs.floyd_warshall(graph)
                )
    for length in (-1e-3, 1e307, -0.0):
        odd = graph.copy()
        odd.data[5] = length
        np.testing.assert_array_equal(
            ours.bellman_ford(odd, indices=0), theirs.bellman_ford(odd, indices=0)
        )


def test_a_tree_of_arcs_that_are_stored_twice() -> None:
    """SciPy adds them."""
    twice = sp.csr_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 2])), shape=(3, 3))
    for graph in (twice, sp.csr_array((twice.data, twice.indices, twice.indptr), shape=(3, 3))):
        here, there = ours.breadth_first_tree(graph, 0), theirs.breadth_first_tree(graph, 0)
        np.testing.assert_array_equal(here.toarray(), there.toarray())
        assert (here.indices.dtype, here.dtype) == (there.indices.dtype, there.dtype)


# ---- random graphs ------------------------------------------------------------------------------

FORMS = ("dense", "matrix", "masked", "csr", "parallel", "csc", "coo", "lil", "dok", "int64")
ODD = (0.0, np.nan, np.inf)


@st.composite
def graphs(draw: st.DrawFn, low: int = 0, high: int = 6, odd: bool = True) -> Any:
    """Draw a graph in any form that SciPy takes. Lengths are fractions that add exactly."""
    n = draw(st.integers(1, 8))
    vertex = st.integers(0, n - 1)
    length = st.integers(4 * low, 4 * high).map(lambda quarters: quarters / 4)
    if odd:
        length = st.one_of(length, st.sampled_from(ODD))
    arcs = draw(st.lists(st.tuples(vertex, vertex, length), max_size=24))
    rows = np.array([a[0] for a in arcs], dtype=np.int32)
    columns = np.array([a[1] for a in arcs], dtype=np.int32)
    data = np.array([a[2] for a in arcs], dtype=np.float64)
    dtype = draw(st.sampled_from([np.float64, np.float32, np.int64, np.int8, np.uint16, bool]))
    if np.dtype(dtype).kind != "f":
        data = np.nan_to_num(4 * data, nan=0, posinf=3).clip(
            0 if dtype in (bool, np.uint16) else -99
        )
    coo = sp.coo_array((data.astype(dtype), (rows, columns)), shape=(n, n))
    form = draw(st.sampled_from(FORMS))
    # In place, SciPy's sum of True and True is a bool that counts two.
    return _in_form("csr" if form == "parallel" and dtype is bool else form, coo)


def _in_form(form: str, coo: Any) -> Any:
    if form == "coo":
        return coo
    if form == "parallel":  # stored out of order, and some arcs more than once
        order = np.argsort(coo.row, kind="stable")
        counts = np.bincount(coo.row, minlength=coo.shape[0])
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        return sp.csr_array((coo.data[order], coo.col[order], offsets), shape=coo.shape)
    if form in ("csr", "csc", "lil", "dok"):
        return coo.asformat(form)
    if form == "int64":
        csr = coo.tocsr()
        wide = (csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64))
        return sp.csr_array(wide, shape=csr.shape)
    dense = coo.toarray()
    if form == "matrix":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.matrix(dense)
    if form == "masked":
        return np.ma.masked_array(dense, mask=~_stored(coo))
    return dense


def _stored(coo: Any) -> Any:
    stored = np.zeros(coo.shape, dtype=bool)
    stored[coo.row, coo.col] = True
    return stored


def outcome(function: Callable[..., Any], *args: Any, **keywords: Any) -> tuple[str, Any, set[str]]:
    """Return what a call gave or raised, and the kinds of warnings it gave."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            given = function(*args, **keywords)
            kind = "value"
        except (ValueError, TypeError, theirs.NegativeCycleError) as error:
            base = theirs.NegativeCycleError
            given = base if isinstance(error, base) else type(error)
            kind = "error"
    return kind, given, {w.category.__name__ for w in seen}


def lengths_of(graph: Any, directed: bool, unweighted: bool, dense: bool) -> Any:
    """Return the matrix of arc lengths that SciPy sees."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if dense:
            matrix = validate_graph(graph, directed, csr_output=False, copy_if_dense=True)
            if not sp.issparse(graph):
                matrix[matrix == 0] = np.inf
            if unweighted:
                matrix[~np.isinf(matrix)] = 1
        else:
            csr = validate_graph(graph, directed, dense_output=False).copy()
            if unweighted:
                csr.data[:] = 1
            matrix = theirs.csgraph_to_dense(csr, null_value=np.inf)
    return matrix if directed else np.minimum(matrix, matrix.T)


def check_tree(lengths: Any, source: int | None, distances: Any, parents: Any) -> None:
    """Every chain of parents adds up and leads to the source, or to some source for None."""
    n = len(lengths)
    for v in range(n):
        u, walked = v, 0
        while parents[u] != NULL:
            above = parents[u]
            assert distances[above] + lengths[above, u] == distances[u]
            u, walked = above, walked + 1
            assert walked < n
        if source is not None and np.isfinite(distances[v]):
            assert u == source


def assert_same(here: Any, there: Any) -> None:
    assert type(here) is type(there)
    assert here.dtype == there.dtype
    assert here.shape == there.shape
    np.testing.assert_array_equal(here, there)


def assert_untouched(graph: Any, before: Any) -> None:
    if not sp.issparse(graph) or graph.format in ("lil", "dok"):
        np.testing.assert_array_equal(_plain(graph), _plain(before))
        return
    for name in ("data", "indices", "indptr", "row", "col"):
        if hasattr(graph, name):
            np.testing.assert_array_equal(getattr(graph, name), getattr(before, name))


def _plain(graph: Any) -> Any:
    return graph.toarray() if sp.issparse(graph) else np.asarray(graph)


def compare(
    name: str, graph: Any, directed: bool, unweighted: bool, dense: bool, **keywords: Any
) -> None:
    """Compare the answer on SciPy's own arrays, and that by a Graph."""
    keywords.update(directed=directed, unweighted=unweighted)
    there = outcome(getattr(theirs, name), graph, **keywords)
    for sizes in ((direct.MOST_LOOKS, direct.MOST_MATRIX), (0, 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(direct, "MOST_LOOKS", sizes[0])
            patch.setattr(direct, "MOST_MATRIX", sizes[1])
            _compare_one(name, graph, there, dense, keywords)


def _compare_one(
    name: str, graph: Any, there: tuple[str, Any, set[str]], dense: bool, keywords: dict[str, Any]
) -> None:
    directed, unweighted = keywords["directed"], keywords["unweighted"]
    before = graph.copy()
    here = outcome(getattr(ours, name), graph, **keywords)
    assert_untouched(graph, before)
    assert here[0] == there[0], (here, there)
    assert here[2] == there[2]
    if here[0] == "error":
        assert issubclass(here[1], there[1])
        return
    if not keywords["return_predecessors"]:
        return assert_same(here[1], there[1])
    assert len(here[1]) == len(there[1])
    assert_same(here[1][0], there[1][0])
    for own, other in zip(here[1][1:], there[1][1:], strict=True):
        assert (own.dtype, own.shape) == (other.dtype, other.shape)
        assert np.array_equal(own == NULL, other == NULL)
    lengths = lengths_of(graph, directed, unweighted, dense)
    n = len(lengths)
    indices = keywords.get("indices")
    starts = np.arange(n) if indices is None else np.atleast_1d(indices).reshape(-1) % n
    if keywords.get("min_only"):
        distances, parents, sources = here[1]
        check_tree(lengths, None, distances, parents)
        assert set(sources[sources != NULL].tolist()) <= set(starts.tolist())
        for v in np.flatnonzero(parents != NULL):
            assert sources[v] == sources[parents[v]]
        return
    rows = zip(starts, *(a.reshape(-1, n) for a in here[1]), strict=True)
    for source, distances, parents in rows:
        check_tree(lengths, int(source), distances, parents)


flags = st.booleans()
chosen = st.one_of(
    st.none(),
    st.integers(-2, 2),
    st.lists(st.integers(-2, 2), max_size=4),
    st.lists(st.integers(0, 1), min_size=4, max_size=4).map(lambda i: np.reshape(i, (2, 2))),
)
often = settings(max_examples=200, deadline=None)


@recent
@often
@given(graphs(), flags, flags, flags, chosen, st.sampled_from([np.inf, 0, 1, 2.5]), flags)
def test_dijkstra(
    graph: Any,
    directed: bool,
    unweighted: bool,
    trees: bool,
    indices: Any,
    limit: float,
    nearest: bool,
) -> None:
    compare(
        "dijkstra", graph, directed, unweighted, False, return_predecessors=trees,
        indices=indices, limit=limit, min_only=nearest,
    )  # fmt: skip


@recent
@often
@given(graphs(low=-2), flags, flags, flags, chosen, st.sampled_from(["bellman_ford", "johnson"]))
def test_negative_lengths(
    graph: Any, directed: bool, unweighted: bool, trees: bool, indices: Any, name: str
) -> None:
    compare(name, graph, directed, unweighted, False, return_predecessors=trees, indices=indices)


@recent
@settings(max_examples=200, deadline=None)
@given(graphs(low=-1, odd=False), chosen, st.sampled_from([np.inf, 0, 1, 2.5]), flags)
def test_dijkstra_warns_of_negative_lengths(
    graph: Any, indices: Any, limit: float, trees: bool
) -> None:
    assume(outcome(theirs.johnson, graph)[0] == "value")  # else SciPy does not come back
    keywords: dict[str, Any] = {"indices": indices, "limit": limit, "return_predecessors": trees}
    compare("dijkstra", graph, True, False, False, **keywords)


@recent
@often
@given(graphs(low=-1), flags, flags, flags, flags)
def test_floyd_warshall(
    graph: Any, directed: bool, unweighted: bool, trees: bool, overwrite: bool
) -> None:
    if np.ma.isMaskedArray(graph):  # SciPy hands a NaN through where nothing masks it
        assume(not np.isnan(np.ma.getdata(graph).astype(float)).any())
        assume(not overwrite)  # SciPy fails to convert it to float64 in place
    if overwrite and not sp.issparse(graph):
        graph = graph.astype(np.float32)  # not overwritten: the second call needs it as well
    keywords = {"return_predecessors": trees, "overwrite": overwrite}
    compare("floyd_warshall", graph, directed, unweighted, True, **keywords)


@recent
@often
@given(graphs(), flags, flags, chosen, st.sampled_from(["auto", "FW", "D", "BF", "J", "x"]))
def test_shortest_path(
    graph: Any, directed: bool, unweighted: bool, indices: Any, method: str
) -> None:
    if np.ma.isMaskedArray(graph):
        assume(not np.isnan(np.ma.getdata(graph).astype(float)).any())
    keywords: dict[str, Any] = {"indices": indices, "method": method}
    keywords["return_predecessors"] = False
    compare("shortest_path", graph, directed, unweighted, method == "FW", **keywords)


@recent
@often
@given(graphs(low=-1), flags, st.integers(0, 7))
def test_breadth_first_order_is_that_of_scipy(graph: Any, directed: bool, start: int) -> None:
    start %= graph.shape[0]
    here = outcome(ours.breadth_first_order, graph, start, directed)
    there = outcome(theirs.breadth_first_order, graph, start, directed)
    assert (here[0], here[2]) == (there[0], there[2])
    for own, other in zip(here[1], there[1], strict=True):
        assert_same(own, other)
    assert_same(ours.breadth_first_order(graph, start, directed, False), here[1][0])
    tree = outcome(ours.breadth_first_tree, graph, start, directed)[1]
    other_tree = outcome(theirs.breadth_first_tree, graph, start, directed)[1]
    assert type(tree) is type(other_tree)
    np.testing.assert_array_equal(tree.toarray(), other_tree.toarray())
