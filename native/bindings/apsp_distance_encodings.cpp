#include "apsp/distance_encodings.hpp"
#include "arrays.hpp"

namespace kleene::bindings {
namespace {

// Arrays are the caller's: values has (graphs, side, side) entries, paths as many times `steps`.
std::int64_t encode(const Offsets& vertices, const Offsets& arcs, const Offsets& tails,
                    const Offsets& heads, const std::optional<Array<double>>& lengths, bool local,
                    bool symmetric, std::int64_t side, const AnyOutput& values, double farthest,
                    const nb::object& unreachable, const nb::object& pad,
                    std::optional<MutableArray<std::int64_t>> paths, std::int64_t steps,
                    int threads) {
  const apsp::SmallGraphs graphs{static_cast<std::int64_t>(vertices.size()) - 1,
                                 vertices.data(),
                                 arcs.data(),
                                 tails.data(),
                                 heads.data(),
                                 lengths ? lengths->data() : nullptr,
                                 local,
                                 symmetric};
  return with_type<std::uint8_t, std::int16_t, std::int32_t, std::int64_t, float, double>(
      values.dtype(), [&]<class T>(Type<T>) {
        const apsp::Tables<T> tables{side,
                                     static_cast<T*>(values.data()),
                                     farthest,
                                     nb::cast<T>(unreachable),
                                     nb::cast<T>(pad),
                                     paths ? paths->data() : nullptr,
                                     steps};
        PythonMonitor monitor(nb::none(), graphs.count);
        const GilRelease release;
        return apsp::encode_distances(graphs, tables, threads, monitor);
      });
}

}  // namespace

void bind_apsp_distance_encodings(nb::module_& m) {
  m.def("encode_distances", &encode, nb::arg("vertices"), nb::arg("arcs"), nb::arg("tails"),
        nb::arg("heads"), nb::arg("lengths").none(), nb::arg("local"), nb::arg("symmetric"),
        nb::arg("side"), nb::arg("values").noconvert(), nb::arg("farthest"), nb::arg("unreachable"),
        nb::arg("pad"), nb::arg("paths").none(), nb::arg("steps"), nb::arg("threads"));
}

}  // namespace kleene::bindings
