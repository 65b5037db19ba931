#include "parallel/buffer.hpp"
#include "prepared.hpp"
#include "prepared/customization/customize.hpp"

namespace kleene::bindings {
namespace {

using Ranks = Array<std::int32_t>;
using prepared::Elimination;
using prepared::PairArcs;
using prepared::PairMiddles;
using prepared::PairValues;
using prepared::StartValues;

Elimination elimination_of(const Offsets& offsets, const Ranks& heads, const Ranks& parents) {
  require_arcs(offsets, heads);
  return {static_cast<std::int64_t>(parents.size()), offsets.data(), heads.data(), parents.data()};
}

prepared::Supernodes find_supernodes(const Offsets& offsets, const Ranks& heads,
                                     const Ranks& parents) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  const GilRelease release;
  return prepared::find_supernodes(elimination);
}

PairArcs find_arcs(const Offsets& arc_offsets, const AnyArray& neighbors, const Ranks& order,
                   const Ranks& ranks, const Offsets& offsets, const Ranks& heads,
                   const Ranks& parents, int threads) {
  require_arcs(arc_offsets, neighbors);
  const Elimination elimination = elimination_of(offsets, heads, parents);
  PythonMonitor monitor(nb::none(), 0);
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    const Arcs<Id> arcs{elimination.n, arc_offsets.data(), data_of<Id>(neighbors)};
    const GilRelease release;
    return prepared::find_arcs(arcs, order.data(), ranks.data(), elimination, threads, monitor);
  });
}

bool are_symmetric(const PairArcs& arcs, const OptionalArray& weights, int threads) {
  const auto run = [&]<class T>(const T* values) {
    const GilRelease release;
    return StartValues<T>{arcs, values}.are_symmetric(threads);
  };
  if (!weights) return run(static_cast<const std::int32_t*>(nullptr));
  return with_value_type(weights->dtype(),
                         [&]<class T>(Type<T>) { return run(data_of<T>(*weights)); });
}

// Fills up and down, which may be one array.
void customize(const Offsets& offsets, const Ranks& heads, const Ranks& parents,
               const prepared::Supernodes& supernodes, const PairArcs& arcs,
               const OptionalArray& weights, std::string_view semiring, bool negative,
               const AnyOutput& up, const AnyOutput& down, int threads, const nb::object& progress,
               int level) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  PythonMonitor monitor(progress, elimination.arcs());
  with_algebra(parse_semiring(semiring), up.dtype(), negative, [&]<class Algebra>(Type<Algebra>) {
    using Value = typename Algebra::Value;
    const StartValues<Value> start{arcs, data_of<Value>(weights)};
    const GilRelease release;
    prepared::customize<Algebra>(elimination, supernodes, start, data_of<Value>(up),
                                 data_of<Value>(down), {threads, level}, monitor);
    monitor.finish();
  });
}

// Fills the middles; arcs are None where they are not known.
void find_middles(const Offsets& offsets, const Ranks& heads, const Ranks& parents,
                  const prepared::Supernodes& supernodes, const PairArcs* arcs,
                  const OptionalArray& weights, std::string_view semiring, bool negative,
                  const AnyArray& up, const AnyArray& down,
                  const MutableArray<std::int32_t>& up_middles,
                  const MutableArray<std::int32_t>& down_middles, int threads, int level) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  PythonMonitor monitor(nb::none(), 0);
  with_algebra(parse_semiring(semiring), up.dtype(), negative, [&]<class Algebra>(Type<Algebra>) {
    using Value = typename Algebra::Value;
    const PairValues<Value> values{data_of<Value>(up), data_of<Value>(down)};
    std::optional<StartValues<Value>> start;
    if (arcs != nullptr) start.emplace(*arcs, data_of<Value>(weights));
    const GilRelease release;
    prepared::find_middles<Algebra>(elimination, supernodes, values, start ? &*start : nullptr,
                                    up_middles.data(), down_middles.data(), {threads, level},
                                    monitor);
  });
}

nb::object find_last_vertices(const Offsets& offsets, const Ranks& heads, const Ranks& parents,
                              const prepared::Supernodes& supernodes, const Ranks& order,
                              const Ranks& up_middles, const Ranks& down_middles, int threads) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  PythonMonitor monitor(nb::none(), 0);
  Buffer<std::int32_t> up(elimination.arcs()), down(elimination.arcs());
  {
    const GilRelease release;
    prepared::find_last_vertices(elimination, supernodes, order.data(),
                                 {up_middles.data(), down_middles.data()}, up.data(), down.data(),
                                 threads, monitor);
  }
  return nb::make_tuple(to_numpy(std::move(up)), to_numpy(std::move(down)));
}

std::int64_t first_negative(const Offsets& offsets, const Ranks& heads, const Ranks& parents,
                            const AnyArray& up, const AnyArray& down) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  return with_value_type(up.dtype(), [&]<class T>(Type<T>) {
    const PairValues<T> values{data_of<T>(up), data_of<T>(down)};
    const GilRelease release;
    return prepared::first_negative(elimination, values);
  });
}

std::int64_t first_negative_beyond_rounding(const Offsets& offsets, const Ranks& heads,
                                            const Ranks& parents, const PairArcs& arcs,
                                            const AnyArray& weights, const Ranks& up_middles,
                                            const Ranks& down_middles) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  const PairMiddles middles{up_middles.data(), down_middles.data()};
  return with_type<float, double>(weights.dtype(), [&]<class T>(Type<T>) {
    const StartValues<T> start{arcs, data_of<T>(weights)};
    const GilRelease release;
    return prepared::first_negative_beyond_rounding(elimination, start, middles);
  });
}

void add_up(const Offsets& offsets, const Ranks& heads, const Ranks& parents, const PairArcs& arcs,
            const AnyArray& weights, const Ranks& up_middles, const Ranks& down_middles,
            const AnyOutput& up, const AnyOutput& down) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  const PairMiddles middles{up_middles.data(), down_middles.data()};
  with_type<float, double>(weights.dtype(), [&]<class T>(Type<T>) {
    const StartValues<T> start{arcs, data_of<T>(weights)};
    const GilRelease release;
    prepared::add_up(elimination, start, middles, data_of<T>(up), data_of<T>(down));
  });
}

// (farthest, apart); see prepared::Reach
nb::object reach_of_roots(const Offsets& offsets, const Ranks& heads, const Ranks& parents,
                          const prepared::Supernodes& supernodes, const Ranks& up,
                          const Ranks& down, int threads) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  PythonMonitor monitor(nb::none(), 0);
  prepared::Reach reach{};
  {
    const GilRelease release;
    reach = prepared::reach_of_roots<std::int32_t>(elimination, supernodes,
                                                   {up.data(), down.data()}, threads, monitor);
  }
  return nb::make_tuple(reach.farthest, reach.apart);
}

}  // namespace

void bind_prepared_customization(nb::module_& m) {
  nb::class_<prepared::Supernodes>(m, "Supernodes")
      .def_prop_ro("count", &prepared::Supernodes::count);
  nb::class_<PairArcs>(m, "PairArcs")
      .def_ro("loop", &PairArcs::loop)
      .def_ro("unknown", &PairArcs::unknown);
  m.def("prepared_find_supernodes", &find_supernodes, nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"));
  m.def("prepared_find_arcs", &find_arcs, nb::arg("arc_offsets"), nb::arg("neighbors"),
        nb::arg("order"), nb::arg("ranks"), nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"), nb::arg("threads"));
  m.def("prepared_are_symmetric", &are_symmetric, nb::arg("arcs"), nb::arg("weights").none(),
        nb::arg("threads"));
  m.def("prepared_customize", &customize, nb::arg("offsets"), nb::arg("heads"), nb::arg("parents"),
        nb::arg("supernodes"), nb::arg("arcs"), nb::arg("weights").none(), nb::arg("semiring"),
        nb::arg("negative"), nb::arg("up"), nb::arg("down"), nb::arg("threads"),
        nb::arg("progress").none() = nb::none(), nb::arg("level") = -1);
  m.def("prepared_find_middles", &find_middles, nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"), nb::arg("supernodes"), nb::arg("arcs").none(),
        nb::arg("weights").none(), nb::arg("semiring"), nb::arg("negative"), nb::arg("up"),
        nb::arg("down"), nb::arg("up_middles"), nb::arg("down_middles"), nb::arg("threads"),
        nb::arg("level") = -1);
  m.def("prepared_find_last_vertices", &find_last_vertices, nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"), nb::arg("supernodes"), nb::arg("order"), nb::arg("up_middles"),
        nb::arg("down_middles"), nb::arg("threads"));
  m.def("prepared_first_negative", &first_negative, nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"), nb::arg("up"), nb::arg("down"));
  m.def("prepared_first_negative_beyond_rounding", &first_negative_beyond_rounding,
        nb::arg("offsets"), nb::arg("heads"), nb::arg("parents"), nb::arg("arcs"),
        nb::arg("weights"), nb::arg("up_middles"), nb::arg("down_middles"));
  m.def("prepared_add_up", &add_up, nb::arg("offsets"), nb::arg("heads"), nb::arg("parents"),
        nb::arg("arcs"), nb::arg("weights"), nb::arg("up_middles"), nb::arg("down_middles"),
        nb::arg("up"), nb::arg("down"));
  m.def("prepared_reach_of_roots", &reach_of_roots, nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"), nb::arg("supernodes"), nb::arg("up"), nb::arg("down"),
        nb::arg("threads"));
}

}  // namespace kleene::bindings
