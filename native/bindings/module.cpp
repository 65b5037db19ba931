#include <algorithm>
#include <exception>
#include <new>
#include <vector>

#include "arrays.hpp"
#include "bfs/bfs.hpp"
#include "closure/closure.hpp"
#include "simd/levels.hpp"
#include "sssp/sssp.hpp"

namespace kleene::bindings {

void raise_wrong_type() { throw nb::type_error("an array of a type that is not supported here"); }

Semiring parse_semiring(std::string_view name) {
  if (name == "boolean") return Semiring::kBoolean;
  if (name == "max_min") return Semiring::kMaxMin;
  if (name == "max_times") return Semiring::kMaxTimes;
  if (name == "plus_times") return Semiring::kPlusTimes;
  return Semiring::kMinPlus;
}

void PythonMonitor::report(std::uint64_t done) {
  GilAcquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (!progress_.is_none()) progress_(std::min(done, total_), total_);
}

namespace {

struct MethodRow {
  const char* problem;
  graph::MethodTraits traits;
};

template <class Methods>
void append(nb::list& rows, const char* problem, const Methods& methods) {
  for (const auto& method : methods) rows.append(MethodRow{problem, method.traits});
}

// Every method of the core, problem by problem.
nb::list methods() {
  nb::list rows;
  append(rows, "bfs", bfs::methods<std::int32_t>());
  append(rows, "sssp", sssp::methods<std::int32_t, double>());
  append(rows, "closure", closure::methods<double>());
  return rows;
}

void bind_methods(nb::module_& m) {
  nb::class_<MethodRow>(m, "Method")
      .def_ro("problem", &MethodRow::problem)
      .def_prop_ro("name", [](const MethodRow& row) { return row.traits.name; })
      .def_prop_ro("incoming", [](const MethodRow& row) { return row.traits.incoming; })
      .def_prop_ro("needs_tails", [](const MethodRow& row) { return row.traits.needs_tails; })
      .def_prop_ro("stops_early", [](const MethodRow& row) { return row.traits.stops_early; })
      .def_prop_ro("any_semiring", [](const MethodRow& row) { return row.traits.any_semiring; });
  m.def("methods", &methods);
  m.def("simd", &simd::widest);
  m.def("simd_levels", [] {
    nb::list names;
    for (const std::string& name : simd::levels()) names.append(name.c_str());
    return names;
  });
}

// Out of memory, wherever it happens, is Kleene's error for it.
void bind_errors() {
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
      const nb::object type = nb::module_::import_("kleene.errors").attr("MemoryBudgetError");
      PyErr_SetString(type.ptr(),
                      "the system gave no more memory for this call, which kept nothing; free "
                      "some, raise the limit of the process, or ask for less at a time");
    }
  });
}

}  // namespace
}  // namespace kleene::bindings

NB_MODULE(_native, m) {
  using namespace kleene::bindings;
  m.doc() = "Kleene's C++ core. Arguments are trusted: the Python layers check them first.";
  nb::set_leak_warnings(false);  // a daemon thread inside a call holds references at exit
  bind_errors();
  bind_apsp_distance_encodings(m);
  bind_bfs(m);
  bind_closure(m);
  bind_components(m);
  bind_dlpack(m);
  bind_generate(m);
  bind_graph(m);
  bind_measures_betweenness(m);
  bind_measures_distances(m);
  bind_measures_paths(m);
  bind_methods(m);
  bind_parts(m);
  bind_prepared_customization(m);
  bind_prepared_elimination(m);
  bind_prepared_pairs(m);
  bind_prepared_sweeps(m);
  bind_spmv(m);
  bind_sssp(m);
  bind_near(m);
  bind_stored_rows(m);
  bind_text(m);
}
