#include "closure/closure.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "arrays.hpp"
#include "closure/tile_kernel.hpp"
#include "parallel/team.hpp"

namespace kleene::bindings {
namespace {

using closure::Matrix;
using closure::MatrixArcs;
using closure::Rectangle;
using Ids = Array<std::int32_t>;
using Predecessors = MutableArray<std::int32_t>;

// The rows of the vertices from `first` on, of an n x n matrix.
template <class T>
Matrix<T> as_rows(const AnyOutput& rows, const std::optional<Predecessors>& predecessors,
                  std::int64_t n, std::int64_t first) {
  const Matrix<T> matrix{n, static_cast<T*>(rows.data()),
                         predecessors ? predecessors->data() : nullptr, first,
                         static_cast<std::int64_t>(rows.shape(0))};
  const auto count = static_cast<std::size_t>(matrix.rows);
  if (rows.ndim() != 2 || first < 0 || first + matrix.rows > n ||
      rows.shape(1) != static_cast<std::size_t>(matrix.stride()) ||
      (predecessors && predecessors->size() != count * static_cast<std::size_t>(n))) {
    raise_wrong_type();
  }
  return matrix;
}

template <class T>
Matrix<T> as_matrix(const AnyOutput& matrix, const std::optional<Predecessors>& predecessors) {
  return as_rows<T>(matrix, predecessors, static_cast<std::int64_t>(matrix.shape(0)), 0);
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

template <class T>
Rectangle<T> as_rectangle(const AnyOutput& matrix, const std::optional<Predecessors>& predecessors,
                          std::int64_t n, std::int64_t row, std::int64_t column,
                          std::optional<std::int64_t> columns) {
  const auto rows = static_cast<std::int64_t>(matrix.shape(0));
  const Rectangle<T> part{row,
                          rows,
                          column,
                          columns.value_or(n),
                          static_cast<T*>(matrix.data()),
                          predecessors ? predecessors->data() : nullptr};
  const auto size = static_cast<std::int64_t>(matrix.size());
  if (row < 0 || row + rows > n || column < 0 || column + part.columns > n ||
      size != rows * part.stride() ||
      (predecessors && static_cast<std::int64_t>(predecessors->size()) != size)) {
    raise_wrong_type();
  }
  return part;
}

void fill(std::string_view semiring, const Offsets& offsets, const Ids& neighbors,
          const OptionalArray& weights, const std::optional<Array<bool>>& used,
          const nb::object& no_path, AnyOutput matrix, std::optional<Predecessors> predecessors,
          int threads, std::int64_t row, std::int64_t column, std::optional<std::int64_t> columns) {
  PythonMonitor monitor(nb::none(), 0);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  if (matrix.dtype() == nb::dtype<std::uint64_t>()) {
    const auto part = as_rectangle<std::uint64_t>(matrix, predecessors, n, row, column, columns);
    const GilRelease release;
    closure::fill_bits(part, offsets.data(), neighbors.data(), threads, monitor);
    return;
  }
  with_type<float, double, std::int16_t, std::int32_t, std::int64_t, std::uint8_t>(
      matrix.dtype(), [&]<class T>(Type<T>) {
        closure::Elements<T> elements = closure::elements_of<T>(parse_semiring(semiring));
        elements.zero = nb::cast<T>(no_path);
        const auto part = as_rectangle<T>(matrix, predecessors, n, row, column, columns);
        const GilRelease release;
        closure::fill(part, as_arcs<T>(offsets, neighbors, weights, used), elements, threads,
                      monitor);
      });
}

void fill_from_matrix(std::string_view semiring, const AnyInput& weights, const nb::object& no_path,
                      AnyOutput matrix, std::optional<Predecessors> predecessors, int threads,
                      std::int64_t first, std::int64_t column,
                      std::optional<std::int64_t> columns) {
  PythonMonitor monitor(nb::none(), 0);
  const auto copy = [&]<class T, class Out>(Type<T>, Type<Out>) {
    closure::Elements<Out> elements = closure::elements_of<Out>(parse_semiring(semiring));
    elements.zero = nb::cast<Out>(no_path);
    const auto n = static_cast<std::int64_t>(weights.shape(0));
    const auto part = as_rectangle<Out>(matrix, predecessors, n, first, column, columns);
    const GilRelease release;
    closure::fill_from_matrix(static_cast<const T*>(weights.data()), n, part, elements, threads,
                              monitor);
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

void multiply(std::string_view semiring, const AnyInput& left, const AnyInput& right,
              std::optional<nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu>>
                  right_predecessors,
              AnyOutput values, std::optional<Predecessors> predecessors, std::int64_t depth,
              std::int64_t columns, int threads, const nb::object& progress) {
  const auto rows = static_cast<std::int64_t>(values.shape(0));
  PythonMonitor monitor(progress, rows * depth);
  const closure::Options options{parse_semiring(semiring), threads};
  with_type<float, double, std::int16_t, std::int32_t, std::int64_t, std::uint64_t>(
      values.dtype(), [&]<class T>(Type<T>) {
        const auto require = [](bool right_size) {
          if (!right_size) raise_wrong_type();
        };
        const auto entries = [](std::int64_t vertices) {
          return static_cast<std::size_t>((vertices + closure::kPacked<T> - 1) /
                                          closure::kPacked<T>);
        };
        const auto high = static_cast<std::size_t>(rows), deep = static_cast<std::size_t>(depth);
        require(left.dtype() == values.dtype() && right.dtype() == values.dtype());
        require(values.size() == high * entries(columns) && left.size() == high * entries(depth));
        require(right.size() == deep * entries(columns));
        require(!predecessors || predecessors->size() == values.size());
        require(!right_predecessors ||
                (predecessors && right_predecessors->size() == right.size()));
        require(!predecessors || (sizeof(T) >= 4 && closure::kPacked<T> == 1));
        const closure::ProductOf<T> product{
            rows,
            depth,
            columns,
            static_cast<T*>(values.data()),
            predecessors ? predecessors->data() : nullptr,
            static_cast<const T*>(left.data()),
            static_cast<const T*>(right.data()),
            right_predecessors ? right_predecessors->data() : nullptr};
        const GilRelease release;
        closure::multiply(product, options, monitor);
      });
  monitor.finish();
}

// (low, high, has_nan) of the entries of a factor that are not `no_path`; None, None for none.
nb::tuple find_ends(const AnyInput& matrix, const nb::object& no_path, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  return with_type<float, double, std::int16_t, std::int32_t, std::int64_t>(
      matrix.dtype(), [&]<class T>(Type<T>) {
        const T none = nb::cast<T>(no_path);
        closure::Ends<T> ends;
        {
          const GilRelease release;
          ends =
              closure::find_ends(static_cast<const T*>(matrix.data()),
                                 static_cast<std::int64_t>(matrix.size()), none, threads, monitor);
        }
        if (ends.low > ends.high) return nb::make_tuple(nb::none(), nb::none(), ends.has_nan);
        return nb::make_tuple(ends.low, ends.high, ends.has_nan);
      });
}

// A closed panel of any type: relaxes rows of the vertices from `first` on.
struct Panel {
  std::function<void(const AnyOutput& rows, const std::optional<Predecessors>& predecessors,
                     std::int64_t first, int threads)>
      relax;
};

// None at a cycle that is better than the empty path.
std::optional<Panel> close_panel(std::string_view semiring, AnyOutput panel,
                                 std::optional<Predecessors> panel_predecessors, std::int64_t n,
                                 std::int64_t panel_first, int team) {
  const closure::Options options{parse_semiring(semiring), team};
  const auto close = [&]<class T>(Type<T>) -> std::optional<Panel> {
    const auto matrix = as_rows<T>(panel, panel_predecessors, n, panel_first);
    const bool paths = matrix.predecessors != nullptr;
    if (paths && (sizeof(T) < 4 || closure::kPacked<T> > 1)) raise_wrong_type();
    PythonMonitor closing(nb::none(), 0);
    std::shared_ptr<closure::ClosedPanel<T>> closed;
    {
      const GilRelease release;
      closed = std::make_shared<closure::ClosedPanel<T>>(matrix, options, closing);
    }
    if (closed->found_cycle()) return {};
    return Panel{[=](const AnyOutput& rows, const std::optional<Predecessors>& predecessors,
                     std::int64_t first, int threads) {
      if (rows.dtype() != nb::dtype<T>() || predecessors.has_value() != paths) raise_wrong_type();
      const auto others = as_rows<T>(rows, predecessors, n, first);
      PythonMonitor monitor(nb::none(), 0);
      const GilRelease release;
      closed->relax(others, threads, monitor);
    }};
  };
  return with_type<float, double, std::int16_t, std::int32_t, std::int64_t, std::uint64_t>(
      panel.dtype(), close);
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
        nb::arg("predecessors").none(), nb::arg("threads"), nb::arg("first") = 0,
        nb::arg("column") = 0, nb::arg("columns").none() = nb::none());
  m.def("closure_multiply", &multiply, nb::arg("semiring"), nb::arg("left"), nb::arg("right"),
        nb::arg("right_predecessors").none(), nb::arg("values"), nb::arg("predecessors").none(),
        nb::arg("depth"), nb::arg("columns"), nb::arg("threads"),
        nb::arg("progress").none() = nb::none());
  m.def("closure_ends", &find_ends, nb::arg("matrix"), nb::arg("no_path"), nb::arg("threads"));
  m.def("closure_fill_from_matrix", &fill_from_matrix, nb::arg("semiring"), nb::arg("weights"),
        nb::arg("no_path"), nb::arg("matrix"), nb::arg("predecessors").none(), nb::arg("threads"),
        nb::arg("first") = 0, nb::arg("column") = 0, nb::arg("columns").none() = nb::none());
  nb::class_<Panel>(m, "ClosedPanel")
      .def(
          "relax",
          [](const Panel& panel, AnyOutput rows, std::optional<Predecessors> predecessors,
             std::int64_t first, int threads) { panel.relax(rows, predecessors, first, threads); },
          nb::arg("rows"), nb::arg("predecessors").none(), nb::arg("first"), nb::arg("threads"));
  m.def("closure_panel", &close_panel, nb::arg("semiring"), nb::arg("rows"),
        nb::arg("predecessors").none(), nb::arg("n"), nb::arg("first"), nb::arg("threads"));
  m.attr("closure_panel_step") = closure::kPanelStep;
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
