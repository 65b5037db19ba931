#include "sssp/sssp.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>

#include "arrays.hpp"
#include "parallel/team.hpp"
#include "sssp/near.hpp"

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
}

}  // namespace kleene::bindings
