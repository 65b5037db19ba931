#include <algorithm>

#include "arrays.hpp"
#include "graph/csr.hpp"
#include "graph/dense_arcs.hpp"
#include "parallel/team.hpp"

namespace kleene::bindings {
namespace {

using graph::BadArc;
using graph::Combine;
using graph::Csr;
using graph::MemoryNeeded;

PyObject* bad_arc_type = nullptr;
PyObject* memory_needed_type = nullptr;

[[noreturn]] void raise(const MemoryNeeded& needed) { raise_memory_needed(needed.bytes); }

[[noreturn]] void raise(const BadArc& bad) {
  static constexpr const char* kNames[] = {"source", "target", "weight", "changed"};
  const nb::object args = nb::make_tuple(kNames[static_cast<int>(bad.fault)], bad.position);
  PyErr_SetObject(bad_arc_type, args.ptr());
  throw nb::python_error();
}

Combine parse_combine(std::string_view name) {
  return name == "max" ? Combine::kMax : name == "sum" ? Combine::kSum : Combine::kMin;
}

// Runs without the GIL; BadArc and MemoryNeeded become the Python exceptions of these names.
template <class Work>
auto guarded(Work&& work) {
  std::optional<BadArc> bad;
  MemoryNeeded needed{};
  {
    GilRelease release;
    try {
      return work();
    } catch (const BadArc& caught) {
      bad = caught;
    } catch (const MemoryNeeded& caught) {
      needed = caught;
    }
  }
  if (bad) raise(*bad);
  raise(needed);
}

template <class Id, class W>
nb::object as_tuple(Csr<Id, W>&& csr) {
  return nb::make_tuple(to_numpy(std::move(csr.offsets)), to_numpy(std::move(csr.neighbors)),
                        to_numpy(std::move(csr.weights)));
}

nb::object build(std::int64_t n, const AnyArray& tails, const AnyArray& heads,
                 const OptionalArray& weights, bool symmetric, std::string_view combine,
                 std::int64_t available, int threads, const nb::object& progress) {
  const auto arcs = static_cast<std::int64_t>(tails.size());
  PythonMonitor monitor(progress, 2 * arcs + 2 * n);
  const auto run = [&]<class InId, class Id, class W>(Type<InId>, Type<Id>, const W* values) {
    return as_tuple(guarded([&] {
      return graph::build_csr<InId, Id, W>(n, arcs, data_of<InId>(tails), data_of<InId>(heads),
                                           values, symmetric, parse_combine(combine), available,
                                           threads, monitor);
    }));
  };
  return with_id_type(tails, [&]<class InId>(Type<InId> in) {
    const auto weighted = [&](auto id) {
      if (!weights) return run(in, id, static_cast<const NoWeight*>(nullptr));
      return with_value_type(weights->dtype(), [&]<class W>(Type<W>) {
        return run(in, id, static_cast<const W*>(weights->data()));
      });
    };
    if constexpr (sizeof(InId) == 8) {
      if (n > INT32_MAX) return weighted(Type<std::int64_t>{});
    }
    return weighted(Type<std::int32_t>{});
  });
}

// A copy of an array, made on all threads.
nb::object copied(const AnyArray& array, int threads) {
  constexpr std::int64_t kGrain = 1 << 20;
  const auto size = static_cast<std::int64_t>(array.size());
  PythonMonitor monitor(nb::none(), size);
  return with_value_type(array.dtype(), [&]<class T>(Type<T>) {
    const auto* const from = static_cast<const T*>(array.data());
    return to_numpy(guarded([&] {
      Buffer<T> copy(size);
      parallel::parallel_for(size, kGrain, threads, monitor, [&](auto begin, auto end, int) {
        std::copy(from + begin, from + end, copy.data() + begin);
      });
      return copy;
    }));
  });
}

nb::object transpose(const Offsets& offsets, const AnyArray& neighbors,
                     const OptionalArray& weights, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  return with_arcs(offsets, neighbors, weights, [&](const auto& arcs) {
    return as_tuple(guarded([&] { return graph::transpose(arcs, threads, monitor); }));
  });
}

bool is_symmetric(const Offsets& offsets, const AnyArray& neighbors, const OptionalArray& weights,
                  int threads) {
  PythonMonitor monitor(nb::none(), 0);
  return with_arcs(offsets, neighbors, weights, [&](const auto& arcs) {
    return guarded([&] { return graph::is_symmetric(arcs, threads, monitor); });
  });
}

bool seems_symmetric(const Offsets& offsets, const AnyArray& neighbors,
                     const OptionalArray& weights, std::uint64_t seed, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  return with_arcs(offsets, neighbors, weights, [&](const auto& arcs) {
    return guarded([&] { return graph::seems_symmetric(arcs, seed, threads, monitor); });
  });
}

bool is_canonical(const Offsets& offsets, const AnyArray& neighbors, const OptionalArray& weights,
                  int threads) {
  PythonMonitor monitor(nb::none(), 0);
  return with_arcs(offsets, neighbors, weights, [&](const auto& arcs) {
    return guarded([&] { return graph::is_canonical(arcs, threads, monitor); });
  });
}

// Both graphs have ids and weights of the same types.
nb::object unite(const Offsets& offsets, const AnyArray& neighbors, const OptionalArray& weights,
                 const Offsets& other_offsets, const AnyArray& other_neighbors,
                 const OptionalArray& other_weights, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  return with_arcs(offsets, neighbors, weights, [&]<class Id, class W>(const Arcs<Id, W>& arcs) {
    const Arcs<Id, W> other{arcs.n, other_offsets.data(), data_of<Id>(other_neighbors),
                            other_weights ? static_cast<const W*>(other_weights->data()) : nullptr};
    return as_tuple(guarded([&] { return graph::unite(arcs, other, threads, monitor); }));
  });
}

nb::object from_matrix(const nb::ndarray<const double, nb::ndim<2>, nb::c_contig>& matrix,
                       bool loops, int threads) {
  const auto n = static_cast<std::int64_t>(matrix.shape(0));
  PythonMonitor monitor(nb::none(), n);
  return as_tuple(
      guarded([&] { return graph::csr_from_matrix(n, matrix.data(), loops, threads, monitor); }));
}

// Copies a matrix in canonical form; returns the extreme weights and the position of a bad entry.
nb::object dense_canonical(const AnyInput& entries, const nb::object& null, bool null_nan,
                           const AnyOutput& matrix, MutableArray<std::int64_t> degrees,
                           const AnyOutput& heaviest, int threads) {
  const auto n = static_cast<std::int64_t>(entries.shape(0));
  PythonMonitor monitor(nb::none(), n);
  return with_value_type(entries.dtype(), [&]<class T>(Type<T>) {
    const auto value = nb::cast<std::optional<T>>(null);
    graph::DenseSummary<T> summary;
    {
      const GilRelease release;
      summary = graph::dense_canonical(static_cast<const T*>(entries.data()), n, value, null_nan,
                                       data_of<T>(matrix), degrees.data(),
                                       data_of<graph::Magnitude<T>>(heaviest), threads, monitor);
    }
    return nb::object(nb::make_tuple(summary.lowest, summary.highest, summary.bad));
  });
}

void dense_to_csr(const AnyInput& matrix, const Offsets& offsets,
                  MutableArray<std::int32_t> neighbors, const AnyOutput& weights, int threads) {
  const auto n = static_cast<std::int64_t>(matrix.shape(0));
  PythonMonitor monitor(nb::none(), n);
  with_value_type(matrix.dtype(), [&]<class T>(Type<T>) {
    const GilRelease release;
    graph::dense_to_csr(static_cast<const T*>(matrix.data()), n, offsets.data(), neighbors.data(),
                        data_of<T>(weights), threads, monitor);
  });
}

}  // namespace

void raise_memory_needed(std::int64_t bytes) {
  PyErr_SetObject(memory_needed_type, nb::int_(bytes).ptr());
  throw nb::python_error();
}

void bind_graph(nb::module_& m) {
  bad_arc_type = PyErr_NewException("kleene._native.BadArc", PyExc_ValueError, nullptr);
  m.attr("BadArc") = nb::borrow(bad_arc_type);
  memory_needed_type =
      PyErr_NewException("kleene._native.MemoryNeeded", PyExc_MemoryError, nullptr);
  m.attr("MemoryNeeded") = nb::borrow(memory_needed_type);

  m.def("build_csr", &build, nb::arg("n"), nb::arg("tails"), nb::arg("heads"),
        nb::arg("weights").none(), nb::arg("symmetric"), nb::arg("combine"), nb::arg("available"),
        nb::arg("threads"), nb::arg("progress").none() = nb::none());
  m.def("copied", &copied, nb::arg("array"), nb::arg("threads"));
  m.def("is_canonical", &is_canonical, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::arg("threads"));
  m.def("csr_transpose", &transpose, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::arg("threads"));
  m.def("csr_is_symmetric", &is_symmetric, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::arg("threads"));
  m.def("csr_seems_symmetric", &seems_symmetric, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::arg("seed"), nb::arg("threads"));
  m.def("csr_union", &unite, nb::arg("offsets"), nb::arg("neighbors"), nb::arg("weights").none(),
        nb::arg("other_offsets"), nb::arg("other_neighbors"), nb::arg("other_weights").none(),
        nb::arg("threads"));
  m.def("dense_canonical", &dense_canonical, nb::arg("entries"), nb::arg("null").none(),
        nb::arg("null_nan"), nb::arg("matrix"), nb::arg("degrees"), nb::arg("heaviest"),
        nb::arg("threads"));
  m.def("dense_to_csr", &dense_to_csr, nb::arg("matrix"), nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights"), nb::arg("threads"));
  m.def("csr_from_matrix", &from_matrix, nb::arg("matrix"), nb::arg("loops"), nb::arg("threads"));
}

}  // namespace kleene::bindings
