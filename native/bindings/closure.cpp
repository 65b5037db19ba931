#include "closure/closure.hpp"

#include <stdexcept>
#include <vector>

#include "arrays.hpp"
#include "closure/methods.hpp"
#include "closure/tile_kernel.hpp"
#include "parallel/team.hpp"

namespace kleene::bindings {
namespace {

using closure::Matrix;
using closure::MatrixArcs;
using Ids = Array<std::int32_t>;
using Predecessors = MutableArray<std::int32_t>;

template <class T>
Matrix<T> as_matrix(const AnyOutput& matrix, const std::optional<Predecessors>& predecessors) {
  return {static_cast<std::int64_t>(matrix.shape(0)), static_cast<T*>(matrix.data()),
          predecessors ? predecessors->data() : nullptr};
}

template <class T>
MatrixArcs<T> as_arcs(const Offsets& offsets, const Ids& neighbors, const OptionalArray& weights,
                      const std::optional<Array<bool>>& used) {
  require_arcs(offsets, neighbors, weights);
  if (used && used->size() + 1 != offsets.size()) raise_wrong_type();
  return {offsets.data(), neighbors.data(),
          weights ? static_cast<const T*>(weights->data()) : nullptr,
          used ? used->data() : nullptr};
}

void fill(std::string_view semiring, const Offsets& offsets, const Ids& neighbors,
          const OptionalArray& weights, const std::optional<Array<bool>>& used,
          const nb::object& no_path, AnyOutput matrix, std::optional<Predecessors> predecessors,
          int threads) {
  PythonMonitor monitor(nb::none(), 0);
  if (matrix.dtype() == nb::dtype<std::uint64_t>()) {
    const GilRelease release;
    closure::fill_bits(as_matrix<std::uint64_t>(matrix, predecessors), offsets.data(),
                       neighbors.data(), threads, monitor);
    return;
  }
  with_type<float, double, std::int16_t, std::int32_t, std::int64_t, std::uint8_t>(
      matrix.dtype(), [&]<class T>(Type<T>) {
        closure::Elements<T> elements = closure::elements_of<T>(parse_semiring(semiring));
        elements.zero = nb::cast<T>(no_path);
        const GilRelease release;
        closure::fill(as_matrix<T>(matrix, predecessors),
                      as_arcs<T>(offsets, neighbors, weights, used), elements, threads, monitor);
      });
}

void fill_from_matrix(std::string_view semiring, const AnyInput& weights, const nb::object& no_path,
                      AnyOutput matrix, std::optional<Predecessors> predecessors, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  const auto copy = [&]<class T, class Out>(Type<T>, Type<Out>) {
    closure::Elements<Out> elements = closure::elements_of<Out>(parse_semiring(semiring));
    elements.zero = nb::cast<Out>(no_path);
    const GilRelease release;
    closure::fill_from_matrix(static_cast<const T*>(weights.data()),
                              as_matrix<Out>(matrix, predecessors), elements, threads, monitor);
  };
  if (matrix.dtype() == nb::dtype<std::int16_t>()) {
    with_type<std::int32_t, std::int64_t>(weights.dtype(),
                                          [&](auto type) { copy(type, Type<std::int16_t>{}); });
  } else {
    with_value_type(matrix.dtype(), [&](auto type) { copy(type, type); });
  }
}

template <class T>
closure::Close<T>* find_method(std::string_view name) {
  for (const auto& method : closure::methods<T>()) {
    if (name == method.traits.name && method.close) return method.close;
  }
  throw std::invalid_argument("no closure method " + std::string(name) + " for this type");
}

bool close(std::string_view method, std::string_view semiring, AnyOutput matrix,
           std::optional<Predecessors> predecessors, int threads, std::int64_t block, int level,
           const nb::object& progress, std::optional<bool> zen) {
  const auto n = static_cast<std::int64_t>(matrix.shape(0));
  PythonMonitor monitor(progress, n * n);
  closure::Options options{parse_semiring(semiring), threads, block, level};
  if (zen) options.zen = *zen;
  return with_type<float, double, std::int16_t, std::int32_t, std::int64_t, std::uint64_t,
                   std::uint8_t>(matrix.dtype(), [&]<class T>(Type<T>) {
    closure::Close<T>* const run = find_method<T>(method);
    bool closed;
    {
      const GilRelease release;
      closed = run(as_matrix<T>(matrix, predecessors), options, monitor);
    }
    if (closed) monitor.finish();
    return closed;
  });
}

void export_rows(AnyOutput matrix, const Ids& rows, const nb::object& lowest,
                 const nb::object& highest, const nb::object& no_path, AnyOutput values,
                 int threads) {
  PythonMonitor monitor(nb::none(), 0);
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto n = static_cast<std::int64_t>(values.shape(1));
  if (matrix.dtype() == nb::dtype<std::uint64_t>()) {
    const GilRelease release;
    closure::export_bit_rows(
        Matrix<std::uint64_t>{n, static_cast<std::uint64_t*>(matrix.data()), nullptr},
        {rows.data(), count, static_cast<bool*>(values.data())}, threads, monitor);
    return;
  }
  const auto copy = [&]<class T, class Out>(Type<T>, Type<Out>) {
    const T low = nb::cast<T>(lowest), high = nb::cast<T>(highest);
    const Out none = nb::cast<Out>(no_path);
    const GilRelease release;
    closure::export_rows<T, Out>(Matrix<T>{n, static_cast<T*>(matrix.data()), nullptr}, low, high,
                                 none, {rows.data(), count, static_cast<Out*>(values.data())},
                                 threads, monitor);
  };
  if (matrix.dtype() == nb::dtype<std::int16_t>()) {
    with_type<std::int32_t, std::int64_t, double>(
        values.dtype(), [&](auto out) { copy(Type<std::int16_t>{}, out); });
  } else if (values.dtype() == nb::dtype<std::uint8_t>()) {
    copy(Type<std::int32_t>{}, Type<std::uint8_t>{});
  } else if (values.dtype() == nb::dtype<double>() && matrix.dtype() != nb::dtype<double>()) {
    with_type<std::int32_t, std::int64_t>(matrix.dtype(),
                                          [&](auto type) { copy(type, Type<double>{}); });
  } else {
    with_type<float, double, std::int32_t, std::int64_t>(matrix.dtype(),
                                                         [&](auto type) { copy(type, type); });
  }
}

template <class T>
closure::ResultTrees<T> as_result(const Ids& sources, const AnyOutput& values,
                                  Predecessors& predecessors, const nb::object& no_path) {
  return {static_cast<std::int64_t>(values.shape(1)),
          static_cast<std::int64_t>(sources.size()),
          sources.data(),
          static_cast<const T*>(values.data()),
          predecessors.data(),
          nb::cast<T>(no_path)};
}

// None when all vertices are attached to their source.
nb::object find_detached(const Ids& sources, AnyOutput values, Predecessors predecessors,
                         const nb::object& no_path, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  return with_type<float, double, std::int32_t, std::int64_t, std::uint8_t>(
      values.dtype(), [&]<class T>(Type<T>) -> nb::object {
        const auto result = as_result<T>(sources, values, predecessors, no_path);
        Buffer<bool> marks(result.count);
        std::int64_t count;
        {
          const GilRelease release;
          count = closure::find_detached(result, marks.data(), threads, monitor);
        }
        return count == 0 ? nb::none() : to_numpy(std::move(marks));
      });
}

void reattach(std::string_view semiring, const Ids& sources, AnyOutput values,
              Predecessors predecessors, const nb::object& no_path, const Array<bool>& marks,
              const Offsets& offsets, const Ids& neighbors, const OptionalArray& weights,
              const Offsets& incoming_offsets, const Ids& incoming_neighbors,
              const OptionalArray& incoming_weights, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  with_type<float, double, std::int32_t, std::int64_t, std::uint8_t>(
      values.dtype(), [&]<class T>(Type<T>) {
        const auto result = as_result<T>(sources, values, predecessors, no_path);
        const GilRelease release;
        closure::reattach(result, marks.data(), parse_semiring(semiring),
                          as_arcs<T>(offsets, neighbors, weights, {}),
                          as_arcs<T>(incoming_offsets, incoming_neighbors, incoming_weights, {}),
                          threads, monitor);
      });
}

// Relaxations a second of the kernel on so many threads at once.
double peak_rate(std::string_view semiring, std::string_view dtype, bool paths, int threads,
                 double seconds, int level) {
  const auto measure = [&]() -> double (*)(Semiring, bool, int, double) {
    if (dtype == "float32") return &closure::peak_rate<float>;
    if (dtype == "float64") return &closure::peak_rate<double>;
    if (dtype == "int16") return &closure::peak_rate<std::int16_t>;
    if (dtype == "int32") return &closure::peak_rate<std::int32_t>;
    if (dtype == "int64") return &closure::peak_rate<std::int64_t>;
    if (dtype == "bool") return &closure::peak_rate<std::uint64_t>;
    throw std::invalid_argument("no kernel for " + std::string(dtype));
  }();
  PythonMonitor monitor(nb::none(), 0);
  const GilRelease release;
  std::vector<double> rates(static_cast<std::size_t>(threads));
  parallel::run_team(threads, monitor, [&](parallel::Team::Worker& worker) {
    rates[static_cast<std::size_t>(worker.thread())] =
        measure(parse_semiring(semiring), paths, level, seconds);
  });
  double total = 0;
  for (const double rate : rates) total += rate;
  return total;
}

}  // namespace

void bind_closure(nb::module_& m) {
  m.def("closure", &close, nb::arg("method"), nb::arg("semiring"), nb::arg("matrix"),
        nb::arg("predecessors").none(), nb::arg("threads"), nb::arg("block") = 0,
        nb::arg("level") = -1, nb::arg("progress").none() = nb::none(),
        nb::arg("zen").none() = nb::none());
  m.def("closure_fill", &fill, nb::arg("semiring"), nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::arg("used").none(), nb::arg("no_path"), nb::arg("matrix"),
        nb::arg("predecessors").none(), nb::arg("threads"));
  m.def("closure_fill_from_matrix", &fill_from_matrix, nb::arg("semiring"), nb::arg("weights"),
        nb::arg("no_path"), nb::arg("matrix"), nb::arg("predecessors").none(), nb::arg("threads"));
  m.def("closure_export", &export_rows, nb::arg("matrix"), nb::arg("rows"),
        nb::arg("lowest").none(), nb::arg("highest").none(), nb::arg("no_path"), nb::arg("values"),
        nb::arg("threads"));
  m.def("closure_find_detached", &find_detached, nb::arg("sources"), nb::arg("values"),
        nb::arg("predecessors"), nb::arg("no_path"), nb::arg("threads"));
  m.def("closure_reattach", &reattach, nb::arg("semiring"), nb::arg("sources"), nb::arg("values"),
        nb::arg("predecessors"), nb::arg("no_path"), nb::arg("detached"), nb::arg("offsets"),
        nb::arg("neighbors"), nb::arg("weights").none(), nb::arg("incoming_offsets"),
        nb::arg("incoming_neighbors"), nb::arg("incoming_weights").none(), nb::arg("threads"));
  m.def("closure_peak_rate", &peak_rate, nb::arg("semiring"), nb::arg("dtype"),
        nb::arg("paths") = false, nb::arg("threads") = 1, nb::arg("seconds") = 0.2,
        nb::arg("level") = -1);
}

}  // namespace kleene::bindings
