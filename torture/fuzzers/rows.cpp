// One vertex a line: METIS. What was parsed is written, as rows and as arcs, and parsed again.
//
// Options: the number of vertices, numbers skipped, weights or not; and how the text is split.
#include "fuzzer.hpp"
#include "text/write.hpp"

namespace kleene::fuzz {
namespace {

void check_rows(const Rows& rows, std::int64_t n) {
  require(rows.offsets.size() == n + 1 && rows.offsets[0] == 0, "an offset for every vertex");
  for (std::int64_t v = 0; v < n; ++v) {
    require(rows.offsets[v] <= rows.offsets[v + 1], "offsets in order");
  }
  std::visit(
      [&](const auto& neighbors) {
        require(neighbors.size() == rows.offsets[n], "all neighbours");
        for (std::int64_t i = 0; i < neighbors.size(); ++i) {
          require(0 <= neighbors[i] && neighbors[i] < n, "a neighbour");
        }
      },
      rows.neighbors);
}

std::string joined(const std::vector<Lines>& pieces) {
  std::string text;
  for (const Lines& piece : pieces) text.append(piece.text.data(), piece.size);
  return text;
}

Text as_text(const std::string& text, const Split& split) {
  return {text.data(), static_cast<std::int64_t>(text.size()), 1, split.grain};
}

// The type of the second parse may be narrower: compare values.
template <class T, class... Buffers>
bool same_values(const Buffer<T>& a, const std::variant<Buffers...>& b) {
  return std::visit(
      [&]<class U>(const Buffer<U>& held) {
        if constexpr (std::is_same_v<T, NoWeight> || std::is_same_v<U, NoWeight>) {
          return std::is_same_v<T, U>;
        } else {
          return a.size() == held.size() &&
                 std::equal(a.data(), a.data() + a.size(), held.data(),
                            [](auto x, auto y) { return x == static_cast<T>(y); });
        }
      },
      b);
}

template <class Id, class Weight>
void check_round_trips(const Rows& rows, const Buffer<Id>& neighbors, const Buffer<Weight>& weights,
                       std::int64_t n, const Split& split) {
  Monitor monitor;
  const Arcs<Id, Weight> graph{n, rows.offsets.data(), neighbors.data(), weights.data()};
  const std::string lines = joined(write_rows(graph, 0, n, split.threads, monitor));
  const Rows again =
      parse_rows(as_text(lines, split), n, 0, kWeighted<Weight>, "%", split.threads, monitor);
  require(same(rows.offsets, again.offsets), "offsets survive");
  require(same_values(neighbors, again.neighbors), "neighbours survive");
  require(same_values(weights, again.weights), "weights survive");

  LineStyle style;
  style.prefix = "a ";
  const std::string arcs = joined(
      write_arcs(graph, 0, graph.count(), VertexNames{.base = 1}, style, split.threads, monitor));
  Layout layout;
  layout.tag = 'a';
  layout.tail = 1, layout.head = 2, layout.weight = kWeighted<Weight> ? 3 : -1;
  layout.low = layout.base = 1, layout.high = n;
  const ParsedArcs parsed = parse_arcs(as_text(arcs, split), layout, split.threads, monitor);
  require(same_values(neighbors, parsed.heads), "heads survive");
  require(same_values(weights, parsed.weights), "weights of arcs survive");
}

}  // namespace
}  // namespace kleene::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kleene::fuzz;
  Options options(data, size);
  const std::uint8_t vertices = options.byte();
  // The reader passes on what a file declares: there may be far more than lines.
  const std::int64_t n = vertices < 250 ? vertices : std::int64_t{1} << (vertices % 4 * 20);
  const std::uint8_t layout = options.byte();
  const std::int64_t skipped = layout >> 1;
  const bool weighted = (layout & 1) != 0;
  const Split split(options.byte());
  const Text text = options.text(kWhole);
  Monitor monitor;
  check_skip(text, "%");
  const auto whole =
      attempt([&] { return parse_rows(text, n, skipped, weighted, "%", 1, monitor); });
  const auto in_chunks = attempt([&] {
    return parse_rows(options.text(split.grain), n, skipped, weighted, "%", split.threads, monitor);
  });
  check_same(whole, in_chunks, text);
  if (const auto* rows = std::get_if<Rows>(&whole)) {
    check_rows(*rows, n);
    std::visit([&](const auto& neighbors,
                   const auto& weights) { check_round_trips(*rows, neighbors, weights, n, split); },
               rows->neighbors, rows->weights);
  }
  return 0;
}
