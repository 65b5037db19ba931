// Sums of divided flow over many searches, for the NetworkX backend.
#include <vector>

#include "arrays.hpp"
#include "measures/divided_flow.hpp"
#include "parallel/team.hpp"

namespace kleene::bindings {
namespace {

measures::Division parse_division(std::string_view name) {
  if (name == "edge_load") return measures::Division::kEdgeLoad;
  if (name == "targets") return measures::Division::kTargets;
  return measures::Division::kLoad;
}

void add_all(const std::vector<double>& from, MutableArray<double>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) to.data()[i] += from[i];
}

// Adds to the sums of the vertices and of the incoming arcs; one row of distances per source.
void divided_flow(const Offsets& offsets, const Array<std::int32_t>& tails,
                  const OptionalArray& weights, const AnyOutput& distances,
                  const nb::object& no_path, const Array<std::int32_t>& sources,
                  const Array<std::uint8_t>& is_target, std::string_view division,
                  MutableArray<double> vertex_sums, MutableArray<double> arc_sums, int threads) {
  require_arcs(offsets, tails, weights, arc_sums);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto rows = static_cast<std::int64_t>(sources.size());
  const measures::Division rule = parse_division(division);
  const auto run = [&]<class Weight, class Distance>(Type<Weight>, Type<Distance>) {
    const auto* lengths = weights ? static_cast<const Weight*>(weights->data()) : nullptr;
    const Arcs<std::int32_t, Weight> incoming{n, offsets.data(), tails.data(), lengths};
    const auto* values = static_cast<const Distance*>(distances.data());
    const measures::FlowDivision<Weight, Distance> flow(incoming, rule, is_target.data(),
                                                        nb::cast<Distance>(no_path));
    std::vector<measures::DividedFlow> sums(static_cast<std::size_t>(threads));
    PythonMonitor monitor(nb::none(), rows);
    const GilRelease release;
    parallel::parallel_for(rows, 1, threads, monitor, [&](std::int64_t row, std::int64_t, int own) {
      flow.add(values + row * n, sources.data()[row], sums[static_cast<std::size_t>(own)]);
    });
    for (const auto& own : sums) {
      add_all(own.vertex_sums, vertex_sums);
      add_all(own.arc_sums, arc_sums);
    }
  };
  if (!weights) {
    if (distances.dtype() != nb::dtype<std::int32_t>()) raise_wrong_type();
    return run(Type<NoWeight>{}, Type<std::int32_t>{});
  }
  if (weights->dtype() != distances.dtype()) raise_wrong_type();
  with_type<std::int64_t, double>(distances.dtype(), [&](auto type) { run(type, type); });
}

}  // namespace

void bind_measures_divided_flow(nb::module_& m) {
  m.def("divided_flow", &divided_flow, nb::arg("offsets"), nb::arg("tails"),
        nb::arg("weights").none(), nb::arg("distances"), nb::arg("no_path"), nb::arg("sources"),
        nb::arg("is_target"), nb::arg("division"), nb::arg("vertex_sums"), nb::arg("arc_sums"),
        nb::arg("threads"));
}

}  // namespace kleene::bindings
