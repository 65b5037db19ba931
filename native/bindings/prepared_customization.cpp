#include "parallel/buffer.hpp"
#include "prepared/customize.hpp"
#include "prepared_algebras.hpp"

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

// The arrays of prepared::Supernodes, as find_supernodes returns them.
struct SupernodeInputs {
  Ranks starts, firsts;
  Offsets work, source_offsets;
  Ranks sources, source_places;

  explicit SupernodeInputs(const nb::tuple& arrays)
      : starts(nb::cast<Ranks>(arrays[0])),
        firsts(nb::cast<Ranks>(arrays[1])),
        work(nb::cast<Offsets>(arrays[2])),
        source_offsets(nb::cast<Offsets>(arrays[3])),
        sources(nb::cast<Ranks>(arrays[4])),
        source_places(nb::cast<Ranks>(arrays[5])) {}

  prepared::Supernodes view() const {
    return {static_cast<std::int64_t>(firsts.size()),
            starts.data(),
            firsts.data(),
            work.data(),
            source_offsets.data(),
            sources.data(),
            source_places.data()};
  }
};

nb::object find_supernodes(const Offsets& offsets, const Ranks& heads, const Ranks& parents) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  prepared::SupernodeArrays made;
  {
    const GilRelease release;
    made = prepared::find_supernodes(elimination);
  }
  return nb::make_tuple(to_numpy(std::move(made.starts)), to_numpy(std::move(made.firsts)),
                        to_numpy(std::move(made.work)), to_numpy(std::move(made.source_offsets)),
                        to_numpy(std::move(made.sources)), to_numpy(std::move(made.source_places)));
}

// (arcs up, arcs down, a vertex with a loop or -1, an arc that is no pair or -1)
nb::object find_arcs(const Offsets& arc_offsets, const AnyArray& neighbors, const Ranks& ranks,
                     const Offsets& offsets, const Ranks& heads, const Ranks& parents,
                     int threads) {
  require_arcs(arc_offsets, neighbors);
  const Elimination elimination = elimination_of(offsets, heads, parents);
  PythonMonitor monitor(nb::none(), 0);
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    const Arcs<Id> arcs{elimination.n, arc_offsets.data(), data_of<Id>(neighbors)};
    Buffer<std::int32_t> up(elimination.arcs()), down(elimination.arcs());
    prepared::ArcsFound found{};
    {
      const GilRelease release;
      found = prepared::find_arcs(arcs, ranks.data(), elimination, up.data(), down.data(), threads,
                                  monitor);
    }
    return nb::object(nb::make_tuple(to_numpy(std::move(up)), to_numpy(std::move(down)), found.loop,
                                     found.unknown));
  });
}

bool is_symmetric(const Ranks& up_arcs, const Ranks& down_arcs, const OptionalArray& weights,
                  int threads) {
  PythonMonitor monitor(nb::none(), 0);
  const PairArcs arcs{up_arcs.data(), down_arcs.data()};
  const auto pairs = static_cast<std::int64_t>(up_arcs.size());
  const auto run = [&]<class T>(const T* values) {
    const GilRelease release;
    return prepared::is_symmetric(pairs, arcs, values, threads, monitor);
  };
  if (!weights) return run(static_cast<const std::int32_t*>(nullptr));
  return with_value_type(weights->dtype(),
                         [&]<class T>(Type<T>) { return run(data_of<T>(*weights)); });
}

// Fills up and down, which may be one array.
void customize(const Offsets& offsets, const Ranks& heads, const Ranks& parents,
               const nb::tuple& supernodes, const Ranks& up_arcs, const Ranks& down_arcs,
               const OptionalArray& weights, std::string_view semiring, bool negative,
               const AnyOutput& up, const AnyOutput& down, int threads,
               const nb::object& progress) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  const SupernodeInputs inputs(supernodes);
  PythonMonitor monitor(progress, elimination.arcs());
  with_algebra(parse_semiring(semiring), up.dtype(), negative, [&]<class Algebra>(Type<Algebra>) {
    using Value = typename Algebra::Value;
    const StartValues<Algebra> start{{up_arcs.data(), down_arcs.data()}, data_of<Value>(weights)};
    const GilRelease release;
    prepared::customize(elimination, inputs.view(), start, data_of<Value>(up), data_of<Value>(down),
                        threads, monitor);
    monitor.finish();
  });
}

// Fills the middles; arcs are None where they are not known.
void find_middles(const Offsets& offsets, const Ranks& heads, const Ranks& parents,
                  const nb::tuple& supernodes, const std::optional<Ranks>& up_arcs,
                  const std::optional<Ranks>& down_arcs, const OptionalArray& weights,
                  std::string_view semiring, bool negative, const AnyArray& up,
                  const AnyArray& down, const MutableArray<std::int32_t>& up_middles,
                  const MutableArray<std::int32_t>& down_middles, int threads) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  const SupernodeInputs inputs(supernodes);
  PythonMonitor monitor(nb::none(), 0);
  with_algebra(parse_semiring(semiring), up.dtype(), negative, [&]<class Algebra>(Type<Algebra>) {
    using Value = typename Algebra::Value;
    const PairValues<Value> values{data_of<Value>(up), data_of<Value>(down)};
    StartValues<Algebra> start{{}, data_of<Value>(weights)};
    if (up_arcs) start.arcs = {up_arcs->data(), down_arcs->data()};
    const GilRelease release;
    prepared::find_middles(elimination, inputs.view(), values, up_arcs ? &start : nullptr,
                           up_middles.data(), down_middles.data(), threads, monitor);
  });
}

nb::object find_last_vertices(const Offsets& offsets, const Ranks& heads, const Ranks& parents,
                              const Ranks& order, const Ranks& up_middles,
                              const Ranks& down_middles, int threads) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  PythonMonitor monitor(nb::none(), 0);
  Buffer<std::int32_t> up(elimination.arcs()), down(elimination.arcs());
  {
    const GilRelease release;
    prepared::find_last_vertices(elimination, order.data(),
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
                                            const Ranks& parents, const Ranks& up_arcs,
                                            const Ranks& down_arcs, const AnyArray& weights,
                                            const Ranks& up_middles, const Ranks& down_middles) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  const PairMiddles middles{up_middles.data(), down_middles.data()};
  return with_type<float, double>(weights.dtype(), [&]<class T>(Type<T>) {
    const StartValues<prepared::MinPlus<T, false>> start{{up_arcs.data(), down_arcs.data()},
                                                         data_of<T>(weights)};
    const GilRelease release;
    return prepared::first_negative_beyond_rounding(elimination, start, middles);
  });
}

// (farthest, apart); see prepared::Reach
nb::object reach_of_roots(const Offsets& offsets, const Ranks& heads, const Ranks& parents,
                          const Ranks& up, const Ranks& down) {
  const Elimination elimination = elimination_of(offsets, heads, parents);
  prepared::Reach reach{};
  {
    const GilRelease release;
    reach = prepared::reach_of_roots<std::int32_t>(elimination, {up.data(), down.data()});
  }
  return nb::make_tuple(reach.farthest, reach.apart);
}

}  // namespace

void bind_prepared_customization(nb::module_& m) {
  m.def("prepared_find_arcs", &find_arcs, nb::arg("arc_offsets"), nb::arg("neighbors"),
        nb::arg("ranks"), nb::arg("offsets"), nb::arg("heads"), nb::arg("parents"),
        nb::arg("threads"));
  m.def("prepared_find_supernodes", &find_supernodes, nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"));
  m.def("prepared_is_symmetric", &is_symmetric, nb::arg("up_arcs"), nb::arg("down_arcs"),
        nb::arg("weights").none(), nb::arg("threads"));
  m.def("prepared_customize", &customize, nb::arg("offsets"), nb::arg("heads"), nb::arg("parents"),
        nb::arg("supernodes"), nb::arg("up_arcs"), nb::arg("down_arcs"), nb::arg("weights").none(),
        nb::arg("semiring"), nb::arg("negative"), nb::arg("up"), nb::arg("down"),
        nb::arg("threads"), nb::arg("progress").none() = nb::none());
  m.def("prepared_find_middles", &find_middles, nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"), nb::arg("supernodes"), nb::arg("up_arcs").none(),
        nb::arg("down_arcs").none(), nb::arg("weights").none(), nb::arg("semiring"),
        nb::arg("negative"), nb::arg("up"), nb::arg("down"), nb::arg("up_middles"),
        nb::arg("down_middles"), nb::arg("threads"));
  m.def("prepared_find_last_vertices", &find_last_vertices, nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"), nb::arg("order"), nb::arg("up_middles"), nb::arg("down_middles"),
        nb::arg("threads"));
  m.def("prepared_first_negative", &first_negative, nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"), nb::arg("up"), nb::arg("down"));
  m.def("prepared_first_negative_beyond_rounding", &first_negative_beyond_rounding,
        nb::arg("offsets"), nb::arg("heads"), nb::arg("parents"), nb::arg("up_arcs"),
        nb::arg("down_arcs"), nb::arg("weights"), nb::arg("up_middles"), nb::arg("down_middles"));
  m.def("prepared_reach_of_roots", &reach_of_roots, nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"), nb::arg("up"), nb::arg("down"));
}

}  // namespace kleene::bindings
