#include "text/write.hpp"

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>

#include "parallel/team.hpp"

namespace kleene::text {
namespace {

constexpr std::int64_t kArcGrain = 1 << 14;     // arcs formatted by a thread at a time
constexpr std::int64_t kVertexGrain = 1 << 10;  // vertices likewise
constexpr std::size_t kLongestNumber = 32;
constexpr std::int64_t kFirstRoom = 1 << 18;  // bytes: most pieces need no more

// Text that grows; numbers are written straight into it.
class Writer {
 public:
  void put(char c) {
    *room(1) = c;
    ++size_;
  }
  void put(const char* text, std::size_t size) {
    std::copy_n(text, size, room(size));
    size_ += static_cast<std::int64_t>(size);
  }
  void put(const std::string& text) { put(text.data(), text.size()); }

  template <class Number>
  void number(Number value) {
    char* const at = room(kLongestNumber);
    char* end = std::to_chars(at, at + kLongestNumber, value).ptr;
    if constexpr (std::is_floating_point_v<Number>) {
      // "2.0", not "2": what was a float is to be read as one.
      const bool whole =
          std::all_of(at, end, [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
      if (whole) *end++ = '.', *end++ = '0';
    }
    size_ += end - at;
  }

  Lines release() { return {std::move(text_), size_}; }

 private:
  char* room(std::size_t more) {
    const auto needed = size_ + static_cast<std::int64_t>(more);
    if (needed > text_.size()) {  // untestable (> to >=): grows one character earlier
      Buffer<char> larger(2 * needed + kFirstRoom);
      std::copy_n(text_.data(), size_, larger.data());
      text_ = std::move(larger);
    }
    return text_.data() + size_;
  }

  Buffer<char> text_;
  std::int64_t size_ = 0;
};

// Runs write(begin, end, writer) over pieces of [begin, end); returns what they wrote, in order.
template <class Write>
std::vector<Lines> write_pieces(std::int64_t begin, std::int64_t end, std::int64_t grain,
                                int threads, Monitor& monitor, Write&& write) {
  std::vector<Lines> pieces(static_cast<std::size_t>((end - begin + grain - 1) / grain));
  parallel_for(end - begin, grain, threads, monitor, [&](auto from, auto to, int) {
    Writer writer;
    write(begin + from, begin + to, writer);
    pieces[static_cast<std::size_t>(from / grain)] = writer.release();
  });
  return pieces;
}

void put_vertex(Writer& out, std::int64_t v, const VertexNames& names) {
  if (names.characters != nullptr) {
    out.put(names.characters + names.starts[v],
            static_cast<std::size_t>(names.starts[v + 1] - names.starts[v]));
  } else {
    out.number(names.numbers != nullptr ? names.numbers[v] : v + names.base);
  }
}

bool written(Directions directions, std::int64_t source, std::int64_t target) {
  return directions == Directions::kAll ||
         (directions == Directions::kUpward ? source <= target : source >= target);
}

}  // namespace

template <class Id, class Weight>
std::vector<Lines> write_arcs(const Arcs<Id, Weight>& graph, std::int64_t begin, std::int64_t end,
                              const VertexNames& names, const LineStyle& style, int threads,
                              Monitor& monitor) {
  const auto piece = [&](std::int64_t from, std::int64_t to, Writer& out) {
    // untestable: an arc behind it is of the last vertex
    const std::int64_t* const offsets_end = graph.offsets + graph.n + 1;
    std::int64_t source = std::upper_bound(graph.offsets, offsets_end, from) - graph.offsets - 1;
    for (std::int64_t arc = from; arc < to; ++arc) {
      while (arc >= graph.offsets[source + 1]) ++source;
      const auto target = static_cast<std::int64_t>(graph.neighbors[arc]);
      if (!written(style.directions, source, target)) continue;
      out.put(style.prefix);
      put_vertex(out, source, names);
      out.put(style.separator);
      put_vertex(out, target, names);
      if constexpr (!std::is_same_v<Weight, NoWeight>) {
        out.put(style.separator);
        out.number(graph.weights[arc]);
      } else if (!style.constant.empty()) {
        out.put(style.separator);
        out.put(style.constant);
      }
      out.put('\n');
    }
  };
  return write_pieces(begin, end, kArcGrain, threads, monitor, piece);
}

template <class Id, class Weight>
std::vector<Lines> write_rows(const Arcs<Id, Weight>& graph, std::int64_t begin, std::int64_t end,
                              int threads, Monitor& monitor) {
  const auto piece = [&](std::int64_t from, std::int64_t to, Writer& out) {
    for (std::int64_t v = from; v < to; ++v) {
      for (std::int64_t arc = graph.offsets[v]; arc < graph.offsets[v + 1]; ++arc) {
        if (arc > graph.offsets[v]) out.put(' ');
        out.number(static_cast<std::int64_t>(graph.neighbors[arc]) + 1);
        if constexpr (!std::is_same_v<Weight, NoWeight>) {
          out.put(' ');
          out.number(graph.weights[arc]);
        }
      }
      out.put('\n');
    }
  };
  return write_pieces(begin, end, kVertexGrain, threads, monitor, piece);
}

#define KLEENE_WRITE(ID, W)                                                                     \
  template std::vector<Lines> write_arcs<ID, W>(const Arcs<ID, W>&, std::int64_t, std::int64_t, \
                                                const VertexNames&, const LineStyle&, int,      \
                                                Monitor&);                                      \
  template std::vector<Lines> write_rows<ID, W>(const Arcs<ID, W>&, std::int64_t, std::int64_t, \
                                                int, Monitor&);
#define KLEENE_WRITE_ID(ID)      \
  KLEENE_WRITE(ID, NoWeight)     \
  KLEENE_WRITE(ID, float)        \
  KLEENE_WRITE(ID, double)       \
  KLEENE_WRITE(ID, std::int32_t) \
  KLEENE_WRITE(ID, std::int64_t)

KLEENE_WRITE_ID(std::int32_t)
KLEENE_WRITE_ID(std::int64_t)

}  // namespace kleene::text
