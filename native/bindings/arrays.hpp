// What every binding file needs: NumPy arrays in and out, dispatch on their types, and a Monitor
// that calls Python.
//
// Functions take arrays of any type and dispatch inside, so that nanobind's argument handling is
// compiled once per function and not once per combination of types.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "gil.hpp"
#include "graph/arcs.hpp"
#include "graph/semiring.hpp"
#include "parallel/buffer.hpp"
#include "parallel/monitor.hpp"

namespace nb = nanobind;

namespace kleene::bindings {

using graph::Arcs;
using graph::NoWeight;
using graph::Semiring;
using parallel::Buffer;
using parallel::Monitor;

using AnyArray = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OptionalArray = std::optional<AnyArray>;

// Read-only, any shape.
using AnyInput = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The caller's memory, to be filled in place; any shape, seen as one run of entries.
using AnyOutput = nb::ndarray<nb::c_contig, nb::device::cpu>;
using OptionalOutput = std::optional<AnyOutput>;

template <class T>
using MutableArray = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

template <class T>
using NumpyArray = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

using Offsets = Array<std::int64_t>;

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

// ---- dispatch -----------------------------------------------------------------------------------

template <class T>
struct Type {
  using type = T;
};

[[noreturn]] void raise_wrong_type();

// Raises kleene._native.MemoryNeeded; with the GIL held.
[[noreturn]] void raise_memory_needed(std::int64_t bytes);

// The entries of an array that must hold T; null for no array.
template <class T, class AnyTyped>
auto* data_of(const AnyTyped& array) {
  if (array.dtype() != nb::dtype<T>()) raise_wrong_type();
  return static_cast<std::conditional_t<std::is_same_v<AnyTyped, AnyArray>, const T, T>*>(
      array.data());
}

template <class T, class AnyTyped>
auto* data_of(const std::optional<AnyTyped>& array) {
  return array ? data_of<T>(*array) : nullptr;
}

// Calls body(Type<T>{}) for the one of the types that the array holds.
template <class First, class... Rest, class Body>
auto with_type(nb::dlpack::dtype dtype, Body&& body) {
  if constexpr (sizeof...(Rest) > 0) {
    if (dtype != nb::dtype<First>()) return with_type<Rest...>(dtype, body);
  }
  if (dtype != nb::dtype<First>()) raise_wrong_type();
  return body(Type<First>{});
}

template <class Body>
auto with_id_type(const AnyArray& ids, Body&& body) {
  return with_type<std::int32_t, std::int64_t>(ids.dtype(), body);
}

template <class Body>
auto with_value_type(nb::dlpack::dtype dtype, Body&& body) {
  return with_type<float, double, std::int32_t, std::int64_t>(dtype, body);
}

// Raises unless each array has one entry per arc. The contents of a graph's arrays cannot change,
// but NumPy lets a user assign to the dtype or the shape of an array, which changes its size.
template <class... Arrays>
void require_arcs(const Offsets& offsets, const Arrays&... arrays) {
  const auto size_of = [](const auto& array) -> std::int64_t {
    if constexpr (requires { array.has_value(); }) {
      return array ? static_cast<std::int64_t>(array->size()) : -1;
    } else {
      return static_cast<std::int64_t>(array.size());
    }
  };
  const std::int64_t arcs = offsets.size() == 0 ? -2 : offsets.data()[offsets.size() - 1];
  const auto is_sound = [&](std::int64_t size) { return size == arcs || size == -1; };
  if (arcs < 0 || !(is_sound(size_of(arrays)) && ...)) raise_wrong_type();
}

// Calls body(Arcs<Id, Weight>) with the types of the arrays; NoWeight for weights of None.
template <class Body>
auto with_arcs(const Offsets& offsets, const AnyArray& neighbors, const OptionalArray& weights,
               Body&& body) {
  require_arcs(offsets, neighbors, weights);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    const auto* heads = static_cast<const Id*>(neighbors.data());
    if (!weights) return body(Arcs<Id>{n, offsets.data(), heads});
    return with_value_type(weights->dtype(), [&]<class W>(Type<W>) {
      return body(Arcs<Id, W>{n, offsets.data(), heads, static_cast<const W*>(weights->data())});
    });
  });
}

Semiring parse_semiring(std::string_view name);

// ---- progress -----------------------------------------------------------------------------------

// Checks for Ctrl-C and calls progress(done, total); made and destroyed with the GIL held.
class PythonMonitor final : public Monitor {
 public:
  PythonMonitor(nb::object progress, std::int64_t total)
      : progress_(std::move(progress)), total_(static_cast<std::uint64_t>(total)) {}

  // Reports that all is done, whenever the last report was.
  void finish() { report(total_); }

 protected:
  void report(std::uint64_t done) override;

 private:
  nb::object progress_;
  std::uint64_t total_;
};

void bind_apsp_distance_encodings(nb::module_& m);
void bind_bfs(nb::module_& m);
void bind_closure(nb::module_& m);
void bind_components(nb::module_& m);
void bind_dlpack(nb::module_& m);
void bind_generate(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_measures_betweenness(nb::module_& m);
void bind_measures_distances(nb::module_& m);
void bind_measures_paths(nb::module_& m);
void bind_parts(nb::module_& m);
void bind_prepared_customization(nb::module_& m);
void bind_prepared_elimination(nb::module_& m);
void bind_prepared_pairs(nb::module_& m);
void bind_prepared_sweeps(nb::module_& m);
void bind_spmv(nb::module_& m);
void bind_sssp(nb::module_& m);
void bind_near(nb::module_& m);
void bind_stored_rows(nb::module_& m);
void bind_text(nb::module_& m);

}  // namespace kleene::bindings
