#include "sssp.hpp"

#include <nanobind/stl/vector.h>

#include <unordered_map>

#include "arrays.hpp"
#include "yen.hpp"

namespace kleene {
namespace {

template <class Id, class Value>
using SsspMethod = void (*)(const SsspProblem<Id, Value>&, const SsspRows<Id, Value>&, int,
                            Monitor&);

template <class Id, class Value>
SsspMethod<Id, Value> find_method(const std::string& name) {
  static const std::unordered_map<std::string, SsspMethod<Id, Value>> kMethods = {
      {"dijkstra", &sssp_dijkstra<Id, Value>},
      {"delta_stepping", &sssp_delta_stepping<Id, Value>},
      {"bellman_ford", &sssp_bellman_ford<Id, Value>},
      {"potentials", &sssp_potentials<Id, Value>},
      {"llp", &sssp_llp<Id, Value>},
  };
  return kMethods.at(name);
}

// Fills one row per source in the caller's arrays; returns a negative cycle, or nothing.
template <class Id, class Value>
void bind(nb::module_& m) {
  m.def(
      "sssp",
      [](const std::string& method, const Array<std::int64_t>& offsets, const Array<Id>& neighbors,
         const Array<Value>& lengths, const std::optional<Array<Value>>& reported,
         const std::optional<Array<std::int64_t>>& in_offsets,
         const std::optional<Array<Id>>& in_neighbors,
         const std::optional<Array<Value>>& in_lengths, const Array<Id>& sources,
         const std::optional<Array<Id>>& targets, Value limit, MutableArray<Value> values,
         std::optional<MutableArray<Id>> parents, MutableArray<Value> horizons, int threads,
         const nb::object& progress, int level) -> std::vector<std::int64_t> {
        const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
        SsspProblem<Id, Value> problem{{n, offsets.data(), neighbors.data()}, lengths.data()};
        if (reported) problem.reported = reported->data();
        if (in_offsets) {
          problem.into = {n, in_offsets->data(), in_neighbors->data()};
          problem.into_lengths = in_lengths->data();
        }
        problem.stop.limit = limit;
        problem.level = level;
        if (targets) {
          problem.stop.targets = targets->data();
          problem.stop.target_count = static_cast<std::int64_t>(targets->size());
        }
        const SsspRows<Id, Value> rows{sources.data(), static_cast<std::int64_t>(sources.size()),
                                       values.data(), parents ? parents->data() : nullptr,
                                       horizons.data()};
        const SsspMethod<Id, Value> search = find_method<Id, Value>(method);
        PythonMonitor monitor(progress, rows.count);
        const nb::gil_scoped_release release;
        try {
          search(problem, rows, threads, monitor);
        } catch (const NegativeCycle& found) {
          return found.vertices;
        }
        monitor.finish();
        return {};
      },
      nb::arg("method"), nb::arg("offsets"), nb::arg("neighbors"), nb::arg("lengths"),
      nb::arg("reported").none(), nb::arg("in_offsets").none(), nb::arg("in_neighbors").none(),
      nb::arg("in_lengths").none(), nb::arg("sources"), nb::arg("targets").none(), nb::arg("limit"),
      nb::arg("values"), nb::arg("parents").none(), nb::arg("horizons"), nb::arg("threads"),
      nb::arg("progress").none(), nb::arg("level") = -1);
}

template <class Id>
void bind_values(nb::module_& m) {
  bind<Id, std::int32_t>(m);
  bind<Id, std::int64_t>(m);
  bind<Id, float>(m);
  bind<Id, double>(m);
}

template <class T>
nb::object copied(const std::vector<T>& values) {
  Buffer<T> buffer(static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), buffer.data());
  return to_numpy(std::move(buffer));
}

// Lengths, and paths as (vertices, offsets).
nb::object k_shortest(const Array<std::int64_t>& offsets, const Array<std::int32_t>& neighbors,
                      const Array<double>& lengths, const Array<double>& ahead, std::int32_t source,
                      std::int32_t sink, std::int64_t count) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const Arcs<std::int32_t> arcs{n, offsets.data(), neighbors.data()};
  PythonMonitor monitor(nb::none(), count);
  ShortestPaths found;
  {
    const nb::gil_scoped_release release;
    found = yen(arcs, lengths.data(), ahead.data(), source, sink, count, monitor);
  }
  return nb::make_tuple(copied(found.lengths), copied(found.vertices), copied(found.offsets));
}

}  // namespace

void bind_sssp(nb::module_& m) {
  bind_values<std::int32_t>(m);
  bind_values<std::int64_t>(m);
  m.def("yen", &k_shortest, nb::arg("offsets"), nb::arg("neighbors"), nb::arg("lengths"),
        nb::arg("ahead"), nb::arg("source"), nb::arg("sink"), nb::arg("count"));
}

}  // namespace kleene
