// Files with one arc a line: DIMACS, MatrixMarket, edge lists.
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "text_chunks.hpp"
#include "text_scan.hpp"

namespace kleene {
namespace {

// ---- the two ends of an arc ---------------------------------------------------------------------

// Vertices that are whole numbers.
template <class Id>
struct NumberEnds {
  const Layout& layout;

  [[gnu::always_inline]] Scan take(const char*& p, const char* end, bool /*quoted*/, Id& id,
                                   Widths& widths) const {
    std::int64_t value = 0;
    const Scan scan = scan_integer(p, end, value);
    if (scan != Scan::kDone) return scan;
    if (value < layout.low || value > layout.high) return Scan::kTooLarge;
    value -= layout.base;
    id = static_cast<Id>(value);
    if (id != value) widths.ask_wider_ids();
    return Scan::kDone;
  }

  std::string expected(Scan scan) const {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (scan != Scan::kTooLarge) return "a whole number for the vertex";
    if (layout.high < layout.low) return "no arcs in a file that declares no vertices";
    const std::string low = std::to_string(layout.low);
    if (layout.high < kMost) return "a vertex from " + low + " to " + std::to_string(layout.high);
    return layout.low == -kMost - 1 ? "a vertex number that fits int64" : "a vertex from " + low;
  }
};

// Vertices that are names, numbered as they appear.
class NameEnds {
 public:
  explicit NameEnds(const Alphabet& alphabet) : alphabet_(&alphabet) {}

  Scan take(const char*& p, const char*, bool quoted, std::int32_t& id, Widths&) {
    const char* last = quoted ? Alphabet::closing_quote(p - 1) : alphabet_->field_end(p);
    if (last == p && !quoted) return Scan::kNotANumber;
    id = number_of({p, static_cast<std::size_t>(last - p)});
    p = last;
    return Scan::kDone;
  }

  std::string expected(Scan) const { return "a name for the vertex"; }

  std::int32_t number_of(std::string_view name) {
    const auto [at, fresh] = numbers_.try_emplace(name, static_cast<std::int32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return at->second;
  }

  const std::vector<std::string_view>& names() const { return names_; }

 private:
  const Alphabet* alphabet_;
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::int32_t> numbers_;
};

// ---- lines --------------------------------------------------------------------------------------

// Where the arcs of a pass go: there is a place for every line of the text.
template <class Id, class Weight>
struct Places {
  Places(const Layout& layout, std::int64_t lines)
      : sources(layout.source < 0 ? 0 : lines),
        targets(layout.target < 0 ? 0 : lines),
        weights(layout.weight < 0 ? 0 : lines) {}

  Buffer<Id> sources;
  Buffer<Id> targets;
  Buffer<Weight> weights;
};

// Lines without an arc leave gaps at the end of their chunk's places; moves all arcs together.
template <class T>
void close_gaps(Buffer<T>& column, const Chunks& chunks, const std::vector<std::int64_t>& arcs) {
  const std::int64_t total = std::accumulate(arcs.begin(), arcs.end(), std::int64_t{0});
  if (column.size() == 0 || column.size() == total) return;
  Buffer<T> packed(total);
  T* to = packed.data();
  for (std::int64_t i = 0; i < chunks.size(); ++i) {
    to = std::copy_n(column.data() + chunks[i].first, arcs[i], to);
  }
  column = std::move(packed);
}

enum class Column { kSkip, kTag, kSource, kTarget, kWeight };

std::vector<Column> columns_of(const Layout& layout) {
  const int last = std::max({layout.source, layout.target, layout.weight});
  std::vector<Column> columns(static_cast<std::size_t>(last + 1), Column::kSkip);
  if (layout.tag != '\0') columns[0] = Column::kTag;
  if (layout.source >= 0) columns[layout.source] = Column::kSource;
  if (layout.target >= 0) columns[layout.target] = Column::kTarget;
  if (layout.weight >= 0) columns[layout.weight] = Column::kWeight;
  return columns;
}

// Parses the lines of one chunk into their places, until one is at fault.
template <class Ends, class Id, class Weight>
struct ChunkParser {
  const Layout& layout;
  const Alphabet& alphabet;
  const std::vector<Column>& columns;
  const char* const end;
  const Faults faults;
  Ends& ends;
  Widths& widths;
  Places<Id, Weight>& places;
  std::int64_t place;  // of the next arc
  std::optional<BadLine> fault;

  void parse(const char* const begin) {
    const char* p = begin;
    while (p < end) {
      p = alphabet.skip_blanks(p);
      if (*p == '\n') {
        ++p;
      } else if (alphabet.comment(*p)) {
        if (!skip_rest(p)) return;
      } else {
        if (!parse_line(p) || widths.asked()) return;
        ++place;
      }
    }
  }

  // Moves p behind the line; false at a fault.
  [[gnu::always_inline]] bool parse_line(const char*& p) {
    for (const Column column : columns) {
      const char* const begin = p;
      const bool quoted = *p == '"';
      p += quoted;
      const Scan scan = take(column, p, quoted);
      if (quoted && scan == Scan::kDone && *p++ != '"') {
        return fail(faults.rest(begin, "the quote to be closed on the same line"));
      }
      const char* const next = scan == Scan::kDone ? alphabet.next_field(p) : nullptr;
      if (next == nullptr || !alphabet.ends_field(*p)) {
        return fail(faults.at(begin, expected(column, scan)));
      }
      p = next;
    }
    if (*p == '\n') {
      ++p;
    } else if (layout.exact) {
      return fail(faults.rest(p, "the end of the line"));
    } else {
      return skip_rest(p);
    }
    return true;
  }

  // Moves p behind a line whose rest says nothing; false at a fault.
  bool skip_rest(const char*& p) {
    fault = faults.hidden_lines(p);
    p = skip_line(p, end);
    return !fault;
  }

  [[gnu::always_inline]] Scan take(Column column, const char*& p, bool quoted) {
    switch (column) {
      case Column::kSource:
        return ends.take(p, end, quoted, places.sources[place], widths);
      case Column::kTarget:
        return ends.take(p, end, quoted, places.targets[place], widths);
      case Column::kWeight:
        if constexpr (!std::is_same_v<Weight, NoWeight>) {
          return scan_weight(p, end, layout.kind, alphabet, places.weights[place], widths);
        }
        return Scan::kDone;
      case Column::kTag:
        return *p++ == layout.tag ? Scan::kDone : Scan::kNotANumber;
      default:
        if (*p == '\n') return Scan::kNotANumber;
        p = quoted ? Alphabet::closing_quote(p - 1) : alphabet.field_end(p);
        return Scan::kDone;
    }
  }

  std::string expected(Column column, Scan scan) const {
    if (column == Column::kTag) return std::string("a line that begins with '") + layout.tag + "'";
    if (column == Column::kWeight) return expected_weight(scan, layout.kind);
    return column == Column::kSkip ? "another column" : ends.expected(scan);
  }

  bool fail(BadLine bad) {
    fault = std::move(bad);
    return false;
  }
};

// One pass over all chunks with these types. ends[i] takes the vertices of chunk i; settle(places,
// arcs) has the last word on them, arcs[i] being their number.
template <class Ends, class Id, class Weight, class Settle>
Arcs parse_pass(const Chunks& chunks, const Layout& layout, const Alphabet& alphabet,
                std::vector<Ends>& ends, Widths& widths, int threads, Monitor& monitor,
                Settle&& settle) {
  Places<Id, Weight> places(layout, chunks.lines());
  const std::vector<Column> columns = columns_of(layout);
  std::vector<std::int64_t> arcs(static_cast<std::size_t>(chunks.size()));
  parse_chunks(chunks, widths, threads, monitor, [&](const Chunk& chunk, std::int64_t i) {
    ChunkParser<Ends, Id, Weight> parser{
        layout,  alphabet, columns, chunk.end,   Faults(chunks, chunk, alphabet),
        ends[i], widths,   places,  chunk.first, std::nullopt};
    parser.parse(chunk.begin);
    arcs[i] = parser.place - chunk.first;
    return std::move(parser.fault);
  });
  if (widths.asked()) return {};
  settle(places, arcs);
  close_gaps(places.sources, chunks, arcs);
  close_gaps(places.targets, chunks, arcs);
  close_gaps(places.weights, chunks, arcs);
  return {std::move(places.sources), std::move(places.targets), std::move(places.weights)};
}

// Numbers the names of all chunks in order of first appearance: numbers[i][k] is the number of
// name k of chunk i.
std::vector<std::vector<std::int32_t>> unite_names(std::vector<NameEnds>& ends, NameEnds& all) {
  std::vector<std::vector<std::int32_t>> numbers(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    for (const std::string_view name : ends[i].names()) numbers[i].push_back(all.number_of(name));
  }
  return numbers;
}

void pack_names(const std::vector<std::string_view>& names, NamedArcs& named) {
  named.starts = Buffer<std::int64_t>(static_cast<std::int64_t>(names.size()) + 1);
  std::int64_t size = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    named.starts[static_cast<std::int64_t>(i)] = size;
    size += static_cast<std::int64_t>(names[i].size());
  }
  named.starts[static_cast<std::int64_t>(names.size())] = size;
  named.characters = Buffer<char>(size);
  char* to = named.characters.data();
  for (const std::string_view name : names) to = std::copy(name.begin(), name.end(), to);
}

}  // namespace

Arcs parse_arcs(const Text& text, const Layout& layout, int threads, Monitor& monitor) {
  const Chunks chunks(text, threads, monitor);
  const Alphabet alphabet(layout.separator, layout.comments);
  Widths widths(layout.weight >= 0, layout.kind);
  Arcs arcs;
  widths.until_wide_enough([&]<class Id, class Weight>(Id, Weight) {
    std::vector<NumberEnds<Id>> ends(static_cast<std::size_t>(chunks.size()), {layout});
    arcs = parse_pass<NumberEnds<Id>, Id, Weight>(chunks, layout, alphabet, ends, widths, threads,
                                                  monitor, [](auto&, auto&) {});
  });
  return arcs;
}

NamedArcs parse_named_arcs(const Text& text, const Layout& layout, int threads, Monitor& monitor) {
  const Chunks chunks(text, threads, monitor);
  const Alphabet alphabet(layout.separator, layout.comments);
  Widths widths(layout.weight >= 0, layout.kind);
  NamedArcs named;
  widths.until_wide_enough([&]<class Weight>(auto, Weight) {
    std::vector<NameEnds> ends(static_cast<std::size_t>(chunks.size()), NameEnds(alphabet));
    NameEnds all(alphabet);
    const auto renumber = [&](auto& places, const auto& arcs) {
      const auto numbers = unite_names(ends, all);
      parallel_for(chunks.size(), 1, threads, monitor, [&](auto i, auto, int) {
        for (auto at = chunks[i].first; at < chunks[i].first + arcs[i]; ++at) {
          places.sources[at] = numbers[i][places.sources[at]];
          places.targets[at] = numbers[i][places.targets[at]];
        }
      });
    };
    named.arcs = parse_pass<NameEnds, std::int32_t, Weight>(chunks, layout, alphabet, ends, widths,
                                                            threads, monitor, renumber);
    pack_names(all.names(), named);
  });
  return named;
}

Place skip_comments(const Text& text, const std::string& comments) {
  const Alphabet alphabet(' ', comments);
  std::int64_t at = 0, line = text.line;
  while (at < text.size) {
    std::int64_t first = at;
    while (first < text.size && (alphabet.blank(text.data[first]) || text.data[first] == '\r')) {
      ++first;
    }
    if (first == text.size) break;
    const char c = text.data[first];
    if (c != '\n' && !alphabet.comment(c)) return {at, line};
    const void* newline = std::memchr(text.data + first, '\n', text.size - first);
    if (newline == nullptr) break;
    at = static_cast<const char*>(newline) - text.data + 1;
    ++line;
  }
  return {text.size, line};
}

}  // namespace kleene
