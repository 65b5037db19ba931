// One arc a line between named vertices: edge lists. Then the same lines as a column of words.
#include <set>
#include <string_view>

#include "layout.hpp"

namespace kleene::fuzz {
namespace {

// Vertices are numbered as they appear; names are distinct, and hold no line end.
void check_names(const NamedArcs& named) {
  const std::int64_t count = named.starts.size() - 1;
  require(named.starts[0] == 0 && named.starts[count] == named.characters.size(), "all characters");
  std::set<std::string_view> seen;
  for (std::int64_t i = 0; i < count; ++i) {
    require(named.starts[i] <= named.starts[i + 1], "names in order");
    const std::string_view name(named.characters.data() + named.starts[i],
                                static_cast<std::size_t>(named.starts[i + 1] - named.starts[i]));
    require(seen.insert(name).second, "distinct names");
    require(name.find('\n') == name.npos, "a name on one line");
  }
  std::int64_t largest = -1;
  const auto& tails = std::get<Buffer<std::int32_t>>(named.arcs.tails);
  const auto& heads = std::get<Buffer<std::int32_t>>(named.arcs.heads);
  for (std::int64_t i = 0; i < tails.size(); ++i) {
    for (const std::int64_t id : {tails[i], heads.size() == 0 ? tails[i] : heads[i]}) {
      require(0 <= id && id < count, "a vertex has a name");
      largest = std::max(largest, id);
    }
  }
  require(largest == count - 1, "a name has a vertex");
}

void check_layout(const ArcInput& input) {
  Monitor monitor;
  const auto whole =
      attempt([&] { return parse_named_arcs(input.text, input.layout, 1, monitor); });
  const auto split = attempt(
      [&] { return parse_named_arcs(cut(input), input.layout, input.split.threads, monitor); });
  check_same(whole, split, input.text);
  if (const auto* named = std::get_if<NamedArcs>(&whole)) check_names(*named);
}

}  // namespace
}  // namespace kleene::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kleene::fuzz;
  ArcInput input = arc_input(data, size);
  if (input.layout.tail < 0) return -1;  // every arc has two ends
  check_layout(input);
  input.layout.head = input.layout.weight = -1;  // a column of words, such as directions
  check_layout(input);
  return 0;
}
