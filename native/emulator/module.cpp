// Bindings of the emulator. KLEENE_MODULE is the name of the module: the same runtime is built with
// different kernels, checked and unchecked.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <tuple>

#include "checker.hpp"
#include "gil.hpp"
#include "launch.hpp"

namespace nb = nanobind;

namespace kleene::emulator {
namespace {

#ifdef KLEENE_CHECKED
constexpr bool kChecked = true;
#else
constexpr bool kChecked = false;
#endif

class PythonMonitor final : public Monitor {
 protected:
  void report(std::uint64_t) override {
    bindings::GilAcquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
};

using Shape = std::tuple<unsigned, unsigned, unsigned>;

dim3 as_dim(const Shape& shape) {
  return {std::get<0>(shape), std::get<1>(shape), std::get<2>(shape)};
}

nb::list list_kernels() {
  nb::list rows;
  std::size_t number = 0;
  for (const Kernel& kernel : kernels()) {
    rows.append(nb::make_tuple(number++, kernel.file, kernel.variant, kernel.name, kernel.codes,
                               kernel.max_threads));
  }
  return rows;
}

void launch(std::size_t number, const Shape& grid, const Shape& block, const nb::bytes& arguments,
            std::uint32_t shared, bool cooperative, std::uint64_t seed, std::uint32_t yields,
            int workers) {
  const Kernel& kernel = kernels().at(number);
  std::vector<std::uint64_t> slots(arguments.size() / 8 + 1);
  std::memcpy(slots.data(), arguments.c_str(), arguments.size());
  if (arguments.size() != kernel.argument_bytes) {
    throw std::invalid_argument("the arguments have another size than the parameters");
  }
  const Launch what{&kernel, as_dim(grid), as_dim(block), slots.data(), shared,
                    seed,    yields,       workers,       cooperative,  kChecked};
  PythonMonitor monitor;
  const bindings::GilRelease release;
  run(what, monitor);
}

}  // namespace
}  // namespace kleene::emulator

NB_MODULE(KLEENE_MODULE, m) {
  using namespace kleene::emulator;
  m.doc() = "The emulator: CUDA kernels compiled for the CPU, and their launcher.";
  nb::set_leak_warnings(false);  // a daemon thread inside a call holds references at exit
  m.attr("checked") = kChecked;
  nb::exception<KernelError>(m, "KernelError", PyExc_RuntimeError);
  nb::exception<ThreadError>(m, "ThreadError", PyExc_RuntimeError);
  m.def("kernels", &list_kernels);
  m.def("register_array", &register_array, nb::arg("first"), nb::arg("bytes"), nb::arg("item"),
        nb::arg("name"));
  m.def("forget_array", &forget_array, nb::arg("first"));
  m.def("launch", &launch, nb::arg("kernel"), nb::arg("grid"), nb::arg("block"),
        nb::arg("arguments"), nb::arg("shared"), nb::arg("cooperative"), nb::arg("seed"),
        nb::arg("yields"), nb::arg("workers"));
}
