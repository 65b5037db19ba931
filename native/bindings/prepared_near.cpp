// What is near in an eliminated graph: facilities of some sources.
#include "prepared/nearest.hpp"
#include "prepared_climb_tree.hpp"

namespace kleene::bindings {
namespace {

// Fills rows of k, where `which` is -1. Vertices are ranks; the limit has the type of the
// distances. Lengths lead up from the sources, and down to the facilities.
void nearest(const ClimbTree& tree, const AnyArray& up, const AnyArray& down, const Ids& sources,
             const Ids& facilities, const AnyArray& limit, const AnyOutput& distances,
             const MutableArray<std::int32_t>& which, int threads, const nb::object& progress) {
  tree.require_pairs(up);
  tree.require_pairs(down);
  const prepared::RankList starts{sources.data(), static_cast<std::int64_t>(sources.size())};
  const prepared::RankList places{facilities.data(), static_cast<std::int64_t>(facilities.size())};
  if (which.ndim() != 2 || which.shape(0) != sources.size() || distances.size() != which.size()) {
    raise_wrong_type();
  }
  with_value_type(up.dtype(), [&]<class Value>(Type<Value>) {
    const prepared::PairValues<Value> values{data_of<Value>(up), data_of<Value>(down)};
    const prepared::NearestRows<Value> rows{static_cast<std::int64_t>(which.shape(1)),
                                            data_of<Value>(distances), which.data()};
    const Value farthest = *data_of<Value>(limit);
    PythonMonitor monitor(progress, starts.count);
    const GilRelease release;
    prepared::nearest<Value>(tree.elimination, tree.tree, values, starts, places, farthest, rows,
                             threads, monitor);
    monitor.finish();
  });
}

}  // namespace

void bind_prepared_near(nb::module_& m) {
  m.def("prepared_nearest", &nearest, nb::arg("tree"), nb::arg("up"), nb::arg("down"),
        nb::arg("sources"), nb::arg("facilities"), nb::arg("limit"),
        nb::arg("distances").noconvert(), nb::arg("which").noconvert(), nb::arg("threads"),
        nb::arg("progress").none());
}

}  // namespace kleene::bindings
