// DLPack: arrays in memory that Python objects own, on any device, for other libraries to take.
#include <nanobind/stl/vector.h>

#include <vector>

#include "arrays.hpp"

namespace kleene::bindings {
namespace {

// Returns a DLPack capsule; it, and whatever takes its memory, keeps the owner alive. `code` and
// `device_type` are those of the standard.
nb::object dlpack_capsule(std::uintptr_t address, const std::vector<std::size_t>& shape, int code,
                          int bits, int device_type, int device_id, const nb::object& owner) {
  const nb::dlpack::dtype dtype{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits),
                                1};
  return nb::cast(nb::ndarray<>(reinterpret_cast<void*>(address), shape.size(), shape.data(), owner,
                                nullptr, dtype, device_type, device_id));
}

}  // namespace

void bind_dlpack(nb::module_& m) {
  m.def("dlpack_capsule", &dlpack_capsule, nb::arg("address"), nb::arg("shape"), nb::arg("code"),
        nb::arg("bits"), nb::arg("device_type"), nb::arg("device_id"), nb::arg("owner"));
}

}  // namespace kleene::bindings
