#include "arrays.hpp"
#include "prepared/elimination/check.hpp"

namespace kleene::bindings {
namespace {

using Ranks = Array<std::int32_t>;

nb::object check_elimination(const Ranks& order, const Ranks& ranks, const Ranks& parents,
                             const Offsets& offsets, const Ranks& heads,
                             const Offsets& graph_offsets, const AnyArray& neighbors, int threads) {
  static constexpr const char* kNames[] = {"",        "order", "offsets",   "heads",
                                           "parents", "fill",  "postorder", "arcs"};
  require_arcs(graph_offsets, neighbors);
  const std::size_t n = graph_offsets.size() - 1;
  if (order.size() != n || ranks.size() != n || parents.size() != n || offsets.size() != n + 1) {
    raise_wrong_type();
  }
  const auto count = static_cast<std::int64_t>(n);
  const Arcs<std::int32_t> graph{count, graph_offsets.data(), data_of<std::int32_t>(neighbors)};
  const prepared::Elimination elimination{count, offsets.data(), heads.data(), parents.data()};
  PythonMonitor monitor(nb::none(), 0);
  prepared::Finding finding{};
  {
    const GilRelease release;
    finding = prepared::check_elimination(elimination, order.data(), ranks.data(),
                                          static_cast<std::int64_t>(heads.size()), graph, threads,
                                          monitor);
  }
  if (finding.fault == prepared::Fault::kNone) return nb::none();
  return nb::make_tuple(kNames[static_cast<int>(finding.fault)], finding.rank);
}

}  // namespace

void bind_prepared_files(nb::module_& m) {
  m.def("prepared_check_elimination", &check_elimination, nb::arg("order"), nb::arg("ranks"),
        nb::arg("parents"), nb::arg("offsets"), nb::arg("heads"), nb::arg("graph_offsets"),
        nb::arg("neighbors"), nb::arg("threads"));
}

}  // namespace kleene::bindings
