// Betweenness with arc lengths.
#include "arrays.hpp"
#include "measures/weighted_brandes.hpp"

namespace kleene::bindings {
namespace {

// Adds to the sums of vertices and arcs. Returns None, or an arc (tail, head) of a cycle of length
// zero.
nb::object weighted_brandes(const Offsets& offsets, const AnyArray& neighbors,
                            const AnyArray& lengths, const AnyArray& sources,
                            const std::optional<Array<std::uint8_t>>& is_target,
                            const nb::object& limit, bool endpoints,
                            MutableArray<double> vertex_sums,
                            const std::optional<MutableArray<double>>& arc_sums, int threads,
                            const nb::object& progress, int level) {
  require_arcs(offsets, neighbors, lengths, arc_sums);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    return with_type<std::int32_t, std::int64_t, double>(
        lengths.dtype(), [&]<class Value>(Type<Value>) -> nb::object {
          const measures::WeightedPaths<Id, Value> paths{
              {n, offsets.data(), data_of<Id>(neighbors), data_of<Value>(lengths)},
              data_of<Id>(sources),
              static_cast<std::int64_t>(sources.size()),
              nb::cast<Value>(limit),
              level};
          const measures::PathSums sums{vertex_sums.data(), arc_sums ? arc_sums->data() : nullptr,
                                        is_target ? is_target->data() : nullptr, endpoints};
          PythonMonitor monitor(progress, paths.count);
          std::optional<measures::CycleOfLengthZero> cycle;
          {
            const GilRelease release;
            try {
              measures::weighted_brandes(paths, sums, threads, monitor);
              monitor.finish();
            } catch (const measures::CycleOfLengthZero& found) {
              cycle = found;
            }
          }
          if (!cycle) return nb::none();
          return nb::make_tuple(cycle->tail, cycle->head);
        });
  });
}

}  // namespace

void bind_measures_weighted_brandes(nb::module_& m) {
  m.def("weighted_brandes", &weighted_brandes, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("lengths"), nb::arg("sources"), nb::arg("is_target").none(), nb::arg("limit"),
        nb::arg("endpoints"), nb::arg("vertex_sums").noconvert(),
        nb::arg("arc_sums").noconvert().none(), nb::arg("threads"), nb::arg("progress").none(),
        nb::arg("level") = -1);
}

}  // namespace kleene::bindings
