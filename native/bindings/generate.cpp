#include "generate/generate.hpp"

#include "arrays.hpp"
#include "generate/random.hpp"

namespace kleene::bindings {
namespace {

using graph::Csr;

template <class Id>
nb::object to_python(generate::ArcList<Id>&& arcs) {
  return nb::make_tuple(to_numpy(std::move(arcs.tails)), to_numpy(std::move(arcs.heads)));
}

template <class Id>
nb::object to_python(Csr<Id, NoWeight>&& csr) {
  return nb::make_tuple(to_numpy(std::move(csr.offsets)), to_numpy(std::move(csr.neighbors)));
}

// Calls body(id type, monitor) without the GIL, with the narrowest ids that n vertices fit in.
// `units` is the work that the body's loops count.
template <class Body>
nb::object generated(std::int64_t n, std::int64_t units, const nb::object& progress, Body&& body) {
  PythonMonitor monitor(progress, units);
  const auto run = [&]<class Id>(Type<Id> id) {
    auto made = [&] {
      GilRelease release;
      return body(id, monitor);
    }();
    return to_python(std::move(made));
  };
  return n > INT32_MAX ? run(Type<std::int64_t>{}) : run(Type<std::int32_t>{});
}

nb::object rmat(const Array<std::uint64_t>& tables, std::int64_t n, std::int64_t first,
                std::int64_t arcs, bool relabel, std::uint64_t seed, int threads,
                const nb::object& progress) {
  constexpr std::size_t kTable = sizeof(generate::RmatStep) / sizeof(std::uint64_t);
  const std::span steps(reinterpret_cast<const generate::RmatStep*>(tables.data()),
                        tables.size() / kTable);
  const bool written = relabel && generate::rmat_writes_labels(n, arcs);
  const std::int64_t units = arcs + (written ? n : 0);
  return generated(n, units, progress, [&]<class Id>(Type<Id>, Monitor& monitor) {
    return generate::rmat_arcs<Id>(steps, n, first, arcs, relabel, seed, threads, monitor);
  });
}

nb::object uniform(std::int64_t n, std::int64_t edges, std::uint64_t seed, int threads,
                   const nb::object& progress) {
  return generated(n, edges, progress, [&]<class Id>(Type<Id>, Monitor& monitor) {
    return generate::uniform_edges<Id>(n, edges, seed, threads, monitor);
  });
}

nb::object capped(std::int64_t n, std::int64_t arcs, std::int64_t cap, bool connected,
                  std::uint64_t seed, int threads, const nb::object& progress) {
  return generated(
      n, generate::capped_units(n, arcs, cap), progress, [&]<class Id>(Type<Id>, Monitor& monitor) {
        return generate::capped_rows<Id>(n, arcs, cap, connected, seed, threads, monitor);
      });
}

nb::object path_plus(std::int64_t n, std::int64_t extra, std::uint64_t seed, int threads,
                     const nb::object& progress) {
  return generated(n, n, progress, [&]<class Id>(Type<Id>, Monitor& monitor) {
    return generate::path_plus_arcs<Id>(n, extra, seed, threads, monitor);
  });
}

nb::object small_world(std::int64_t n, std::int64_t reach, std::uint64_t rewire, std::uint64_t seed,
                       int threads, const nb::object& progress) {
  return generated(n, n, progress, [&]<class Id>(Type<Id>, Monitor& monitor) {
    return generate::small_world_edges<Id>(n, reach, rewire, seed, threads, monitor);
  });
}

nb::object grid(std::int64_t layers, std::int64_t rows, std::int64_t columns, bool diagonals,
                bool directed, std::uint64_t drop, std::uint64_t seed, int threads,
                const nb::object& progress) {
  const generate::GridShape shape{layers, rows, columns, diagonals, directed};
  const std::int64_t n = layers * rows * columns;
  return generated(n, 2 * n, progress, [&]<class Id>(Type<Id>, Monitor& monitor) {
    return generate::grid_rows<Id>(shape, drop, seed, threads, monitor);
  });
}

template <class Value>
nb::object values(std::int64_t n, std::int64_t first, const Array<std::int64_t>& offsets,
                  const AnyArray& neighbors, bool symmetric, std::int64_t low, std::uint64_t count,
                  std::uint64_t seed, int threads, const nb::object& progress) {
  const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
  PythonMonitor monitor(progress, rows);
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    auto made = [&] {
      GilRelease release;
      return generate::arc_values<Id, Value>(n, first, rows, offsets.data(),
                                             static_cast<const Id*>(neighbors.data()), symmetric,
                                             low, count, seed, threads, monitor);
    }();
    return to_numpy(std::move(made));
  });
}

nb::object arc_weights(std::int64_t n, std::int64_t first, const Array<std::int64_t>& offsets,
                       const AnyArray& neighbors, bool symmetric, std::string_view dtype,
                       std::int64_t low, std::uint64_t count, std::uint64_t seed, int threads,
                       const nb::object& progress) {
  const auto make = dtype == "int32"     ? values<std::int32_t>
                    : dtype == "int64"   ? values<std::int64_t>
                    : dtype == "float32" ? values<float>
                                         : values<double>;
  return make(n, first, offsets, neighbors, symmetric, low, count, seed, threads, progress);
}

// Draws for the few numbers that Python needs: `count` of [0, 1).
nb::object noise(std::int64_t count, std::uint64_t seed) {
  const generate::Stream stream(seed, generate::Purpose::kNoise);
  Buffer<double> draws(count);
  for (std::int64_t i = 0; i < count; ++i)
    draws[i] = generate::unit(stream[static_cast<std::uint64_t>(i)]);
  return to_numpy(std::move(draws));
}

}  // namespace

void bind_generate(nb::module_& m) {
  const auto progress = nb::arg("progress").none() = nb::none();
  m.def("rmat_arcs", &rmat, nb::arg("tables"), nb::arg("n"), nb::arg("first"), nb::arg("arcs"),
        nb::arg("relabel"), nb::arg("seed"), nb::arg("threads"), progress);
  m.def("uniform_edges", &uniform, nb::arg("n"), nb::arg("edges"), nb::arg("seed"),
        nb::arg("threads"), progress);
  m.def("capped_rows", &capped, nb::arg("n"), nb::arg("arcs"), nb::arg("cap"), nb::arg("connected"),
        nb::arg("seed"), nb::arg("threads"), progress);
  m.def("path_plus_arcs", &path_plus, nb::arg("n"), nb::arg("extra"), nb::arg("seed"),
        nb::arg("threads"), progress);
  m.def("small_world_edges", &small_world, nb::arg("n"), nb::arg("reach"), nb::arg("rewire"),
        nb::arg("seed"), nb::arg("threads"), progress);
  m.def("grid_rows", &grid, nb::arg("layers"), nb::arg("rows"), nb::arg("columns"),
        nb::arg("diagonals"), nb::arg("directed"), nb::arg("drop"), nb::arg("seed"),
        nb::arg("threads"), progress);
  m.def("arc_weights", &arc_weights, nb::arg("n"), nb::arg("first"), nb::arg("offsets"),
        nb::arg("neighbors"), nb::arg("symmetric"), nb::arg("dtype"), nb::arg("low"),
        nb::arg("count"), nb::arg("seed"), nb::arg("threads"), progress);
  m.def("noise", &noise, nb::arg("count"), nb::arg("seed"));
}

}  // namespace kleene::bindings
