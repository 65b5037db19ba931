// Paths from both ends, for the NetworkX backend.
#include <optional>

#include "arrays.hpp"
#include "sssp/two_sided_search.hpp"

namespace kleene::bindings {
namespace {

template <class Value>
nb::object found(const sssp::TwoSidedSearch<Value>& search, bool exists) {
  if (!exists) return nb::none();
  nb::list path;
  for (const std::int32_t v : search.path()) path.append(v);
  return nb::make_tuple(search.length(), path);
}

// Calls use() with the graph. Without rows of predecessors, they are those of successors.
template <class Use>
nb::object with_graph(const Offsets& offsets, const Array<std::int32_t>& neighbors,
                      const OptionalArray& lengths, const std::optional<Offsets>& incoming_offsets,
                      const OptionalArray& incoming_neighbors,
                      const OptionalArray& incoming_lengths, Use&& use) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto of_type = [&]<class Value>(Type<Value>) {
    sssp::TwoSidedGraph<Value> graph;
    graph.arcs[0] = graph.arcs[1] = {n, offsets.data(), neighbors.data()};
    graph.lengths[0] = graph.lengths[1] = data_of<Value>(lengths);
    graph.directed = incoming_offsets.has_value();
    if (graph.directed) {
      graph.arcs[1] = {n, incoming_offsets->data(), data_of<std::int32_t>(incoming_neighbors)};
      graph.lengths[1] = data_of<Value>(incoming_lengths);
    }
    return use(graph);
  };
  if (!lengths) return of_type(Type<std::int64_t>{});
  return with_type<std::int64_t, double>(lengths->dtype(), of_type);
}

// A length and a path, or None.
nb::object two_sided_path(const Offsets& offsets, const Array<std::int32_t>& neighbors,
                          const OptionalArray& lengths,
                          const std::optional<Offsets>& incoming_offsets,
                          const OptionalArray& incoming_neighbors,
                          const OptionalArray& incoming_lengths, std::int32_t source,
                          std::int32_t target, bool latest) {
  return with_graph(offsets, neighbors, lengths, incoming_offsets, incoming_neighbors,
                    incoming_lengths, [&]<class Value>(const sssp::TwoSidedGraph<Value>& graph) {
                      sssp::TwoSidedSearch<Value> search(graph);
                      bool exists = false;
                      {
                        const GilRelease release;
                        exists = search.search(source, target, latest);
                      }
                      return found(search, exists);
                    });
}

// For each vertex of a path but the last, the length and the path of a shortest way on from it that
// avoids the vertices before it, or None. The arcs (tails[j], heads[j]) for j < ends[i] are ignored
// from the i-th on.
nb::object spur_paths(const Offsets& offsets, const Array<std::int32_t>& neighbors,
                      const OptionalArray& lengths, const std::optional<Offsets>& incoming_offsets,
                      const OptionalArray& incoming_neighbors,
                      const OptionalArray& incoming_lengths, const Array<std::int32_t>& path,
                      const Array<std::int32_t>& tails, const Array<std::int32_t>& heads,
                      const Array<std::int64_t>& ends) {
  return with_graph(offsets, neighbors, lengths, incoming_offsets, incoming_neighbors,
                    incoming_lengths,
                    [&]<class Value>(const sssp::TwoSidedGraph<Value>& graph) -> nb::object {
                      sssp::TwoSidedSearch<Value> search(graph);
                      PythonMonitor monitor(nb::none(), 0);
                      const std::int32_t target = path.data()[path.size() - 1];
                      nb::list spurs;
                      std::int64_t arc = 0;
                      for (std::size_t i = 0; i + 1 < path.size(); ++i) {
                        bool exists = false;
                        {
                          const GilRelease release;
                          for (; arc < ends.data()[i]; ++arc) {
                            search.ignore(tails.data()[arc], heads.data()[arc]);
                          }
                          exists = search.search(path.data()[i], target, false);
                          search.ignore(path.data()[i]);
                          monitor.poll();
                        }
                        spurs.append(found(search, exists));
                      }
                      return spurs;
                    });
}

}  // namespace

void bind_sssp_two_sided_search(nb::module_& m) {
  m.def("two_sided_path", &two_sided_path, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("lengths").none(), nb::arg("incoming_offsets").none(),
        nb::arg("incoming_neighbors").none(), nb::arg("incoming_lengths").none(), nb::arg("source"),
        nb::arg("target"), nb::arg("latest"));
  m.def("spur_paths", &spur_paths, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("lengths").none(), nb::arg("incoming_offsets").none(),
        nb::arg("incoming_neighbors").none(), nb::arg("incoming_lengths").none(), nb::arg("path"),
        nb::arg("tails"), nb::arg("heads"), nb::arg("ends"));
}

}  // namespace kleene::bindings
