#include "arrays.hpp"
#include "csr_forms.hpp"
#include "graph/dense_arcs.hpp"
#include "machine.hpp"

namespace kleene {
namespace {

PyObject* bad_arc_type = nullptr;

[[noreturn]] void raise(const BadArc& bad) {
  static constexpr const char* kNames[] = {"source", "target", "weight"};
  const nb::object args = nb::make_tuple(kNames[static_cast<int>(bad.fault)], bad.position);
  PyErr_SetObject(bad_arc_type, args.ptr());
  throw nb::python_error();
}

Combine parse_combine(const std::string& name) {
  return name == "max" ? Combine::kMax : name == "sum" ? Combine::kSum : Combine::kMin;
}

// Runs without the GIL; a BadArc becomes the Python exception of that name.
template <class Work>
auto guarded(Work&& work) {
  std::optional<BadArc> bad;
  {
    nb::gil_scoped_release release;
    try {
      return work();
    } catch (const BadArc& caught) {
      bad = caught;
    }
  }
  raise(*bad);
}

template <class Id, class W>
nb::object as_tuple(Csr<Id, W>&& csr) {
  return nb::make_tuple(to_numpy(std::move(csr.offsets)), to_numpy(std::move(csr.neighbors)),
                        to_numpy(std::move(csr.weights)));
}

nb::object build(std::int64_t n, const AnyArray& sources, const AnyArray& targets,
                 const std::optional<AnyArray>& weights, bool symmetric, const std::string& combine,
                 int threads, const nb::object& progress) {
  const auto arcs = static_cast<std::int64_t>(sources.size());
  PythonMonitor monitor(progress, 2 * arcs + 2 * n);
  return with_id_type(sources, [&]<class InId>(Type<InId>) {
    return with_weights(weights, [&]<class W>(Type<W>, const W* values) {
      const auto make = [&]<class Id>(Type<Id>) {
        auto csr = guarded([&] {
          return build_csr<InId, Id, W>(n, arcs, static_cast<const InId*>(sources.data()),
                                        static_cast<const InId*>(targets.data()), values, symmetric,
                                        parse_combine(combine), threads, monitor);
        });
        return as_tuple(std::move(csr));
      };
      if constexpr (sizeof(InId) == 8) {
        return n > INT32_MAX ? make(Type<std::int64_t>{}) : make(Type<std::int32_t>{});
      } else {
        return make(Type<std::int32_t>{});
      }
    });
  });
}

nb::object transpose(const Array<std::int64_t>& offsets, const AnyArray& neighbors,
                     const std::optional<AnyArray>& weights, int threads) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  PythonMonitor monitor(nb::none(), n);
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    return with_weights(weights, [&]<class W>(Type<W>, const W* values) {
      return as_tuple(guarded([&] {
        return csr_transpose<Id, W>(n, offsets.data(), static_cast<const Id*>(neighbors.data()),
                                    values, threads, monitor);
      }));
    });
  });
}

nb::object symmetric(const Array<std::int64_t>& offsets, const AnyArray& neighbors,
                     const std::optional<AnyArray>& weights, int threads) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  PythonMonitor monitor(nb::none(), n);
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    return with_weights(weights, [&]<class W>(Type<W>, const W* values) {
      return nb::object(nb::bool_(guarded([&] {
        return csr_is_symmetric<Id, W>(n, offsets.data(), static_cast<const Id*>(neighbors.data()),
                                       values, threads, monitor);
      })));
    });
  });
}

// Both graphs have ids and weights of the same types.
nb::object join(const Array<std::int64_t>& offsets, const AnyArray& neighbors,
                const std::optional<AnyArray>& weights, const Array<std::int64_t>& other_offsets,
                const AnyArray& other_neighbors, const std::optional<AnyArray>& other_weights,
                int threads) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  PythonMonitor monitor(nb::none(), n);
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    return with_weights(weights, [&]<class W>(Type<W>, const W* values) {
      const auto* others = other_weights ? static_cast<const W*>(other_weights->data()) : nullptr;
      return as_tuple(guarded([&] {
        return csr_union<Id, W>(n, offsets.data(), static_cast<const Id*>(neighbors.data()), values,
                                other_offsets.data(),
                                static_cast<const Id*>(other_neighbors.data()), others, threads,
                                monitor);
      }));
    });
  });
}

nb::object from_matrix(const nb::ndarray<const double, nb::ndim<2>, nb::c_contig>& matrix,
                       bool loops, int threads) {
  const auto n = static_cast<std::int64_t>(matrix.shape(0));
  PythonMonitor monitor(nb::none(), n);
  return as_tuple(
      guarded([&] { return csr_from_matrix(n, matrix.data(), loops, threads, monitor); }));
}

nb::object canonical(const Array<std::int64_t>& offsets, const AnyArray& neighbors,
                     const std::optional<AnyArray>& weights, int threads) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  PythonMonitor monitor(nb::none(), n);
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    return with_weights(weights, [&]<class W>(Type<W>, const W* values) {
      return nb::object(nb::bool_(guarded([&] {
        return is_canonical<Id, W>(n, offsets.data(), static_cast<const Id*>(neighbors.data()),
                                   values, threads, monitor);
      })));
    });
  });
}

nb::object sweep(const Array<std::int64_t>& offsets, const AnyArray& neighbors,
                 std::int64_t source) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  PythonMonitor monitor(nb::none(), n);
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    const Sweep s = guarded([&] {
      return bfs_sweep<Id>(n, offsets.data(), static_cast<const Id*>(neighbors.data()), source,
                           monitor);
    });
    return nb::object(nb::make_tuple(s.depth, s.last, s.reached));
  });
}

// Copies a matrix in canonical form; returns the extreme weights and the place of a bad entry.
template <class T>
void bind_matrix(nb::module_& m) {
  using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  m.def(
      "dense_canonical",
      [](const Matrix& entries, std::optional<T> null, bool null_nan, MutableArray<T> matrix,
         MutableArray<std::int64_t> degrees, MutableArray<Magnitude<T>> heaviest, int threads) {
        const auto n = static_cast<std::int64_t>(entries.shape(0));
        PythonMonitor monitor(nb::none(), n);
        DenseSummary<T> summary;
        {
          const nb::gil_scoped_release release;
          summary = dense_canonical(entries.data(), n, null, null_nan, matrix.data(),
                                    degrees.data(), heaviest.data(), threads, monitor);
        }
        return nb::make_tuple(summary.lowest, summary.highest, summary.bad);
      },
      nb::arg("entries"), nb::arg("null").none(), nb::arg("null_nan"), nb::arg("matrix"),
      nb::arg("degrees"), nb::arg("heaviest"), nb::arg("threads"));
  m.def(
      "dense_to_csr",
      [](const Matrix& matrix, const Array<std::int64_t>& offsets,
         MutableArray<std::int32_t> neighbors, MutableArray<T> weights, int threads) {
        const auto n = static_cast<std::int64_t>(matrix.shape(0));
        PythonMonitor monitor(nb::none(), n);
        const nb::gil_scoped_release release;
        dense_to_csr(matrix.data(), n, offsets.data(), neighbors.data(), weights.data(), threads,
                     monitor);
      },
      nb::arg("matrix"), nb::arg("offsets"), nb::arg("neighbors"), nb::arg("weights"),
      nb::arg("threads"));
}

}  // namespace

void bind_graph(nb::module_& m) {
  bad_arc_type = PyErr_NewException("kleene._native.BadArc", PyExc_ValueError, nullptr);
  m.attr("BadArc") = nb::borrow(bad_arc_type);

  m.def("build_csr", &build, nb::arg("n"), nb::arg("sources"), nb::arg("targets"),
        nb::arg("weights").none(), nb::arg("symmetric"), nb::arg("combine"), nb::arg("threads"),
        nb::arg("progress").none() = nb::none());
  m.def("is_canonical", &canonical, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::arg("threads"));
  m.def("csr_transpose", &transpose, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::arg("threads"));
  m.def("csr_is_symmetric", &symmetric, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::arg("threads"));
  m.def("csr_union", &join, nb::arg("offsets"), nb::arg("neighbors"), nb::arg("weights").none(),
        nb::arg("other_offsets"), nb::arg("other_neighbors"), nb::arg("other_weights").none(),
        nb::arg("threads"));
  m.def("csr_from_matrix", &from_matrix, nb::arg("matrix"), nb::arg("loops"), nb::arg("threads"));
  bind_matrix<float>(m);
  bind_matrix<double>(m);
  bind_matrix<std::int32_t>(m);
  bind_matrix<std::int64_t>(m);
  m.def("bfs_sweep", &sweep, nb::arg("offsets"), nb::arg("neighbors"), nb::arg("source"));
  m.def("simd", &simd_level);
}

}  // namespace kleene
