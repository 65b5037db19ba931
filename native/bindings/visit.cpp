#include "visit.hpp"

#include "arrays.hpp"
#include "parallel.hpp"

namespace kleene {
namespace {

// One row per source, or one row for all sources together; rows are the caller's, order and
// arrivals filled with -1.
template <class Weight, class Distance>
void bind_visit_rows(nb::module_& m) {
  m.def(
      "visit",
      [](const Array<std::int64_t>& offsets, const Array<std::int32_t>& neighbors,
         const std::optional<AnyArray>& weights, MutableArray<const Distance> distances,
         Distance no_path, const Array<std::int32_t>& sources, MutableArray<std::int32_t> order,
         MutableArray<std::int64_t> arrivals, MutableArray<std::int64_t> counts, int threads) {
        const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
        const auto rows = static_cast<std::int64_t>(counts.size());
        const auto each = static_cast<std::int64_t>(sources.size()) / (rows ? rows : 1);
        const auto* lengths = weights ? static_cast<const Weight*>(weights->data()) : nullptr;
        const VisitArcs<Weight> arcs{n, offsets.data(), neighbors.data(), lengths};
        PythonMonitor monitor(nb::none(), rows);
        const nb::gil_scoped_release release;
        parallel_for(rows, 1, threads, monitor, [&](std::int64_t row, std::int64_t, int) {
          counts.data()[row] = visit<Weight, Distance>(
              arcs, distances.data() + row * n, no_path, sources.data() + row * each, each,
              order.data() + row * n, arrivals.data() + row * n);
        });
      },
      nb::arg("offsets"), nb::arg("neighbors"), nb::arg("weights").none(), nb::arg("distances"),
      nb::arg("no_path"), nb::arg("sources"), nb::arg("order"), nb::arg("arrivals"),
      nb::arg("counts"), nb::arg("threads"));
}

// The path of each vertex of `order`, as a list of names. A vertex comes after its parent, and a
// parent of -1 begins a path.
nb::list path_lists(const nb::list& names, const Array<std::int32_t>& order,
                    const Array<std::int32_t>& parents, bool reversed) {
  const auto count = static_cast<Py_ssize_t>(order.size());
  std::vector<PyObject*> of_vertex(nb::len(names), nullptr);
  nb::list paths = nb::steal<nb::list>(PyList_New(count));
  if (!paths.is_valid()) throw nb::python_error();
  for (Py_ssize_t i = 0; i < count; ++i) {
    const std::int32_t v = order.data()[i], parent = parents.data()[v];
    PyObject* before = parent < 0 ? nullptr : of_vertex[static_cast<std::size_t>(parent)];
    const Py_ssize_t length = before ? PyList_GET_SIZE(before) : 0;
    PyObject* path = PyList_New(length + 1);
    if (!path) throw nb::python_error();
    const Py_ssize_t shift = reversed ? 1 : 0;
    for (Py_ssize_t k = 0; k < length; ++k) {
      PyList_SET_ITEM(path, k + shift, Py_NewRef(PyList_GET_ITEM(before, k)));
    }
    PyList_SET_ITEM(path, reversed ? 0 : length, Py_NewRef(PyList_GET_ITEM(names.ptr(), v)));
    PyList_SET_ITEM(paths.ptr(), i, path);
    of_vertex[static_cast<std::size_t>(v)] = path;
  }
  return paths;
}

inline PyObject* to_python(std::int32_t value) { return PyLong_FromLong(value); }
inline PyObject* to_python(std::int64_t value) { return PyLong_FromLongLong(value); }
inline PyObject* to_python(double value) { return PyFloat_FromDouble(value); }

// The value of each vertex of `order` by its name, in this order; the first `sources` of them are
// the integer 0, whatever the type of the values.
template <class Distance>
nb::dict value_dict(const nb::list& names, const Array<std::int32_t>& order,
                    const Array<Distance>& values, std::int64_t sources) {
  nb::dict made;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(order.size()); ++i) {
    const std::int32_t v = order.data()[i];
    PyObject* value = i < sources ? PyLong_FromLong(0) : to_python(values.data()[v]);
    if (!value) throw nb::python_error();
    const int failed = PyDict_SetItem(made.ptr(), PyList_GET_ITEM(names.ptr(), v), value);
    Py_DECREF(value);
    if (failed) throw nb::python_error();
  }
  return made;
}

template <class Distance>
void bind_value_dict(nb::module_& m) {
  m.def("value_dict", &value_dict<Distance>, nb::arg("names"), nb::arg("order"), nb::arg("values"),
        nb::arg("sources"));
}

}  // namespace

void bind_visit(nb::module_& m) {
  bind_visit_rows<NoWeight, std::int32_t>(m);
  bind_visit_rows<std::int64_t, std::int64_t>(m);
  bind_visit_rows<double, double>(m);
  bind_value_dict<std::int32_t>(m);
  bind_value_dict<std::int64_t>(m);
  bind_value_dict<double>(m);
  m.def("path_lists", &path_lists, nb::arg("names"), nb::arg("order"), nb::arg("parents"),
        nb::arg("reversed"));
}

}  // namespace kleene
