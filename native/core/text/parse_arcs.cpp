// Files with one arc a line: DIMACS, MatrixMarket, edge lists.
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "text/chunks.hpp"
#include "text/scan.hpp"

namespace kleene::text {
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
    if (id != value) widths.request_wider_ids();
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

// Vertices that are names, numbered as they appear. A column of words (a layout without heads) may
// have empty fields, but no missing ones.
class NameEnds {
 public:
  NameEnds(const CharacterClasses& classes, const Layout& layout)
      : classes_(&classes), first_(layout.tail == 0), are_words_(layout.head < 0) {}

  Scan take(const char*& p, const char*, bool quoted, std::int32_t& id, Widths&) {
    const char* last = quoted ? CharacterClasses::closing_quote(p - 1) : classes_->field_end(p);
    if (last == p && !quoted && !may_be_empty(p)) return Scan::kNotANumber;
    id = number_of({p, static_cast<std::size_t>(last - p)});
    p = last;
    return Scan::kDone;
  }

  std::string expected(Scan) const {
    return are_words_ ? "another column" : "a name for the vertex";
  }

  std::int32_t number_of(std::string_view name) {
    const auto [at, is_new] = numbers_.try_emplace(name, static_cast<std::int32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return at->second;
  }

  const std::vector<std::string_view>& names() const { return names_; }

 private:
  bool may_be_empty(const char* p) const {
    return are_words_ && (first_ || classes_->follows_separator(p));
  }

  const CharacterClasses* classes_;
  bool first_;  // in their lines
  bool are_words_;
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::int32_t> numbers_;
};

// ---- lines --------------------------------------------------------------------------------------

// The arcs of a pass: there is a slot for every line that may hold one.
template <class Id, class Weight>
struct ArcSlots {
  ArcSlots(const Layout& layout, std::int64_t slots)
      : tails(layout.tail < 0 ? 0 : slots),
        heads(layout.head < 0 ? 0 : slots),
        weights(layout.weight < 0 ? 0 : slots) {}

  Buffer<Id> tails;
  Buffer<Id> heads;
  Buffer<Weight> weights;
};

// Lines without an arc leave gaps at the end of their chunk's slots; closes them.
template <class T>
void close_gaps(Buffer<T>& column, const Chunks& chunks, const std::vector<std::int64_t>& arcs) {
  const std::int64_t total = std::accumulate(arcs.begin(), arcs.end(), std::int64_t{0});
  // untestable (|| to &&): copies a column without gaps
  if (column.size() == 0 || column.size() == total) return;
  Buffer<T> packed(total);
  T* to = packed.data();
  for (std::int64_t i = 0; i < chunks.size(); ++i) {
    to = std::copy_n(column.data() + chunks[i].first, arcs[i], to);
  }
  column = std::move(packed);
}

enum class Column { kSkip, kTag, kTail, kHead, kWeight };

std::vector<Column> columns_of(const Layout& layout) {
  const int last = std::max({layout.tail, layout.head, layout.weight});
  std::vector<Column> columns(static_cast<std::size_t>(last + 1), Column::kSkip);
  if (layout.tag != '\0') columns[0] = Column::kTag;
  if (layout.tail >= 0) columns[layout.tail] = Column::kTail;
  if (layout.head >= 0) columns[layout.head] = Column::kHead;
  if (layout.weight >= 0) columns[layout.weight] = Column::kWeight;
  return columns;
}

// Numbers the slots of every chunk; returns how many there are. A chunk has no more lines with an
// arc than lines of the fewest characters fit in it, and perhaps one at fault: what blank lines
// take is bounded by the size of the text.
std::int64_t number_slots(Chunks& chunks, const Layout& layout, bool words, int threads,
                          Monitor& monitor) {
  const auto columns = static_cast<std::int64_t>(columns_of(layout).size());
  const int filled = (layout.tag != '\0') + (layout.tail >= 0 && !words) + (layout.head >= 0) +
                     (layout.weight >= 0);
  const std::int64_t shortest = columns + filled;  // separators, a character each, and the line end
  return chunks.number(threads, monitor, [&](const Chunk& chunk) {
    return std::min(chunk.lines, (chunk.end - chunk.begin) / shortest + 1);
  });
}

// Parses the lines of one chunk into their slots, until one is at fault.
template <class Ends, class Id, class Weight>
struct ChunkParser {
  const Layout& layout;
  const CharacterClasses& classes;
  const std::vector<Column>& columns;
  const char* const end;
  const Faults faults;
  Ends& ends;
  Widths& widths;
  ArcSlots<Id, Weight>& slots;
  std::int64_t slot;  // of the next arc
  std::optional<BadLine> fault;

  void parse(const char* const begin) {
    const char* p = begin;
    while (p < end) {
      p = classes.skip_blanks(p);
      if (*p == '\n') {
        ++p;
      } else if (classes.comment(*p)) {
        if (!skip_rest(p)) return;
      } else {
        if (!parse_line(p) || widths.wider_requested()) return;
        ++slot;
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
      const char* const next = scan == Scan::kDone ? classes.next_field(p) : nullptr;
      if (next == nullptr || !classes.ends_field(*p)) {
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
      case Column::kTail:
        return ends.take(p, end, quoted, slots.tails[slot], widths);
      case Column::kHead:
        return ends.take(p, end, quoted, slots.heads[slot], widths);
      case Column::kWeight:
        if constexpr (!std::is_same_v<Weight, NoWeight>) {
          return scan_weight(p, end, layout.kind, classes, slots.weights[slot], widths);
        }
        return Scan::kDone;
      case Column::kTag:
        return *p++ == layout.tag ? Scan::kDone : Scan::kNotANumber;
      default:
        if (classes.ends_line(*p)) return Scan::kNotANumber;
        p = quoted ? CharacterClasses::closing_quote(p - 1) : classes.field_end(p);
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

// One pass over all chunks with these types. ends[i] takes the vertices of chunk i; settle(slots,
// arcs) may change them afterwards, arcs[i] being their number.
template <class Ends, class Id, class Weight, class Settle>
ParsedArcs parse_pass(const Chunks& chunks, std::int64_t slot_count, const Layout& layout,
                      const CharacterClasses& classes, std::vector<Ends>& ends, Widths& widths,
                      int threads, Monitor& monitor, Settle&& settle) {
  ArcSlots<Id, Weight> slots(layout, slot_count);
  const std::vector<Column> columns = columns_of(layout);
  std::vector<std::int64_t> arcs(static_cast<std::size_t>(chunks.size()));
  parse_chunks(chunks, widths, threads, monitor, [&](const Chunk& chunk, std::int64_t i) {
    ChunkParser<Ends, Id, Weight> parser{
        layout,  classes, columns, chunk.end,   Faults(chunks, chunk, classes),
        ends[i], widths,  slots,   chunk.first, std::nullopt};
    parser.parse(chunk.begin);
    arcs[i] = parser.slot - chunk.first;
    return std::move(parser.fault);
  });
  if (widths.wider_requested()) return {};
  settle(slots, arcs);
  close_gaps(slots.tails, chunks, arcs);
  close_gaps(slots.heads, chunks, arcs);
  close_gaps(slots.weights, chunks, arcs);
  return {std::move(slots.tails), std::move(slots.heads), std::move(slots.weights)};
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

ParsedArcs parse_arcs(const Text& text, const Layout& layout, int threads, Monitor& monitor) {
  Chunks chunks(text, threads, monitor);
  const std::int64_t slots = number_slots(chunks, layout, false, threads, monitor);
  const CharacterClasses classes(layout.separator, layout.comments);
  Widths widths(layout.weight >= 0, layout.kind);
  ParsedArcs arcs;
  widths.until_wide_enough([&]<class Id, class Weight>(Id, Weight) {
    std::vector<NumberEnds<Id>> ends(static_cast<std::size_t>(chunks.size()), {layout});
    arcs = parse_pass<NumberEnds<Id>, Id, Weight>(chunks, slots, layout, classes, ends, widths,
                                                  threads, monitor, [](auto&, auto&) {});
  });
  return arcs;
}

NamedArcs parse_named_arcs(const Text& text, const Layout& layout, int threads, Monitor& monitor) {
  Chunks chunks(text, threads, monitor);
  const std::int64_t slots = number_slots(chunks, layout, layout.head < 0, threads, monitor);
  const CharacterClasses classes(layout.separator, layout.comments);
  Widths widths(layout.weight >= 0, layout.kind);
  NamedArcs named;
  widths.until_wide_enough([&]<class Weight>(auto, Weight) {
    std::vector<NameEnds> ends(static_cast<std::size_t>(chunks.size()), NameEnds(classes, layout));
    NameEnds all(classes, layout);
    const auto renumber = [&](auto& slots, const auto& arcs) {
      const auto numbers = unite_names(ends, all);
      parallel_for(chunks.size(), 1, threads, monitor, [&](auto i, auto, int) {
        for (auto at = chunks[i].first; at < chunks[i].first + arcs[i]; ++at) {
          slots.tails[at] = numbers[i][slots.tails[at]];
          if (layout.head >= 0) slots.heads[at] = numbers[i][slots.heads[at]];
        }
      });
    };
    named.arcs = parse_pass<NameEnds, std::int32_t, Weight>(chunks, slots, layout, classes, ends,
                                                            widths, threads, monitor, renumber);
    pack_names(all.names(), named);
  });
  return named;
}

Place skip_comments(const Text& text, const std::string& comments) {
  const CharacterClasses classes(' ', comments);
  std::int64_t at = 0, line = text.line;
  while (at < text.size) {  // untestable (< to <=): at the end it stops a few lines below
    std::int64_t first = at;
    while (first < text.size && (classes.blank(text.data[first]) || text.data[first] == '\r')) {
      ++first;
    }
    if (first == text.size) break;
    const char c = text.data[first];
    if (c != '\n' && !classes.comment(c)) return {at, line};
    const void* newline = std::memchr(text.data + first, '\n', text.size - first);
    if (newline == nullptr) break;
    at = static_cast<const char*>(newline) - text.data + 1;
    ++line;
  }
  return {text.size, line};
}

}  // namespace kleene::text
