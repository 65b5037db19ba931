#include "bfs/bfs.hpp"
#include "parallel/team.hpp"

namespace kleene::bfs {
namespace {

// Fills one row per source. Many sources are shared out among the threads; a few are searched from
// one after another, each by all threads.
template <class Id, auto kSearch>
void each_source(const Problem<Id>& problem, const ResultRows<Id, Id>& rows, Id /*no_path*/,
                 int threads, Monitor& monitor) {
  const std::int64_t n = problem.outgoing.n;
  const bool shared = rows.count >= 2 * threads;  // untestable: how threads share the searches
  const int each = shared ? 1 : threads;
  parallel_each(rows.count, shared ? threads : 1, monitor, [&](std::int64_t i, Monitor& own) {
    Problem<Id> from = problem;
    from.source = rows.sources[i];
    const ResultRow<Id, Id> row = rows.at(i, n);
    fill_row(row, n, kNoHops<Id>, each, own);
    rows.horizons[i] = kSearch(from, row, each, own);
  });
}

template <class Id>
constexpr Method<Id> kMethods[] = {
    {{.name = "queue", .stops_early = true}, &each_source<Id, &queue<Id>>},
    {{.name = "spmv", .stops_early = true}, &each_source<Id, &spmv<Id>>},
    {{.name = "edge", .needs_tails = true, .stops_early = true}, &each_source<Id, &edge<Id>>},
    {{.name = "vertex_push", .stops_early = true}, &each_source<Id, &vertex_push<Id>>},
    {{.name = "vertex_pull", .incoming = "required", .stops_early = true},
     &each_source<Id, &vertex_pull<Id>>},
    {{.name = "frontier", .stops_early = true}, &each_source<Id, &frontier<Id>>},
    {{.name = "privatized", .stops_early = true}, &each_source<Id, &privatized<Id>>},
    {{.name = "direction_optimizing", .incoming = "optional", .stops_early = true},
     &each_source<Id, &direction_optimizing<Id>>},
    {{.name = "multi_source", .incoming = "optional", .stops_early = true}, &multi_source<Id>},
};

}  // namespace

template <class Id>
std::span<const Method<Id>> methods() {
  return kMethods<Id>;
}

template std::span<const Method<std::int32_t>> methods();
template std::span<const Method<std::int64_t>> methods();

}  // namespace kleene::bfs
