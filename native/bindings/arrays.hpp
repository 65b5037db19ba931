// What every binding file needs: NumPy arrays in and out, dispatch on their types, and a Monitor
// that speaks Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "buffer.hpp"
#include "csr.hpp"
#include "monitor.hpp"

namespace nb = nanobind;

namespace kleene {

using AnyArray = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The caller's memory, to be filled in place; any shape, seen as one run of entries.
template <class T>
using MutableArray = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

template <class T>
using NumpyArray = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// Hands a buffer's memory to NumPy without copying it.
template <class T>
nb::object to_numpy(Buffer<T>&& values) {
  const auto size = static_cast<std::size_t>(values.size());
  T* data = values.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::cast(NumpyArray<T>(data, {size}, owner));
}

// None for a graph without weights.
inline nb::object to_numpy(Buffer<NoWeight>&&) { return nb::none(); }

template <class T>
struct Type {
  using type = T;
};

// Calls body(Type<int32_t or int64_t>{}) according to what the array holds.
template <class Body>
nb::object with_id_type(const AnyArray& ids, Body&& body) {
  if (ids.dtype() == nb::dtype<std::int32_t>()) return body(Type<std::int32_t>{});
  if (ids.dtype() == nb::dtype<std::int64_t>()) return body(Type<std::int64_t>{});
  throw nb::type_error("vertex ids must be int32 or int64");
}

// Calls body(Type<Weight>{}, pointer); NoWeight and null for None.
template <class Body>
nb::object with_weights(const std::optional<AnyArray>& weights, Body&& body) {
  if (!weights) return body(Type<NoWeight>{}, static_cast<const NoWeight*>(nullptr));
  const auto typed = [&]<class W>(Type<W> type) {
    return body(type, static_cast<const W*>(weights->data()));
  };
  if (weights->dtype() == nb::dtype<float>()) return typed(Type<float>{});
  if (weights->dtype() == nb::dtype<double>()) return typed(Type<double>{});
  if (weights->dtype() == nb::dtype<std::int32_t>()) return typed(Type<std::int32_t>{});
  if (weights->dtype() == nb::dtype<std::int64_t>()) return typed(Type<std::int64_t>{});
  throw nb::type_error("weights must be float32, float64, int32 or int64");
}

// Checks for Ctrl-C and calls progress(done, total); made and destroyed with the GIL held.
class PythonMonitor final : public Monitor {
 public:
  PythonMonitor(nb::object progress, std::int64_t total)
      : progress_(std::move(progress)), total_(static_cast<std::uint64_t>(total)) {}

  // All is done: the last report, whenever the one before was.
  void finish() { report(total_); }

 protected:
  void report(std::uint64_t done) override {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress_.is_none()) progress_(std::min(done, total_), total_);
  }

 private:
  nb::object progress_;
  std::uint64_t total_;
};

void bind_bfs(nb::module_& m);
void bind_encodings(nb::module_& m);
void bind_generate(nb::module_& m);
void bind_dense(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_sssp(nb::module_& m);
void bind_text(nb::module_& m);
void bind_spmv(nb::module_& m);
void bind_visit(nb::module_& m);

}  // namespace kleene
