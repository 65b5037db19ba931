#include "arrays.hpp"
#include "prepared/sweep.hpp"

namespace kleene::bindings {
namespace {

using prepared::Elimination;
using Ids = Array<std::int32_t>;

Elimination as_elimination(const Offsets& offsets, const Ids& heads, const Ids& parents) {
  require_arcs(offsets, heads);
  if (parents.size() + 1 != offsets.size()) raise_wrong_type();
  return {static_cast<std::int64_t>(parents.size()), offsets.data(), heads.data(), parents.data()};
}

// The depths of all heads, and the number of depths.
nb::object head_depths(const Offsets& offsets, const Ids& heads, const Ids& parents) {
  const Elimination elimination = as_elimination(offsets, heads, parents);
  Buffer<std::int32_t> depths(elimination.arcs());
  std::int32_t height;
  {
    const GilRelease release;
    height = prepared::head_depths(elimination, depths.data());
  }
  return nb::make_tuple(to_numpy(std::move(depths)), height);
}

// Calls body(Type<T>, Type<Out>) with the types of the pairs' values and of the answers.
template <class Body>
void with_sweep_types(nb::dlpack::dtype inside, nb::dlpack::dtype outside, Body&& body) {
  if (inside == nb::dtype<std::uint8_t>()) return body(Type<std::uint8_t>{}, Type<bool>{});
  if (inside == nb::dtype<std::int32_t>() && outside == nb::dtype<std::int64_t>()) {
    return body(Type<std::int32_t>{}, Type<std::int64_t>{});
  }
  if (inside != outside) raise_wrong_type();
  with_value_type(inside, [&](auto type) { body(type, type); });
}

// Fills values (sources, targets); sources and targets are ranks.
void sweep(std::string_view semiring, bool negative, const Offsets& offsets, const Ids& heads,
           const Ids& parents, const Ids& depths, std::int64_t height, const AnyArray& up,
           const AnyArray& down, const Ids& sources, const Ids& targets, bool restricted,
           const AnyOutput& values, int threads, const nb::object& progress, int level) {
  const Elimination elimination = as_elimination(offsets, heads, parents);
  require_arcs(offsets, depths, up, down);
  if (values.size() != sources.size() * targets.size()) raise_wrong_type();
  PythonMonitor monitor(progress, static_cast<std::int64_t>(sources.size()));
  with_sweep_types(up.dtype(), values.dtype(), [&]<class T, class Out>(Type<T>, Type<Out>) {
    const prepared::SweepProblem<T> problem{elimination,
                                            height,
                                            {offsets.data(), depths.data(), data_of<T>(up)},
                                            {offsets.data(), depths.data(), data_of<T>(down)},
                                            parse_semiring(semiring),
                                            negative,
                                            level};
    const prepared::SweepRows<Out> rows{static_cast<std::int64_t>(sources.size()), sources.data(),
                                        static_cast<std::int64_t>(targets.size()), targets.data(),
                                        data_of<Out>(values)};
    const GilRelease release;
    if (restricted) {
      prepared::sweep_ancestors(problem, rows, threads, monitor);
    } else {
      prepared::sweep_all(problem, rows, threads, monitor);
    }
  });
  monitor.finish();
}

}  // namespace

void bind_prepared_sweeps(nb::module_& m) {
  m.def("prepared_head_depths", &head_depths, nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"));
  m.def("prepared_sweep", &sweep, nb::arg("semiring"), nb::arg("negative"), nb::arg("offsets"),
        nb::arg("heads"), nb::arg("parents"), nb::arg("depths"), nb::arg("height"), nb::arg("up"),
        nb::arg("down"), nb::arg("sources"), nb::arg("targets"), nb::arg("restricted"),
        nb::arg("values").noconvert(), nb::arg("threads"), nb::arg("progress").none() = nb::none(),
        nb::arg("level") = -1);
}

}  // namespace kleene::bindings
