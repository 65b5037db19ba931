// The settle order of searches, and results as Python lists and dicts, for the NetworkX backend.
#include "arrays.hpp"
#include "parallel/team.hpp"
#include "sssp/settle_order.hpp"

namespace kleene::bindings {
namespace {

// One row per source, or one row for all sources together; rows are the caller's, order and
// tree_arcs filled with -1.
void settle_order(const Offsets& offsets, const Array<std::int32_t>& neighbors,
                  const OptionalArray& weights, const AnyOutput& distances,
                  const nb::object& no_path, const Array<std::int32_t>& sources,
                  MutableArray<std::int32_t> order, MutableArray<std::int64_t> tree_arcs,
                  MutableArray<std::int64_t> counts, int threads) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto rows = static_cast<std::int64_t>(counts.size());
  const auto each = static_cast<std::int64_t>(sources.size()) / (rows ? rows : 1);
  const auto run = [&]<class Weight, class Distance>(Type<Weight>, Type<Distance>) {
    const auto* lengths = weights ? static_cast<const Weight*>(weights->data()) : nullptr;
    const Arcs<std::int32_t, Weight> arcs{n, offsets.data(), neighbors.data(), lengths};
    const auto* values = static_cast<const Distance*>(distances.data());
    const auto unreached = nb::cast<Distance>(no_path);
    PythonMonitor monitor(nb::none(), rows);
    const GilRelease release;
    parallel::parallel_for(rows, 1, threads, monitor, [&](std::int64_t row, std::int64_t, int) {
      counts.data()[row] = sssp::settle_order<Weight, Distance>(
          arcs, values + row * n, unreached, sources.data() + row * each, each,
          order.data() + row * n, tree_arcs.data() + row * n);
    });
  };
  if (!weights) {
    if (distances.dtype() != nb::dtype<std::int32_t>()) raise_wrong_type();
    return run(Type<NoWeight>{}, Type<std::int32_t>{});
  }
  if (weights->dtype() != distances.dtype()) raise_wrong_type();
  with_type<std::int64_t, double>(distances.dtype(), [&](auto type) { run(type, type); });
}

// The path of each vertex of `order`, as a list of names. A vertex comes after its predecessor; a
// predecessor of -1 begins a path.
nb::list path_lists(const nb::list& names, const Array<std::int32_t>& order,
                    const Array<std::int32_t>& predecessors, bool reversed) {
  const auto count = static_cast<Py_ssize_t>(order.size());
  std::vector<PyObject*> of_vertex(nb::len(names), nullptr);
  nb::list paths = nb::steal<nb::list>(PyList_New(count));
  if (!paths.is_valid()) throw nb::python_error();
  for (Py_ssize_t i = 0; i < count; ++i) {
    const std::int32_t v = order.data()[i], predecessor = predecessors.data()[v];
    PyObject* before = predecessor < 0 ? nullptr : of_vertex[static_cast<std::size_t>(predecessor)];
    PyObject* path = PyList_New(1);
    if (!path) throw nb::python_error();
    PyList_SetItem(path, 0, Py_NewRef(PyList_GetItem(names.ptr(), v)));
    if (before) {
      PyObject* own = path;
      path = reversed ? PySequence_Concat(own, before) : PySequence_Concat(before, own);
      Py_DECREF(own);
      if (!path) throw nb::python_error();
    }
    PyList_SetItem(paths.ptr(), i, path);
    of_vertex[static_cast<std::size_t>(v)] = path;
  }
  return paths;
}

inline PyObject* to_python(std::int32_t value) { return PyLong_FromLong(value); }
inline PyObject* to_python(std::int64_t value) { return PyLong_FromLongLong(value); }
inline PyObject* to_python(double value) { return PyFloat_FromDouble(value); }

// The distance of each vertex of `order` by its name, in this order; the first `sources` of them
// are the integer 0, whatever the type of the distances.
nb::dict distance_dict(const nb::list& names, const Array<std::int32_t>& order,
                       const AnyArray& distances, std::int64_t sources) {
  nb::dict made;
  with_type<std::int32_t, std::int64_t, double>(distances.dtype(), [&]<class T>(Type<T>) {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(order.size()); ++i) {
      const std::int32_t v = order.data()[i];
      PyObject* value =
          i < sources ? PyLong_FromLong(0) : to_python(static_cast<const T*>(distances.data())[v]);
      if (!value) throw nb::python_error();
      const int failed = PyDict_SetItem(made.ptr(), PyList_GetItem(names.ptr(), v), value);
      Py_DECREF(value);
      if (failed) throw nb::python_error();
    }
  });
  return made;
}

}  // namespace

void bind_sssp_settle_order(nb::module_& m) {
  m.def("settle_order", &settle_order, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::arg("distances"), nb::arg("no_path"), nb::arg("sources"),
        nb::arg("order"), nb::arg("tree_arcs"), nb::arg("counts"), nb::arg("threads"));
  m.def("distance_dict", &distance_dict, nb::arg("names"), nb::arg("order"), nb::arg("distances"),
        nb::arg("sources"));
  m.def("path_lists", &path_lists, nb::arg("names"), nb::arg("order"), nb::arg("predecessors"),
        nb::arg("reversed"));
}

}  // namespace kleene::bindings
