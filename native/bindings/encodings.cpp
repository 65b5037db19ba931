#include "encodings.hpp"

#include "arrays.hpp"

namespace kleene {
namespace {

using Offsets = Array<std::int64_t>;

// Arrays are the caller's: values has (graphs, side, side) entries, paths as many times `steps`.
template <class T>
void bind(nb::module_& m) {
  m.def(
      "encode_distances",
      [](const Offsets& vertices, const Offsets& arcs, const Offsets& sources,
         const Offsets& targets, const std::optional<Array<double>>& lengths, bool local,
         bool symmetric, std::int64_t side, MutableArray<T> values, double farthest, T unreachable,
         T pad, std::optional<MutableArray<std::int64_t>> paths, std::int64_t steps, int threads) {
        const SmallGraphs graphs{static_cast<std::int64_t>(vertices.size()) - 1,
                                 vertices.data(),
                                 arcs.data(),
                                 sources.data(),
                                 targets.data(),
                                 lengths ? lengths->data() : nullptr,
                                 local,
                                 symmetric};
        const Tables<T> tables{side,        values.data(), farthest,
                               unreachable, pad,           paths ? paths->data() : nullptr,
                               steps};
        PythonMonitor monitor(nb::none(), graphs.count);
        const nb::gil_scoped_release release;
        return encode_distances(graphs, tables, threads, monitor);
      },
      nb::arg("vertices"), nb::arg("arcs"), nb::arg("sources"), nb::arg("targets"),
      nb::arg("lengths").none(), nb::arg("local"), nb::arg("symmetric"), nb::arg("side"),
      nb::arg("values").noconvert(), nb::arg("farthest"), nb::arg("unreachable"), nb::arg("pad"),
      nb::arg("paths").none(), nb::arg("steps"), nb::arg("threads"));
}

}  // namespace

void bind_encodings(nb::module_& m) {
  bind<std::uint8_t>(m);
  bind<std::int16_t>(m);
  bind<std::int32_t>(m);
  bind<std::int64_t>(m);
  bind<float>(m);
  bind<double>(m);
}

}  // namespace kleene
