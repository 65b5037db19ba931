// How many shortest paths lead to each vertex.
#include <algorithm>

#include "arrays.hpp"
#include "measures/path_counts.hpp"

namespace kleene::bindings {
namespace {

// Words of the counts of all vertices, an array as long as n times the words of each; None if each
// has more than `most_words`. Or an arc (tail, head) of a cycle of length zero. Raises
// MemoryNeeded.
nb::object path_counts(const Offsets& offsets, const AnyArray& neighbors,
                       const OptionalArray& lengths, const AnyArray& distances,
                       const nb::object& no_path, std::int64_t source, std::int64_t most_words,
                       std::int64_t available) {
  require_arcs(offsets, neighbors, lengths);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    return with_type<std::int32_t, std::int64_t, double>(
        distances.dtype(), [&]<class Value>(Type<Value>) -> nb::object {
          const Arcs<Id> arcs{n, offsets.data(), data_of<Id>(neighbors)};
          const auto* own_lengths = data_of<Value>(lengths);
          const auto* values = data_of<Value>(distances);
          const auto unreached = nb::cast<Value>(no_path);
          PythonMonitor monitor(nb::none(), 0);
          Buffer<std::uint64_t> counts;
          std::int64_t words = 0;
          std::optional<measures::CycleOfLengthZero> cycle;
          {
            const GilRelease release;
            try {
              measures::PathCounts<Id> paths(arcs, own_lengths, values, unreached,
                                             static_cast<Id>(source),
                                             parallel::CancelCheck(monitor, 0));
              words = paths.words();
              if (words <= most_words && words <= available / 8 / n) {
                counts = Buffer<std::uint64_t>(n * words);
                std::fill_n(counts.data(), n * words, 0);
                paths.fill(words, counts.data(), parallel::CancelCheck(monitor, 0));
              }
            } catch (const measures::CycleOfLengthZero& found) {
              cycle = found;
            }
          }
          if (cycle) return nb::make_tuple(cycle->tail, cycle->head);
          if (words > most_words) return nb::none();
          if (words > available / 8 / n) raise_memory_needed(8 * n * words);
          return to_numpy(std::move(counts));
        });
  });
}

}  // namespace

void bind_measures_path_counts(nb::module_& m) {
  m.def("path_counts", &path_counts, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("lengths").none(), nb::arg("distances"), nb::arg("no_path"), nb::arg("source"),
        nb::arg("most_words"), nb::arg("available"));
}

}  // namespace kleene::bindings
