// Trips on the best paths of an eliminated graph.
#include "prepared/pairs/flows.hpp"
#include "prepared_algebras.hpp"
#include "prepared_climb_tree.hpp"

namespace kleene::bindings {
namespace {

using Flows = MutableArray<double>;

// Volumes are added to `up` and `down`, flows of pairs; `assigned`, one per trip, is filled.
void pair_flows(const ClimbTree& tree, const Ids& ranks, const AnyArray& up_values,
                const AnyArray& down_values, bool negative, const Ids& origins,
                const Ids& destinations, const Array<double>& volumes, const Flows& up,
                const Flows& down, const MutableArray<std::uint8_t>& assigned, int threads,
                const nb::object& progress, int level) {
  tree.require_vertices(ranks);
  tree.require_pairs(up_values);
  tree.require_pairs(down_values);
  tree.require_pairs(up);
  tree.require_pairs(down);
  const std::size_t count = origins.size();
  if (destinations.size() != count || volumes.size() != count || assigned.size() != count) {
    raise_wrong_type();
  }
  with_value_type(up_values.dtype(), [&]<class Value>(Type<Value>) {
    const prepared::PairValues<Value> values{data_of<Value>(up_values),
                                             data_of<Value>(down_values)};
    const prepared::PairList trips{origins.data(), destinations.data(),
                                   static_cast<std::int64_t>(count)};
    const prepared::PairFlows flows{up.data(), down.data()};
    PythonMonitor monitor(progress, trips.count);
    const auto run = [&]<class Algebra>(Type<Algebra>) {
      const GilRelease release;
      prepared::pair_flows<Algebra>(tree.elimination, tree.tree, ranks.data(), values, negative,
                                    trips, volumes.data(), flows, assigned.data(), threads, level,
                                    monitor);
      monitor.finish();
    };
    if constexpr (std::is_integral_v<Value>) {
      if (negative) return run(Type<prepared::MinPlus<Value, true>>{});
    }
    run(Type<prepared::MinPlus<Value, false>>{});
  });
}

// Leaves zeros in `up` and `down`; `flows`, one per arc of the graph, are added to.
void move_to_arcs(const ClimbTree& tree, const Ids& order, const Ids& up_middles,
                  const Ids& down_middles, const Flows& up, const Flows& down,
                  const Offsets& offsets, const Ids& neighbors, const Flows& flows) {
  tree.require_vertices(order);
  for (const Ids* middles : {&up_middles, &down_middles}) tree.require_pairs(*middles);
  for (const Flows* each : {&up, &down}) tree.require_pairs(*each);
  require_arcs(offsets, neighbors, flows);
  if (offsets.size() != order.size() + 1) raise_wrong_type();
  PythonMonitor monitor(nb::none(), 0);
  const GilRelease release;
  prepared::move_to_arcs(tree.elimination, {up_middles.data(), down_middles.data()}, order.data(),
                         {up.data(), down.data()}, {offsets.data(), neighbors.data()}, flows.data(),
                         monitor);
}

}  // namespace

void bind_prepared_flows(nb::module_& m) {
  m.def("prepared_pair_flows", &pair_flows, nb::arg("tree"), nb::arg("ranks"), nb::arg("up_values"),
        nb::arg("down_values"), nb::arg("negative"), nb::arg("origins"), nb::arg("destinations"),
        nb::arg("volumes"), nb::arg("up").noconvert(), nb::arg("down").noconvert(),
        nb::arg("assigned").noconvert(), nb::arg("threads"), nb::arg("progress").none(),
        nb::arg("level") = -1);
  m.def("prepared_move_to_arcs", &move_to_arcs, nb::arg("tree"), nb::arg("order"),
        nb::arg("up_middles"), nb::arg("down_middles"), nb::arg("up").noconvert(),
        nb::arg("down").noconvert(), nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("flows").noconvert());
}

}  // namespace kleene::bindings
