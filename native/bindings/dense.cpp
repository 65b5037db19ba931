#include "dense.hpp"

#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <vector>

#include "arrays.hpp"
#include "graph/dense_arcs.hpp"
#include "parallel.hpp"

namespace kleene {
namespace {

using AnyMatrix = nb::ndarray<nb::c_contig, nb::device::cpu>;
using AnyConstMatrix = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Ids = Array<std::int32_t>;
using Offsets = Array<std::int64_t>;
using Predecessors = MutableArray<std::int32_t>;

// Calls body(Type<T>{}) for the first of the types that the array holds.
template <class... Ts, class Body>
nb::object with_type(nb::dlpack::dtype dtype, Body&& body) {
  nb::object result;
  const bool known = ((dtype == nb::dtype<Ts>() && (result = body(Type<Ts>{}), true)) || ...);
  if (!known) throw nb::type_error("a matrix of this type is not served");
  return result;
}

Algebra parse_algebra(const std::string& semiring) {
  if (semiring == "min_plus") return Algebra::kMinPlus;
  if (semiring == "max_min") return Algebra::kMaxMin;
  if (semiring == "max_times") return Algebra::kMaxTimes;
  return Algebra::kBoolean;
}

template <class T>
DenseMatrix<T> as_matrix(const AnyMatrix& matrix, const std::optional<Predecessors>& last) {
  return {static_cast<std::int64_t>(matrix.shape(0)), static_cast<T*>(matrix.data()),
          last ? last->data() : nullptr};
}

template <class T>
DenseArcs<T> as_arcs(const Offsets& offsets, const Ids& neighbors,
                     const std::optional<AnyArray>& weights,
                     const std::optional<Array<bool>>& used) {
  return {offsets.data(), neighbors.data(),
          weights ? static_cast<const T*>(weights->data()) : nullptr,
          used ? used->data() : nullptr};
}

void fill(const std::string& semiring, const Offsets& offsets, const Ids& neighbors,
          const std::optional<AnyArray>& weights, const std::optional<Array<bool>>& used,
          const nb::object& no_path, AnyMatrix matrix, std::optional<Predecessors> last,
          int threads) {
  PythonMonitor monitor(nb::none(), 0);
  if (matrix.dtype() == nb::dtype<std::uint64_t>()) {
    const nb::gil_scoped_release release;
    dense_fill_bits(as_matrix<std::uint64_t>(matrix, last), offsets.data(), neighbors.data(),
                    threads, monitor);
    return;
  }
  with_type<float, double, std::int16_t, std::int32_t, std::int64_t, std::uint8_t>(
      matrix.dtype(), [&]<class T>(Type<T>) {
        Scale<T> scale = scale_of<T>(parse_algebra(semiring));
        scale.zero = nb::cast<T>(no_path);
        const nb::gil_scoped_release release;
        dense_fill(as_matrix<T>(matrix, last), as_arcs<T>(offsets, neighbors, weights, used), scale,
                   threads, monitor);
        return nb::object();
      });
}

// From the canonical matrix of a graph; see graph/dense_arcs.hpp.
void fill_from(const std::string& semiring, AnyConstMatrix weights, const nb::object& no_path,
               AnyMatrix matrix, std::optional<Predecessors> last, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  const auto copy = [&]<class T, class Out>(Type<T>, Type<Out>) {
    Scale<Out> scale = scale_of<Out>(parse_algebra(semiring));
    scale.zero = nb::cast<Out>(no_path);
    const nb::gil_scoped_release release;
    dense_fill_from(static_cast<const T*>(weights.data()), as_matrix<Out>(matrix, last), scale,
                    threads, monitor);
    return nb::object();
  };
  if (matrix.dtype() == nb::dtype<std::int16_t>()) {
    with_type<std::int32_t, std::int64_t>(
        weights.dtype(), [&](auto type) { return copy(type, Type<std::int16_t>{}); });
  } else {
    with_type<float, double, std::int32_t, std::int64_t>(
        matrix.dtype(), [&](auto type) { return copy(type, type); });
  }
}

template <class T>
bool run_engine(const std::string& method, const DenseMatrix<T>& matrix,
                const DenseOptions& options, Monitor& monitor) {
  if (method == "tiled") {
    if constexpr (!std::is_same_v<T, std::uint8_t>) return dense_tiled(matrix, options, monitor);
  }
  if constexpr (sizeof(T) >= 4 && !std::is_same_v<T, std::uint64_t>) {
    if (method == "blocked") return dense_blocked(matrix, options, monitor);
    if (method == "min_plus") return dense_min_plus(matrix, options, monitor);
    if (method == "rkleene") return dense_rkleene(matrix, options, monitor);
    if (method == "rkleene_quadtree") return dense_rkleene_quadtree(matrix, options, monitor);
  }
  if constexpr (sizeof(T) != 2 && !std::is_same_v<T, std::uint64_t>) {
    if (method == "floyd_warshall") return dense_floyd_warshall(matrix, options, monitor);
  }
  throw std::invalid_argument("no dense engine " + method + " for this type");
}

bool close(const std::string& method, const std::string& semiring, AnyMatrix matrix,
           std::optional<Predecessors> last, int threads, std::int64_t block, int level,
           const nb::object& progress) {
  const auto n = static_cast<std::int64_t>(matrix.shape(0));
  PythonMonitor monitor(progress, n * n);
  const DenseOptions options{parse_algebra(semiring), threads, block, level};
  return nb::cast<bool>(
      with_type<float, double, std::int16_t, std::int32_t, std::int64_t, std::uint64_t,
                std::uint8_t>(matrix.dtype(), [&]<class T>(Type<T>) {
        bool closed;
        {
          const nb::gil_scoped_release release;
          closed = run_engine(method, as_matrix<T>(matrix, last), options, monitor);
        }
        if (closed) monitor.finish();
        return nb::object(nb::bool_(closed));
      }));
}

void export_rows(AnyMatrix matrix, const Ids& rows, const nb::object& lowest,
                 const nb::object& highest, const nb::object& no_path, AnyMatrix values,
                 int threads) {
  PythonMonitor monitor(nb::none(), 0);
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto n = static_cast<std::int64_t>(values.shape(1));
  if (matrix.dtype() == nb::dtype<std::uint64_t>()) {
    const nb::gil_scoped_release release;
    dense_export_bits(
        DenseMatrix<std::uint64_t>{n, static_cast<std::uint64_t*>(matrix.data()), nullptr},
        {rows.data(), count, static_cast<bool*>(values.data())}, threads, monitor);
    return;
  }
  const auto copy = [&]<class T, class Out>(Type<T>, Type<Out>) {
    const T low = nb::cast<T>(lowest), high = nb::cast<T>(highest);
    const Out none = nb::cast<Out>(no_path);
    const nb::gil_scoped_release release;
    dense_export<T, Out>(DenseMatrix<T>{n, static_cast<T*>(matrix.data()), nullptr}, low, high,
                         none, {rows.data(), count, static_cast<Out*>(values.data())}, threads,
                         monitor);
    return nb::object();
  };
  if (matrix.dtype() == nb::dtype<std::int16_t>()) {
    with_type<std::int32_t, std::int64_t, double>(
        values.dtype(), [&](auto out) { return copy(Type<std::int16_t>{}, out); });
  } else if (values.dtype() == nb::dtype<std::uint8_t>()) {
    copy(Type<std::int32_t>{}, Type<std::uint8_t>{});
  } else if (values.dtype() == nb::dtype<double>() && matrix.dtype() != nb::dtype<double>()) {
    with_type<std::int32_t, std::int64_t>(matrix.dtype(),
                                          [&](auto type) { return copy(type, Type<double>{}); });
  } else {
    with_type<float, double, std::int32_t, std::int64_t>(
        matrix.dtype(), [&](auto type) { return copy(type, type); });
  }
}

template <class T>
DenseAnswer<T> as_answer(const Ids& sources, const AnyMatrix& values, Predecessors& predecessors,
                         const nb::object& no_path) {
  return {static_cast<std::int64_t>(values.shape(1)),
          static_cast<std::int64_t>(sources.size()),
          sources.data(),
          static_cast<const T*>(values.data()),
          predecessors.data(),
          nb::cast<T>(no_path)};
}

// None when all chains lead to their source.
nb::object loose(const Ids& sources, AnyMatrix values, Predecessors predecessors,
                 const nb::object& no_path, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  return with_type<float, double, std::int32_t, std::int64_t, std::uint8_t>(
      values.dtype(), [&]<class T>(Type<T>) -> nb::object {
        const auto answer = as_answer<T>(sources, values, predecessors, no_path);
        Buffer<bool> marks(answer.count);
        std::int64_t count;
        {
          const nb::gil_scoped_release release;
          count = dense_loose(answer, marks.data(), threads, monitor);
        }
        return count == 0 ? nb::none() : to_numpy(std::move(marks));
      });
}

void hang(const std::string& semiring, const Ids& sources, AnyMatrix values,
          Predecessors predecessors, const nb::object& no_path, const Array<bool>& marks,
          const Offsets& offsets, const Ids& neighbors, const std::optional<AnyArray>& weights,
          const Offsets& in_offsets, const Ids& in_neighbors,
          const std::optional<AnyArray>& in_weights, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  with_type<float, double, std::int32_t, std::int64_t, std::uint8_t>(
      values.dtype(), [&]<class T>(Type<T>) {
        const auto answer = as_answer<T>(sources, values, predecessors, no_path);
        const nb::gil_scoped_release release;
        dense_hang(answer, marks.data(), parse_algebra(semiring),
                   as_arcs<T>(offsets, neighbors, weights, {}),
                   as_arcs<T>(in_offsets, in_neighbors, in_weights, {}), threads, monitor);
        return nb::object();
      });
}

// Relaxations a second of the kernel on so many threads at once.
double ceiling(const std::string& semiring, const std::string& dtype, bool paths, int threads,
               double seconds, int level) {
  const auto measure = [&]() -> double (*)(Algebra, bool, int, double) {
    if (dtype == "float32") return &dense_ceiling<float>;
    if (dtype == "float64") return &dense_ceiling<double>;
    if (dtype == "int16") return &dense_ceiling<std::int16_t>;
    if (dtype == "int32") return &dense_ceiling<std::int32_t>;
    if (dtype == "int64") return &dense_ceiling<std::int64_t>;
    if (dtype == "bool") return &dense_ceiling<std::uint64_t>;
    throw std::invalid_argument("no kernel for " + dtype);
  }();
  PythonMonitor monitor(nb::none(), 0);
  const nb::gil_scoped_release release;
  std::vector<double> rates(static_cast<std::size_t>(threads));
  run_team(threads, monitor, [&](int thread) {
    rates[static_cast<std::size_t>(thread)] =
        measure(parse_algebra(semiring), paths, level, seconds);
  });
  double total = 0;
  for (const double rate : rates) total += rate;
  return total;
}

}  // namespace

void bind_dense(nb::module_& m) {
  m.def("dense_levels", &dense_levels);
  m.def("dense_ceiling", &ceiling, nb::arg("semiring"), nb::arg("dtype"), nb::arg("paths") = false,
        nb::arg("threads") = 1, nb::arg("seconds") = 0.2, nb::arg("level") = -1);
  m.def("dense_fill", &fill, nb::arg("semiring"), nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::arg("used").none(), nb::arg("no_path"), nb::arg("matrix"),
        nb::arg("last").none(), nb::arg("threads"));
  m.def("dense_fill_from", &fill_from, nb::arg("semiring"), nb::arg("weights"), nb::arg("no_path"),
        nb::arg("matrix"), nb::arg("last").none(), nb::arg("threads"));
  m.def("dense_close", &close, nb::arg("method"), nb::arg("semiring"), nb::arg("matrix"),
        nb::arg("last").none(), nb::arg("threads"), nb::arg("block") = 0, nb::arg("level") = -1,
        nb::arg("progress").none() = nb::none());
  m.def("dense_export", &export_rows, nb::arg("matrix"), nb::arg("rows"), nb::arg("lowest").none(),
        nb::arg("highest").none(), nb::arg("no_path"), nb::arg("values"), nb::arg("threads"));
  m.def("dense_loose", &loose, nb::arg("sources"), nb::arg("values"), nb::arg("predecessors"),
        nb::arg("no_path"), nb::arg("threads"));
  m.def("dense_hang", &hang, nb::arg("semiring"), nb::arg("sources"), nb::arg("values"),
        nb::arg("predecessors"), nb::arg("no_path"), nb::arg("loose"), nb::arg("offsets"),
        nb::arg("neighbors"), nb::arg("weights").none(), nb::arg("in_offsets"),
        nb::arg("in_neighbors"), nb::arg("in_weights").none(), nb::arg("threads"));
}

}  // namespace kleene
