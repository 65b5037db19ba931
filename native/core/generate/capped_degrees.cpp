// Random rows of given degrees, written straight into CSR: degrees first, then (to connect the
// graph) a tree that keeps to them, then every row on its own.
#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "generate/generate.hpp"
#include "generate/random.hpp"
#include "generate/subset.hpp"
#include "parallel/team.hpp"

namespace kleene::generate {
namespace {

constexpr std::int64_t kArcGrain = 1 << 14;  // arcs handed to a thread at a time
constexpr std::int64_t kRowGrain = 1 << 6;   // rows handed to a thread at a time

// Coins are tossed where more than one slot in so many is taken. Measured on a loaded Xeon, one
// thread, n = 20000: at the switch a graph takes 0.32 s with tossed and 0.43 s with named slots.
constexpr std::int64_t kTossed = 64;

// Every vertex offers `cap` slots, of which a random set of `wanted` is taken: how many each
// vertex loses. Where few are taken, a shuffle names them.
std::vector<std::int64_t> named_slots(std::int64_t n, std::int64_t wanted, std::int64_t cap,
                                      std::uint64_t seed, int threads, Monitor& monitor) {
  const auto slots = static_cast<std::uint64_t>(cap);
  const Shuffle shuffle(static_cast<std::uint64_t>(n) * slots, Stream(seed, Purpose::kDegrees));
  std::vector<std::int64_t> taken(static_cast<std::size_t>(n));
  parallel_for(wanted, kArcGrain, threads, monitor, [&](auto begin, auto end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t v = shuffle[static_cast<std::uint64_t>(i)] / slots;
      std::atomic_ref(taken[v]).fetch_add(1, std::memory_order_relaxed);
    }
  });
  return taken;
}

constexpr int kBiasBits = 16;

// How many of the coins fall heads, each with probability bias / 2^16. A word tosses 64 at once:
// from the lowest bit of the bias upwards, a random word raises the chance p of each of its bits
// to (p + 1) / 2 or lowers it to p / 2.
std::int64_t heads(std::int64_t coins, std::uint32_t bias, const Stream& draws) {
  std::int64_t count = 0;
  std::uint64_t draw = 0;
  for (; coins > 0; coins -= 64) {  // untestable (> to >=): a word of no coins
    std::uint64_t word = 0;
    for (int bit = std::countr_zero(bias); bit < kBiasBits; ++bit) {
      const std::uint64_t random = draws[draw++];
      word = (bias >> bit & 1) != 0 ? word | random : word & random;
    }
    if (coins < 64) word &= (std::uint64_t{1} << coins) - 1;
    count += std::popcount(word);
  }
  return count;
}

// The same where many are taken: a coin for every slot, then random slots are freed or taken until
// the sum is right. (All slots are treated alike throughout, so a rounded bias does no harm.)
std::vector<std::int64_t> tossed_slots(std::int64_t n, std::int64_t wanted, std::int64_t cap,
                                       std::uint64_t seed, int threads, Monitor& monitor) {
  const Stream stream(seed, Purpose::kDegrees);
  const auto share = static_cast<double>(wanted) / static_cast<double>(n * cap);
  const auto bias = static_cast<std::uint32_t>(share * (1 << kBiasBits));
  std::vector<std::int64_t> taken(static_cast<std::size_t>(n));
  parallel_for(n, kRowGrain, threads, monitor, [&](auto begin, auto end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      taken[v] = heads(cap, bias, stream.branch(static_cast<std::uint64_t>(v)));
    }
  });

  const auto slots = static_cast<std::uint64_t>(n * cap);
  std::int64_t excess = std::accumulate(taken.begin(), taken.end(), -wanted);
  for (std::uint64_t draw = 0; excess != 0; ++draw) {
    // Which slots of a vertex are taken does not matter: let it be the first.
    const auto slot = static_cast<std::int64_t>(below(stream[draw], slots));
    // untestable below (> to >=): the loop ends where the excess is zero
    const std::int64_t v = slot / cap, change = excess > 0 ? -1 : 1;
    const bool is_taken = slot % cap < taken[v];
    if (is_taken != (excess > 0)) continue;
    taken[v] += change;
    excess += change;
  }
  return taken;
}

bool tosses(std::int64_t n, std::int64_t wanted, std::int64_t cap) {
  // untestable (< to <=): both ways draw from the same distribution
  return n * cap / kTossed < wanted;
}

// Degrees that sum to `arcs`, none above `cap`; with cap = n - 1, those of a uniformly random
// graph. The arcs take a random set of slots, or leave one free.
std::vector<std::int64_t> slot_degrees(std::int64_t n, std::int64_t arcs, std::int64_t cap,
                                       std::uint64_t seed, int threads, Monitor& monitor) {
  // untestable (min to max): only the total that progress is shown against
  const std::int64_t wanted = std::min(arcs, n * cap - arcs);
  if (wanted == 0) return std::vector(static_cast<std::size_t>(n), arcs == 0 ? 0 : cap);
  const auto slots = tosses(n, wanted, cap) ? tossed_slots : named_slots;
  std::vector<std::int64_t> degrees = slots(n, wanted, cap, seed, threads, monitor);
  if (wanted < arcs) {
    for (std::int64_t& degree : degrees) degree = cap - degree;
  }
  return degrees;
}

// Rotates the sequence of degrees so that, whenever k vertices have been joined into a tree by k -
// 1 of their arcs, they have an arc left for the next. Such a rotation exists if the degrees sum to
// n - 1 or more (the cycle lemma of Dvoretzky and Motzkin 1947): start where the sum of degree - 1
// is least for the first time.
void rotate_to_tree_order(std::vector<std::int64_t>& degrees) {
  std::int64_t sum = 0, least = 0;
  auto start = degrees.begin();
  for (auto degree = degrees.begin(); degree != degrees.end(); ++degree) {
    sum += *degree - 1;
    if (sum < least) {
      least = sum;
      start = degree + 1;
    }
  }
  std::rotate(degrees.begin(), start, degrees.end());
}

// Children of every vertex in a tree rooted at vertex 0.
template <class Id>
struct Tree {
  std::vector<std::int64_t> offsets;
  std::vector<Id> children;

  std::span<const Id> of(std::int64_t v) const {
    return {children.data() + offsets[v], children.data() + offsets[v + 1]};
  }
};

// The vertices in random order, but vertex 0 first (Fisher and Yates).
template <class Id>
std::vector<Id> random_order(std::int64_t n, const Stream& stream) {
  std::vector<Id> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Id{0});
  for (std::int64_t i = n - 1; i > 1; --i) {  // untestable (> to >=): swaps vertex 1 with itself
    std::swap(order[i], order[1 + below(stream[static_cast<std::uint64_t>(i)], i)]);
  }
  return order;
}

// A random tree in which no vertex has more children than its degree. Vertices join in random
// order, each below a random one that has an arc left; `degrees` is brought into that order.
template <class Id>
Tree<Id> random_tree(std::vector<std::int64_t>& degrees, std::uint64_t seed, Monitor& monitor) {
  const Stream stream(seed, Purpose::kTree);
  const auto n = static_cast<std::int64_t>(degrees.size());
  const std::vector<Id> order = random_order<Id>(n, stream);
  rotate_to_tree_order(degrees);
  const std::vector<std::int64_t> rotated = degrees;
  // untestable (= 0 to = 1): vertex 0 is the first, and has its degree already
  for (std::int64_t i = 0; i < n; ++i) degrees[order[i]] = rotated[i];

  std::vector<Id> parents(order.size());
  std::vector<Id> open;  // joined, with arcs left
  std::vector<std::int64_t> left = degrees;
  // untestable (second > to >=): the first degree is zero only where there is no other vertex
  if (n > 0 && left[0] > 0) open.push_back(0);
  Tree<Id> tree{std::vector<std::int64_t>(order.size() + 1), std::vector<Id>(order.size())};
  for (std::int64_t i = 1; i < n; ++i) {
    if (i % (1 << 16) == 0) monitor.poll();
    const auto chosen = below(stream[static_cast<std::uint64_t>(n + i)], open.size());
    const Id parent = open[chosen], child = order[i];
    parents[child] = parent;
    ++tree.offsets[parent];
    if (--left[parent] == 0) {
      open[chosen] = open.back();
      open.pop_back();
    }
    if (left[child] > 0) open.push_back(child);
  }
  lengths_to_offsets(tree.offsets);
  std::vector<std::int64_t> cursor = tree.offsets;
  for (std::int64_t v = 1; v < n; ++v) tree.children[cursor[parents[v]]++] = static_cast<Id>(v);
  return tree;
}

}  // namespace

std::int64_t capped_units(std::int64_t n, std::int64_t arcs, std::int64_t cap) {
  const std::int64_t wanted = std::min(arcs, n * cap - arcs);
  return n + (tosses(n, wanted, cap) ? n : wanted);
}

template <class Id>
Csr<Id, NoWeight> capped_rows(std::int64_t n, std::int64_t arcs, std::int64_t cap, bool connected,
                              std::uint64_t seed, int threads, Monitor& monitor) {
  std::vector<std::int64_t> degrees = slot_degrees(n, arcs, cap, seed, threads, monitor);
  Tree<Id> tree;
  if (connected) tree = random_tree<Id>(degrees, seed, monitor);

  Csr<Id, NoWeight> csr{Buffer<std::int64_t>(n + 1), Buffer<Id>(arcs), {}};
  std::copy(degrees.begin(), degrees.end(), csr.offsets.data());
  csr.offsets[n] = 0;
  lengths_to_offsets({csr.offsets.data(), static_cast<std::size_t>(n + 1)});

  const Stream stream(seed, Purpose::kRows);
  std::vector<SubsetSampler<Id>> samplers(static_cast<std::size_t>(threads));
  parallel_for(n, kRowGrain, threads, monitor, [&](auto begin, auto end, int thread) {
    std::vector<Id> required;
    for (std::int64_t row = begin; row < end; ++row) {
      const Id v = static_cast<Id>(row);
      required.clear();
      if (connected) {
        // untestable (> to >=): no vertex is its own child
        for (const Id child : tree.of(row)) required.push_back(child - (child > v));
      }
      Id* out = csr.neighbors.data() + csr.offsets[row];
      samplers[static_cast<std::size_t>(thread)].sample(
          n - 1, degrees[row], required, stream.branch(static_cast<std::uint64_t>(row)), out);
      for (std::int64_t i = 0; i < degrees[row]; ++i) out[i] += out[i] >= v;
    }
  });
  return csr;
}

#define KLEENE_ID(ID)                                                                        \
  template Csr<ID, NoWeight> capped_rows<ID>(std::int64_t, std::int64_t, std::int64_t, bool, \
                                             std::uint64_t, int, Monitor&);

KLEENE_ID(std::int32_t)
KLEENE_ID(std::int64_t)

}  // namespace kleene::generate
