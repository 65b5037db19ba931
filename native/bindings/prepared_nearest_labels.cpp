#include "arrays.hpp"
#include "prepared/near/near.hpp"

namespace kleene::bindings {
namespace {

using Ids = Array<std::int32_t>;

template <class Value>
using Output = nb::ndarray<Value, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Arrays by rank; the lower neighbors are pairs by their upper end. Rows of k labels each.
template <class Value>
void nearest_labels(const Offsets& offsets, const Ids& heads, const Ids& parents, const Ids& sizes,
                    const Offsets& lower_offsets, const Ids& tails, const Ids& places,
                    const Array<Value>& up, const Array<Value>& down, const Ids& facilities,
                    Value limit, const Output<Value>& distances, const Output<std::int32_t>& which,
                    int threads, const nb::object& progress) {
  require_arcs(offsets, heads, up, down);
  require_arcs(lower_offsets, tails, places);
  const auto n = static_cast<std::int64_t>(parents.size());
  const bool sound = offsets.size() == parents.size() + 1 &&
                     lower_offsets.size() == offsets.size() && sizes.size() == parents.size() &&
                     distances.shape(0) == parents.size() && which.shape(0) == parents.size() &&
                     which.shape(1) == distances.shape(1);
  if (!sound) raise_wrong_type();
  const prepared::Elimination elimination{n, offsets.data(), heads.data(), parents.data()};
  const prepared::LowerNeighbors lower{lower_offsets.data(), tails.data(), places.data()};
  const prepared::NearestLabels<Value> labels{static_cast<std::int64_t>(which.shape(1)),
                                              distances.data(), which.data()};
  const auto count = static_cast<std::int64_t>(facilities.size());
  PythonMonitor monitor(progress, 2 * n);
  const GilRelease release;
  prepared::nearest_labels<Value>(elimination, lower, sizes.data(), {up.data(), down.data()},
                                  facilities.data(), count, limit, labels, threads, monitor);
  monitor.finish();
}

template <class Value>
void bind(nb::module_& m) {
  m.def("prepared_nearest_labels", &nearest_labels<Value>, nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"), nb::arg("sizes"), nb::arg("lower_offsets"), nb::arg("tails"),
        nb::arg("places"), nb::arg("up").noconvert(), nb::arg("down").noconvert(),
        nb::arg("facilities"), nb::arg("limit"), nb::arg("distances").noconvert(),
        nb::arg("which").noconvert(), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace

void bind_prepared_nearest_labels(nb::module_& m) {
  bind<std::int32_t>(m);
  bind<std::int64_t>(m);
}

}  // namespace kleene::bindings
