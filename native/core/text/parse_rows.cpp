// Files with one vertex a line: METIS.
#include "text/chunks.hpp"
#include "text/scan.hpp"

namespace kleene::text {
namespace {

// The neighbours that one chunk lists; they are moved together when all chunks are parsed.
template <class Id, class Weight>
struct Listed {
  std::vector<Id> neighbors;
  std::vector<Weight> weights;
};

template <class Id, class Weight>
struct RowParser {
  const CharacterClasses& classes;
  const Chunk& chunk;
  const Faults faults;
  std::int64_t n;
  std::int64_t skipped;
  Widths& widths;
  Listed<Id, Weight>& listed;
  std::int64_t* degrees;
  std::optional<BadLine> fault;

  void parse() {
    std::int64_t row = chunk.first;
    for (const char* p = chunk.begin; p < chunk.end;) {
      p = classes.skip_blanks(p);
      if (classes.comment(*p)) {
        fault = faults.hidden_lines(p);
        if (fault) return;
        p = skip_line(p, chunk.end);
        continue;
      }
      if (row >= n) {
        if (*p != '\n') {
          fault = faults.rest(p, "the end of the file behind vertex " + std::to_string(n));
          return;
        }
      } else {
        const auto before = static_cast<std::int64_t>(listed.neighbors.size());
        if (!parse_row(p) || widths.wider_requested()) return;
        degrees[row++] = static_cast<std::int64_t>(listed.neighbors.size()) - before;
      }
      ++p;
    }
  }

  // Moves p to the end of the line; false at a fault.
  bool parse_row(const char*& p) {
    std::int64_t number = 0;
    for (std::int64_t i = 0; i < skipped; ++i) {
      if (!whole(p, number)) return fail(p, "the weights of the vertex, whole numbers");
    }
    while (*p != '\n') {
      const char* const begin = p;
      if (!whole(p, number) || number < 1 || number > n) {
        return fail(begin, "a vertex from 1 to " + std::to_string(n));
      }
      listed.neighbors.push_back(static_cast<Id>(number - 1));
      if constexpr (!std::is_same_v<Weight, NoWeight>) {
        const char* const at = p;
        Weight weight{};
        const Scan scan = scan_weight(p, chunk.end, WeightKind::kAny, classes, weight, widths);
        if (scan != Scan::kDone || !classes.ends_field(*p)) {
          return fail(at, expected_weight(scan, WeightKind::kAny));
        }
        listed.weights.push_back(weight);
        p = classes.skip_blanks(p);
      }
    }
    return true;
  }

  // Takes a whole number and the blanks behind it.
  bool whole(const char*& p, std::int64_t& number) {
    const char* q = p;
    if (scan_integer(q, chunk.end, number) != Scan::kDone || !classes.ends_field(*q)) return false;
    p = classes.skip_blanks(q);
    return true;
  }

  bool fail(const char* p, std::string expected) {
    fault = faults.at(p, std::move(expected));
    return false;
  }
};

template <class T, class Lists>
Buffer<T> joined(const Lists& lists, std::vector<T> Lists::value_type::* column) {
  std::int64_t total = 0;
  for (const auto& list : lists) total += static_cast<std::int64_t>((list.*column).size());
  Buffer<T> all(total);
  T* to = all.data();
  for (const auto& list : lists) to = std::copy((list.*column).begin(), (list.*column).end(), to);
  return all;
}

}  // namespace

Rows parse_rows(const Text& text, std::int64_t n, std::int64_t skipped, bool weighted,
                const std::string& comments, int threads, Monitor& monitor) {
  const CharacterClasses classes(' ', comments);
  Chunks chunks(text, threads, monitor);
  const std::int64_t present = chunks.number(threads, monitor, [&](const Chunk& chunk) {
    std::int64_t rows = 0;
    for (const char* p = chunk.begin; p < chunk.end; p = skip_line(p, chunk.end)) {
      rows += !classes.comment(*classes.skip_blanks(p));
    }
    return rows;
  });
  if (present < n) {
    const std::int64_t last = text.line + count_lines(text.data, text.data + text.size);
    throw BadLine{last, text.size, text.size,
                  "a line for each of " + std::to_string(n) + " vertices; there are " +
                      std::to_string(present)};
  }
  Rows rows;
  Widths widths(weighted, WeightKind::kAny);
  // untestable (> to >=): differs for exactly 2^31 - 1 rows
  if (n > std::numeric_limits<std::int32_t>::max()) widths.start_with_wide_ids();
  widths.until_wide_enough([&]<class Id, class Weight>(Id, Weight) {
    Buffer<std::int64_t> degrees(n + 1);
    std::vector<Listed<Id, Weight>> lists(static_cast<std::size_t>(chunks.size()));
    parse_chunks(chunks, widths, threads, monitor, [&](const Chunk& chunk, std::int64_t i) {
      RowParser<Id, Weight> parser{classes,  chunk,          Faults(chunks, chunk, classes),
                                   n,        skipped,        widths,
                                   lists[i], degrees.data(), std::nullopt};
      parser.parse();
      return std::move(parser.fault);
    });
    if (widths.wider_requested()) return;
    std::int64_t sum = 0;
    degrees[n] = 0;
    for (std::int64_t v = 0; v <= n; ++v) sum += std::exchange(degrees[v], sum);
    rows.offsets = std::move(degrees);
    rows.neighbors = joined(lists, &Listed<Id, Weight>::neighbors);
    rows.weights = joined(lists, &Listed<Id, Weight>::weights);
  });
  return rows;
}

}  // namespace kleene::text
