#include "arrays.hpp"
#include "prepared/sweeps/sweep.hpp"

namespace kleene::bindings {
namespace {

using prepared::Elimination;
using Ids = Array<std::int32_t>;
using OptionalIds = std::optional<Ids>;

// The symbolic part, as Python keeps it: offsets, heads, parents, order, depths and sizes by rank,
// depths of the heads by arc.
struct Tree {
  Offsets offsets;
  Ids heads, parents, order, depths, sizes, head_depths;

  explicit Tree(const nb::tuple& arrays)
      : offsets(nb::cast<Offsets>(arrays[0])),
        heads(nb::cast<Ids>(arrays[1])),
        parents(nb::cast<Ids>(arrays[2])),
        order(nb::cast<Ids>(arrays[3])),
        depths(nb::cast<Ids>(arrays[4])),
        sizes(nb::cast<Ids>(arrays[5])),
        head_depths(nb::cast<Ids>(arrays[6])) {
    require_arcs(offsets, heads, head_depths);
    for (const Ids* by_rank : {&parents, &order, &depths, &sizes}) {
      if (by_rank->size() + 1 != offsets.size()) raise_wrong_type();
    }
  }

  Elimination elimination() const {
    const auto n = static_cast<std::int64_t>(parents.size());
    return {n, offsets.data(), heads.data(), parents.data()};
  }
};

// Calls body(Type<T>, Type<Out>) with the types of the pairs' values and of the answers.
template <class Body>
void with_sweep_types(nb::dlpack::dtype inside, nb::dlpack::dtype outside, Body&& body) {
  if (inside == nb::dtype<std::uint8_t>()) return body(Type<std::uint8_t>{}, Type<bool>{});
  if (inside == nb::dtype<std::int32_t>() && inside != outside) {
    return with_type<std::int64_t, bool>(outside,
                                         [&](auto out) { body(Type<std::int32_t>{}, out); });
  }
  if (inside != outside) raise_wrong_type();
  with_value_type(inside, [&](auto type) { body(type, type); });
}

template <class T>
prepared::DepthArcs<T> as_arcs(const Tree& tree, const AnyArray& values, const OptionalIds& last) {
  require_arcs(tree.offsets, values, last);
  return {tree.offsets.data(), tree.head_depths.data(), data_of<T>(values),
          last ? last->data() : nullptr};
}

// Calls run(problem, rows) for values, and predecessors, of (sources, targets).
template <class Run>
void with_rows(const Tree& tree, std::int64_t height, std::string_view semiring, bool negative,
               const AnyArray& up, const AnyArray& down, const OptionalIds& up_last,
               const OptionalIds& down_last, const Ids& sources, const OptionalIds& targets,
               const AnyOutput& values, const OptionalOutput& predecessors, int level,
               PythonMonitor& monitor, Run&& run) {
  const std::size_t columns = targets ? targets->size() : tree.parents.size();
  if (values.size() != sources.size() * columns ||
      (predecessors && predecessors->size() != values.size())) {
    raise_wrong_type();
  }
  with_sweep_types(up.dtype(), values.dtype(), [&]<class T, class Out>(Type<T>, Type<Out>) {
    const prepared::SweepProblem<T> problem{tree.elimination(),
                                            tree.depths.data(),
                                            tree.sizes.data(),
                                            height,
                                            as_arcs<T>(tree, up, up_last),
                                            as_arcs<T>(tree, down, down_last),
                                            parse_semiring(semiring),
                                            negative,
                                            level};
    const prepared::SweepRows<Out> rows{static_cast<std::int64_t>(sources.size()),
                                        sources.data(),
                                        static_cast<std::int64_t>(columns),
                                        targets ? targets->data() : nullptr,
                                        data_of<Out>(values),
                                        data_of<std::int32_t>(predecessors)};
    const GilRelease release;
    run(problem, rows);
  });
  monitor.finish();
}

// Fills rows by sweeps. Sources and targets are ranks; no targets: all vertices, in their order.
void sweep(const nb::tuple& arrays, std::int64_t height, std::string_view semiring, bool negative,
           const AnyArray& up, const AnyArray& down, const OptionalIds& up_last,
           const OptionalIds& down_last, const Ids& sources, const OptionalIds& targets,
           const AnyOutput& values, const OptionalOutput& predecessors,
           const MutableArray<std::uint8_t>& workspace, int threads, const nb::object& progress,
           int level) {
  const Tree tree(arrays);
  const auto n = static_cast<std::int64_t>(tree.parents.size());
  const bool paths = predecessors.has_value();
  const std::int64_t size = prepared::sweep_bytes(n, paths) + prepared::kLineBytes;
  if (static_cast<std::int64_t>(workspace.size()) < size || paths != up_last.has_value() ||
      paths != down_last.has_value()) {
    raise_wrong_type();
  }
  const auto start = reinterpret_cast<std::uintptr_t>(workspace.data()) + prepared::kLineBytes - 1;
  auto* const lines = reinterpret_cast<void*>(start - start % prepared::kLineBytes);
  PythonMonitor monitor(progress, static_cast<std::int64_t>(sources.size()));
  with_rows(tree, height, semiring, negative, up, down, up_last, down_last, sources, targets,
            values, predecessors, level, monitor, [&](const auto& problem, const auto& rows) {
              prepared::sweep(problem, tree.order.data(), rows, lines, threads, monitor);
            });
}

// The same by products of climbs; not for booleans and negative integers.
void multiply_climbs(const nb::tuple& arrays, std::int64_t height, std::string_view semiring,
                     bool negative, const AnyArray& up, const AnyArray& down, const Ids& sources,
                     const Ids& targets, const AnyOutput& values, int threads,
                     const nb::object& progress, int level) {
  const Tree tree(arrays);
  PythonMonitor monitor(progress, static_cast<std::int64_t>(sources.size()));
  with_rows(tree, height, semiring, negative, up, down, {}, {}, sources, targets, values, {}, level,
            monitor,
            [&]<class T, class Out>(const prepared::SweepProblem<T>& problem,
                                    const prepared::SweepRows<Out>& rows) {
              if constexpr (!std::is_same_v<Out, bool>) {
                prepared::multiply_climbs(problem, rows, threads, monitor);
              }
            });
}

nb::object matrix_work(const nb::tuple& arrays, const Ids& sources, const Ids& targets) {
  const Tree tree(arrays);
  prepared::MatrixWork work;
  {
    const GilRelease release;
    work = prepared::matrix_work(tree.elimination(), tree.depths.data(), sources.data(),
                                 static_cast<std::int64_t>(sources.size()), targets.data(),
                                 static_cast<std::int64_t>(targets.size()));
  }
  return nb::make_tuple(work.source_arcs, work.target_arcs, work.climb, work.common);
}

}  // namespace

void bind_prepared_sweeps(nb::module_& m) {
  m.def("prepared_sweep", &sweep, nb::arg("tree"), nb::arg("height"), nb::arg("semiring"),
        nb::arg("negative"), nb::arg("up"), nb::arg("down"), nb::arg("up_last").none(),
        nb::arg("down_last").none(), nb::arg("sources"), nb::arg("targets").none(),
        nb::arg("values").noconvert(), nb::arg("predecessors").none().noconvert(),
        nb::arg("workspace"), nb::arg("threads"), nb::arg("progress").none() = nb::none(),
        nb::arg("level") = -1);
  m.def("prepared_multiply_climbs", &multiply_climbs, nb::arg("tree"), nb::arg("height"),
        nb::arg("semiring"), nb::arg("negative"), nb::arg("up"), nb::arg("down"),
        nb::arg("sources"), nb::arg("targets"), nb::arg("values").noconvert(), nb::arg("threads"),
        nb::arg("progress").none() = nb::none(), nb::arg("level") = -1);
  m.def("prepared_matrix_work", &matrix_work, nb::arg("tree"), nb::arg("sources"),
        nb::arg("targets"));
}

}  // namespace kleene::bindings
