// DLPack: arrays in memory that Python objects own, on any device, for other libraries to take.
//
// The capsule is made here and not by nanobind, whose arrays end the process when memory is short.
#include <nanobind/stl/pair.h>

#include <array>
#include <memory>
#include <utility>

#include "arrays.hpp"

namespace kleene::bindings {
namespace {

// DLManagedTensor of the standard (version 0), and what it points to.
struct ManagedTensor {
  nb::dlpack::dltensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
  std::array<std::int64_t, 2> shape, strides;
};

constexpr const char* kFresh = "dltensor";  // the name of a capsule that no one has taken

// Called by whoever took the array: from any thread, with the GIL or without.
void release(ManagedTensor* managed) {
  if (!nb::is_alive()) return;  // the process is about to exit
  const nb::gil_scoped_acquire gil;
  Py_DECREF(static_cast<PyObject*>(managed->context));
  delete managed;
}

void release_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kFresh) == 0) return;
  release(static_cast<ManagedTensor*>(PyCapsule_GetPointer(capsule, kFresh)));
}

// Returns a capsule of an array of one or two dimensions without gaps; whatever takes it keeps the
// owner alive. `shape` has one row for an array of one dimension. `code` and `device_type` are
// those of the standard.
nb::object dlpack_capsule(std::uintptr_t address, std::pair<std::int64_t, std::int64_t> shape,
                          int ndim, int code, int bits, int device_type, int device_id,
                          const nb::object& owner) {
  auto managed = std::make_unique<ManagedTensor>();
  managed->shape = {shape.first, shape.second};
  managed->strides = {shape.second, 1};
  const int skipped = 2 - ndim;
  nb::dlpack::dltensor& tensor = managed->tensor;
  tensor.data = reinterpret_cast<void*>(address);
  tensor.device = {device_type, device_id};
  tensor.ndim = ndim;
  tensor.dtype = {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
  tensor.shape = managed->shape.data() + skipped;
  tensor.strides = managed->strides.data() + skipped;
  managed->context = owner.ptr();
  managed->deleter = release;
  PyObject* capsule = PyCapsule_New(managed.get(), kFresh, release_capsule);
  if (capsule == nullptr) throw nb::python_error();
  Py_INCREF(owner.ptr());
  managed.release();  // the capsule's
  return nb::steal(capsule);
}

}  // namespace

void bind_dlpack(nb::module_& m) {
  m.def("dlpack_capsule", &dlpack_capsule, nb::arg("address"), nb::arg("shape"), nb::arg("ndim"),
        nb::arg("code"), nb::arg("bits"), nb::arg("device_type"), nb::arg("device_id"),
        nb::arg("owner"));
}

}  // namespace kleene::bindings
