// One arc a line between numbered vertices: DIMACS, MatrixMarket, edge lists of numbers.
#include "graph/renumber.hpp"
#include "layout.hpp"

namespace kleene::fuzz {
namespace {

std::int64_t length(const Ids& ids) {
  return std::visit([](const auto& held) { return held.size(); }, ids);
}

// Every id is one that the layout allows, and all columns are of one length.
void check_arcs(const ParsedArcs& arcs, const Layout& layout) {
  const auto within = [&](const auto& held) {
    for (std::int64_t i = 0; i < held.size(); ++i) {
      const std::int64_t id = held[i];
      require(id >= layout.low - layout.base && id <= layout.high - layout.base, "a vertex");
    }
  };
  std::visit(within, arcs.tails);
  std::visit(within, arcs.heads);
  if (layout.tail >= 0) require(length(arcs.tails) == length(arcs.heads), "as many tails as heads");
  const auto weights = std::visit([](const auto& held) { return held.size(); }, arcs.weights);
  if (layout.weight >= 0 && layout.tail >= 0) {
    require(weights == length(arcs.tails), "as many weights as arcs");
  }
}

// Numbers with gaps become ids without, and each stands for the number that it was made from.
void check_renumbering(const ParsedArcs& arcs, int threads) {
  std::visit(
      [&](const auto& tails) {
        const auto& heads = std::get<std::remove_cvref_t<decltype(tails)>>(arcs.heads);
        if (tails.size() == 0 || tails.size() != heads.size()) return;
        const auto [low, high] = [&] {
          const auto [a, b] = std::minmax_element(tails.data(), tails.data() + tails.size());
          const auto [c, d] = std::minmax_element(heads.data(), heads.data() + heads.size());
          return std::pair<std::int64_t, std::int64_t>(std::min(*a, *c), std::max(*b, *d));
        }();
        if (static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) > 4096) return;
        Monitor monitor;
        using Id = std::remove_cvref_t<decltype(tails[0])>;
        const auto made = renumber<Id, std::int32_t>(tails.size(), tails.data(), heads.data(), low,
                                                     high - low + 1, threads, monitor);
        if (made.sources.size() == 0) return require(low == 0, "numbers that are ids already");
        for (std::int64_t i = 0; i < tails.size(); ++i) {
          require(made.numbers[made.sources[i]] == tails[i], "the number of a tail");
          require(made.numbers[made.targets[i]] == heads[i], "the number of a head");
        }
        for (std::int64_t i = 1; i < made.numbers.size(); ++i) {
          require(made.numbers[i - 1] < made.numbers[i], "numbers in increasing order");
        }
      },
      arcs.tails);
}

}  // namespace
}  // namespace kleene::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kleene::fuzz;
  const ArcInput input = arc_input(data, size);
  Monitor monitor;
  check_skip(input.text, input.layout.comments);
  const auto whole = attempt([&] { return parse_arcs(input.text, input.layout, 1, monitor); });
  const auto split =
      attempt([&] { return parse_arcs(cut(input), input.layout, input.split.threads, monitor); });
  check_same(whole, split, input.text);
  if (const auto* arcs = std::get_if<ParsedArcs>(&whole)) {
    check_arcs(*arcs, input.layout);
    if (arcs->tails.index() == arcs->heads.index()) check_renumbering(*arcs, input.split.threads);
  }
  return 0;
}
