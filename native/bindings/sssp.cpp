#include "sssp/sssp.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>

#include "arrays.hpp"
#include "parallel/team.hpp"
#include "sssp/near.hpp"
#include "sssp/settle_order.hpp"

namespace kleene::bindings {
namespace {

using Cycle = std::vector<std::int64_t>;

template <class Id, class Value>
auto find_method(std::string_view name) {
  for (const auto& method : sssp::methods<Id, Value>()) {
    if (name == method.traits.name) return method.search_all;
  }
  throw nb::key_error(std::string(name).c_str());
}

// Fills one row per source in the caller's arrays; returns a negative cycle, or nothing.
Cycle search(std::string_view method, const Offsets& offsets, const AnyArray& neighbors,
             const AnyArray& lengths, const OptionalArray& original_lengths,
             const std::optional<Offsets>& incoming_offsets,
             const OptionalArray& incoming_neighbors, const OptionalArray& incoming_lengths,
             const AnyArray& sources, const OptionalArray& targets, const nb::object& limit,
             const AnyOutput& distances, const OptionalOutput& predecessors,
             const AnyOutput& horizons, int threads, const nb::object& progress, int level) {
  require_arcs(offsets, neighbors, lengths, original_lengths);
  if (incoming_offsets) require_arcs(*incoming_offsets, incoming_neighbors, incoming_lengths);
  const auto run = [&]<class Id, class Value>(Type<Id>, Type<Value>) -> Cycle {
    const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
    sssp::Problem<Id, Value> problem;
    problem.outgoing = {n, offsets.data(), data_of<Id>(neighbors)};
    problem.lengths = data_of<Value>(lengths);
    problem.original_lengths = data_of<Value>(original_lengths);
    if (incoming_offsets) {
      problem.incoming = {n, incoming_offsets->data(), data_of<Id>(incoming_neighbors)};
      problem.incoming_lengths = data_of<Value>(incoming_lengths);
    }
    problem.level = level;
    problem.stop = {nb::cast<Value>(limit), data_of<Id>(targets),
                    targets ? static_cast<std::int64_t>(targets->size()) : 0};
    const graph::ResultRows<Id, Value> rows{
        data_of<Id>(sources), static_cast<std::int64_t>(sources.size()), data_of<Value>(distances),
        data_of<Id>(predecessors), data_of<Value>(horizons)};
    const auto search_all = find_method<Id, Value>(method);
    PythonMonitor monitor(progress, rows.count);
    const GilRelease release;
    try {
      search_all(problem, rows, threads, monitor);
    } catch (const sssp::NegativeCycle& found) {
      return found.vertices;
    }
    monitor.finish();
    return {};
  };
  return with_id_type(neighbors, [&](auto id) {
    return with_value_type(lengths.dtype(), [&](auto value) { return run(id, value); });
  });
}

// Copies distances into a wider type; returns the largest, or -1 if no vertex is reached.
std::int64_t widen_distances(const MutableArray<std::int32_t>& narrow,
                             MutableArray<std::int64_t> wide, int threads) {
  if (narrow.size() != wide.size()) raise_wrong_type();
  const auto count = static_cast<std::int64_t>(narrow.size());
  const std::int32_t* const from = narrow.data();
  std::int64_t* const to = wide.data();
  std::atomic<std::int32_t> largest{-1};
  const GilRelease release;
  Monitor monitor;
  parallel::HelperTeam helpers(threads, monitor);
  constexpr std::int64_t kGrain = 1 << 15, kShare = 1 << 17;
  helpers.loop(
      parallel::threads_worth(count, kShare, threads), count, kGrain,
      [&](auto begin, auto end, int) {
        std::int32_t own = -1;
        for (std::int64_t i = begin; i < end; ++i) {
          const bool reached = from[i] != graph::kNoPath<std::int32_t>;
          to[i] = reached ? from[i] : graph::kNoPath<std::int64_t>;
          own = std::max(own, reached ? from[i] : -1);
        }
        std::int32_t seen = largest.load(std::memory_order_relaxed);
        while (own > seen && !largest.compare_exchange_weak(seen, own, std::memory_order_relaxed)) {
        }
      });
  return largest.load();
}

// One array of what all pairs have in one of their vectors.
template <class T>
nb::object joined(const std::vector<sssp::ShortestPaths>& all,
                  std::vector<T> sssp::ShortestPaths::* part) {
  std::size_t size = 0;
  for (const auto& paths : all) size += (paths.*part).size();
  Buffer<T> buffer(static_cast<std::int64_t>(size));
  T* at = buffer.data();
  for (const auto& paths : all) at = std::copy((paths.*part).begin(), (paths.*part).end(), at);
  return to_numpy(std::move(buffer));
}

// Lengths, all vertices of the paths, vertices of each path, and paths of each pair.
nb::object k_shortest_paths(const Offsets& offsets, const Array<std::int32_t>& neighbors,
                            const Array<double>& lengths,
                            const nb::ndarray<const double, nb::ndim<2>, nb::c_contig>& to_sink,
                            const Array<std::int32_t>& sources, const Array<std::int32_t>& sinks,
                            const Array<std::int32_t>& rows, std::int64_t count, int threads,
                            const nb::object& progress) {
  require_arcs(offsets, neighbors, lengths);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const Arcs<std::int32_t> arcs{n, offsets.data(), neighbors.data()};
  const sssp::PathPairs pairs{static_cast<std::int64_t>(sources.size()), sources.data(),
                              rows.data(), sinks.data(), to_sink.data()};
  PythonMonitor monitor(progress, pairs.count);
  std::vector<sssp::ShortestPaths> all;
  {
    const GilRelease release;
    all = sssp::k_shortest_paths(arcs, lengths.data(), pairs, count, threads, monitor);
    monitor.finish();
  }
  Buffer<std::int64_t> counts(pairs.count);
  for (std::int64_t i = 0; i < pairs.count; ++i) {
    counts[i] = static_cast<std::int64_t>(all[i].lengths.size());
  }
  using Paths = sssp::ShortestPaths;
  return nb::make_tuple(joined(all, &Paths::lengths), joined(all, &Paths::vertices),
                        joined(all, &Paths::sizes), to_numpy(std::move(counts)));
}

// ---- settle orders, and results as lists and dicts, for the NetworkX backend --------------------

// One row per source, or one row for all sources together; rows are the caller's, order and
// tree_arcs filled with -1.
void settle_order(const Offsets& offsets, const Array<std::int32_t>& neighbors,
                  const OptionalArray& weights, const AnyOutput& distances,
                  const nb::object& no_path, const Array<std::int32_t>& sources,
                  MutableArray<std::int32_t> order, MutableArray<std::int64_t> tree_arcs,
                  MutableArray<std::int64_t> counts, int threads) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto rows = static_cast<std::int64_t>(counts.size());
  const auto each = static_cast<std::int64_t>(sources.size()) / (rows ? rows : 1);
  const auto run = [&]<class Weight, class Distance>(Type<Weight>, Type<Distance>) {
    const auto* lengths = weights ? static_cast<const Weight*>(weights->data()) : nullptr;
    const Arcs<std::int32_t, Weight> arcs{n, offsets.data(), neighbors.data(), lengths};
    const auto* values = static_cast<const Distance*>(distances.data());
    const auto unreached = nb::cast<Distance>(no_path);
    PythonMonitor monitor(nb::none(), rows);
    const GilRelease release;
    parallel::parallel_for(rows, 1, threads, monitor, [&](std::int64_t row, std::int64_t, int) {
      counts.data()[row] = sssp::settle_order<Weight, Distance>(
          arcs, values + row * n, unreached, sources.data() + row * each, each,
          order.data() + row * n, tree_arcs.data() + row * n);
    });
  };
  if (!weights) {
    if (distances.dtype() != nb::dtype<std::int32_t>()) raise_wrong_type();
    return run(Type<NoWeight>{}, Type<std::int32_t>{});
  }
  if (weights->dtype() != distances.dtype()) raise_wrong_type();
  with_type<std::int64_t, double>(distances.dtype(), [&](auto type) { run(type, type); });
}

// The path of each vertex of `order`, as a list of names. A vertex comes after its predecessor; a
// predecessor of -1 begins a path.
nb::list path_lists(const nb::list& names, const Array<std::int32_t>& order,
                    const Array<std::int32_t>& predecessors, bool reversed) {
  const auto count = static_cast<Py_ssize_t>(order.size());
  std::vector<PyObject*> of_vertex(nb::len(names), nullptr);
  nb::list paths = nb::steal<nb::list>(PyList_New(count));
  if (!paths.is_valid()) throw nb::python_error();
  for (Py_ssize_t i = 0; i < count; ++i) {
    const std::int32_t v = order.data()[i], predecessor = predecessors.data()[v];
    PyObject* before = predecessor < 0 ? nullptr : of_vertex[static_cast<std::size_t>(predecessor)];
    PyObject* path = PyList_New(1);
    if (!path) throw nb::python_error();
    PyList_SetItem(path, 0, Py_NewRef(PyList_GetItem(names.ptr(), v)));
    if (before) {
      PyObject* own = path;
      path = reversed ? PySequence_Concat(own, before) : PySequence_Concat(before, own);
      Py_DECREF(own);
      if (!path) throw nb::python_error();
    }
    PyList_SetItem(paths.ptr(), i, path);
    of_vertex[static_cast<std::size_t>(v)] = path;
  }
  return paths;
}

inline PyObject* to_python(std::int32_t value) { return PyLong_FromLong(value); }
inline PyObject* to_python(std::int64_t value) { return PyLong_FromLongLong(value); }
inline PyObject* to_python(double value) { return PyFloat_FromDouble(value); }

// The distance of each vertex of `order` by its name, in this order; the first `sources` of them
// are the integer 0, whatever the type of the distances.
nb::dict distance_dict(const nb::list& names, const Array<std::int32_t>& order,
                       const AnyArray& distances, std::int64_t sources) {
  nb::dict made;
  with_type<std::int32_t, std::int64_t, double>(distances.dtype(), [&]<class T>(Type<T>) {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(order.size()); ++i) {
      const std::int32_t v = order.data()[i];
      PyObject* value =
          i < sources ? PyLong_FromLong(0) : to_python(static_cast<const T*>(distances.data())[v]);
      if (!value) throw nb::python_error();
      const int failed = PyDict_SetItem(made.ptr(), PyList_GetItem(names.ptr(), v), value);
      Py_DECREF(value);
      if (failed) throw nb::python_error();
    }
  });
  return made;
}

}  // namespace

void bind_sssp(nb::module_& m) {
  m.def("sssp", &search, nb::arg("method"), nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("lengths"), nb::arg("original_lengths").none(), nb::arg("incoming_offsets").none(),
        nb::arg("incoming_neighbors").none(), nb::arg("incoming_lengths").none(),
        nb::arg("sources"), nb::arg("targets").none(), nb::arg("limit"), nb::arg("distances"),
        nb::arg("predecessors").none(), nb::arg("horizons"), nb::arg("threads"),
        nb::arg("progress").none(), nb::arg("level") = -1);
  m.def("widen_distances", &widen_distances, nb::arg("narrow"), nb::arg("wide"),
        nb::arg("threads"));
  m.def("k_shortest_paths", &k_shortest_paths, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("lengths"), nb::arg("to_sink"), nb::arg("sources"), nb::arg("sinks"),
        nb::arg("rows"), nb::arg("count"), nb::arg("threads"),
        nb::arg("progress").none() = nb::none());
  m.def("settle_order", &settle_order, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::arg("distances"), nb::arg("no_path"), nb::arg("sources"),
        nb::arg("order"), nb::arg("tree_arcs"), nb::arg("counts"), nb::arg("threads"));
  m.def("distance_dict", &distance_dict, nb::arg("names"), nb::arg("order"), nb::arg("distances"),
        nb::arg("sources"));
  m.def("path_lists", &path_lists, nb::arg("names"), nb::arg("order"), nb::arg("predecessors"),
        nb::arg("reversed"));
}

}  // namespace kleene::bindings
