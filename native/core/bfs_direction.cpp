// Direction-optimizing BFS (Beamer, Asanovic and Patterson 2012).
//
// While the frontier is small, its vertices push: each looks along its outgoing arcs for vertices
// that have no depth yet. Once the frontier's arcs are a good part of those not looked at so far,
// it is cheaper to let the unvisited vertices pull: each looks along its incoming arcs until it
// meets the frontier, and most meet it soon. When the frontier has become small again, back to
// pushing.
//
// Pushing keeps the frontier in queues, one per thread, and takes values[v] < 0 for "not visited".
// Two threads may find the same vertex at the same moment; both then write the same depth and a
// valid parent, and the vertex stands in both queues, which costs time but no correctness. Atomic
// operations would rule that out and cost far more: each would wait for the cache misses of the
// stores before it. Pulling keeps frontier and visited vertices in bitmaps, a word of which only
// one thread writes.
//
// Long thin graphs have thousands of levels of a few vertices each, too small to share. So the
// search runs on the calling thread alone, and starts its team only when a frontier is worth it;
// when frontiers become small the team is dissolved.
#include <bit>
#include <vector>

#include "bfs.hpp"
#include "buffer.hpp"
#include "parallel.hpp"
#include "relaxed.hpp"

namespace kleene {
namespace {

using Word = std::uint64_t;
constexpr std::int64_t kBits = 64;

// Pull when the frontier's arcs times kAlpha exceed those not yet explored, and times kGamma the
// vertices (a pull looks at all of them, which a late, small frontier does not pay for). Push again
// when the frontier shrinks and has fewer than n / kBeta vertices.
constexpr std::int64_t kAlpha = 15;
constexpr std::int64_t kBeta = 18;
constexpr std::int64_t kGamma = 8;

// Arcs of the frontier at which a team is started, and below which it is dissolved (of 2^9 to 2^15
// and 2^7 to 2^11, the best on a thinned grid of 740,000 vertices, two cores of a Xeon).
constexpr std::int64_t kTeamBegins = 1 << 11;
constexpr std::int64_t kTeamEnds = 1 << 7;

constexpr std::int64_t kPushGrain = 64;  // vertices of the frontier
constexpr std::int64_t kPullGrain = 16;  // words of the bitmap
constexpr std::int64_t kSpreadGrain = 256;
constexpr std::int64_t kAhead = 8;  // vertices

// What one thread found in a level.
template <class Id>
struct alignas(64) Found {
  Buffer<Id> queue;
  std::int64_t size = 0;
  std::int64_t arcs = 0;               // outgoing arcs of the vertices in the queue
  std::atomic<std::int64_t> taken{0};  // vertices of the queue that some thread has gone on from

  std::int64_t left() const { return size - taken.load(std::memory_order_relaxed); }

  // Makes room for `more` vertices and returns where they go.
  Id* room(std::int64_t more) {
    if (size + more > queue.size()) {
      Buffer<Id> larger(std::max(size + more, 2 * queue.size()));
      std::copy(queue.data(), queue.data() + size, larger.data());
      queue = std::move(larger);
    }
    return queue.data() + size;
  }
};

template <class Id>
class Search {
 public:
  Search(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor)
      : out_(problem.out),
        into_(problem.into),
        row_(row),
        threads_(threads),
        monitor_(monitor),
        ending_(problem.stop, row.values),
        unexplored_(problem.out.count()),
        frontier_(static_cast<std::size_t>(threads)),
        next_(static_cast<std::size_t>(threads)) {
    row.values[problem.source] = 0;
    next_[0].room(1)[0] = problem.source;
    next_[0].size = 1;
    next_[0].arcs = out_.degree(problem.source);
    begin_level(0);
  }

  Id run() {
    while (!done_) {
      Team team(worth_team(kTeamBegins) ? threads_ : 1, monitor_);
      run_team(team.threads(), monitor_, [&](int thread) { levels(team, thread); });
    }
    return horizon_;
  }

 private:
  using Member = Team::Member;

  // Runs levels until the search is done or is better off with a team of another size.
  void levels(Team& team, int thread) {
    Member me(team, thread);
    do {
      if (pulling_) {
        if (!pulled_) make_bitmaps(me);
        pull(me);
      } else {
        if (pulled_) make_queues(me);
        push(me);
      }
      if (me.leads()) {
        begin_level(depth_ + 1);
        resize_ = team.threads() > 1 ? !worth_team(kTeamEnds) : worth_team(kTeamBegins);
      }
      me.meet();
    } while (!done_ && !resize_);
  }

  bool worth_team(std::int64_t work) const {
    return threads_ > 1 && (pulling_ ? out_.n : arcs_) >= work;
  }

  // Only the leader, while the others wait: weighs what was found and decides how to go on.
  void begin_level(Id depth) {
    const std::int64_t before = size_;
    size_ = arcs_ = 0;
    for (const Found<Id>& found : next_) {
      size_ += found.size;
      arcs_ += found.arcs;
    }
    depth_ = depth;
    if (size_ == 0 || ending_.at(depth)) {
      done_ = true;
      horizon_ = size_ == 0 ? kNoHorizon<Id> : depth;
      return;
    }
    pulled_ = pulling_;
    if (pulled_) {
      std::swap(front_, next_front_);
      pulling_ = size_ >= before || size_ > out_.n / kBeta;
    } else {
      std::swap(frontier_, next_);
      pulling_ =
          into_.neighbors != nullptr && arcs_ > unexplored_ / kAlpha && arcs_ > out_.n / kGamma;
    }
    unexplored_ -= arcs_;
    for (Found<Id>& found : frontier_) found.taken.store(0, std::memory_order_relaxed);
    for (Found<Id>& found : next_) found.size = found.arcs = 0;
    if (pulling_ && words_ == 0) {
      words_ = (out_.n + kBits - 1) / kBits;
      visited_ = Buffer<Word>(words_);
      front_ = Buffer<Word>(words_);
      next_front_ = Buffer<Word>(words_);
    }
  }

  // ---- pushing ------------------------------------------------------------------------------

  // A thread goes on from what it found itself, which is near in memory and in its cache; then it
  // helps the others.
  void push(Member& me) {
    Found<Id>& next = next_[me.thread()];
    for (std::size_t k = 0; k < frontier_.size(); ++k) {
      Found<Id>& part = frontier_[(me.thread() + k) % frontier_.size()];
      while (part.left() > 0) {
        const std::int64_t begin = part.taken.fetch_add(kPushGrain, std::memory_order_relaxed);
        const std::int64_t end = std::min(begin + kPushGrain, part.size);
        for (std::int64_t i = begin; i < end; ++i) {
          if (i + 2 * kAhead < part.size) prefetch(&part.queue[i]);
          push_from(part.queue[i], next);
        }
        me.poll(end - begin);
      }
    }
    for (std::int64_t i = 0; i < next.size; ++i) next.arcs += out_.degree(next.queue[i]);
    me.meet();
  }

  // The rows of vertices to come, in two steps: where they are, then what is in them.
  void prefetch(const Id* at) const {
    __builtin_prefetch(&out_.offsets[at[2 * kAhead]]);
    __builtin_prefetch(&out_.neighbors[out_.offsets[at[kAhead]]]);
  }

  void push_from(Id u, Found<Id>& next) {
    const std::int64_t first = out_.offsets[u];
    const std::int64_t last = out_.offsets[u + 1];
    Id* end = next.room(last - first);
    for (std::int64_t i = first; i < last; ++i) {
      const Id v = out_.neighbors[i];
      if (relaxed_load(row_.values[v]) >= 0) continue;
      relaxed_store(row_.values[v], static_cast<Id>(depth_ + 1));
      if (row_.parents) relaxed_store(row_.parents[v], u);
      *end++ = v;
    }
    next.size = end - next.queue.data();
  }

  // ---- pulling ------------------------------------------------------------------------------

  void pull(Member& me) {
    std::int64_t size = 0;
    std::int64_t arcs = 0;
    me.loop(
        words_, kPullGrain,
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t word = begin; word < end; ++word) {
            const Word found = pull_into(word, arcs);
            next_front_[word] = found;
            visited_[word] |= found;
            size += std::popcount(found);
          }
        },
        [&] {
          next_[me.thread()].size = size;
          next_[me.thread()].arcs = arcs;
        });
  }

  // Looks for parents of the unvisited vertices of a word; returns which of them found one.
  Word pull_into(std::int64_t word, std::int64_t& arcs) {
    Word found = 0;
    for (Word left = ~visited_[word]; left != 0; left &= left - 1) {
      const auto v = static_cast<Id>(word * kBits + std::countr_zero(left));
      for (std::int64_t i = into_.offsets[v]; i < into_.offsets[v + 1]; ++i) {
        const Id u = into_.neighbors[i];
        if ((front_[u / kBits] >> (u % kBits) & 1) == 0) continue;
        row_.values[v] = depth_ + 1;
        if (row_.parents) row_.parents[v] = u;
        found |= left & -left;
        arcs += out_.degree(v);
        break;
      }
    }
    return found;
  }

  // ---- from queues to bitmaps and back --------------------------------------------------------

  // The depths say who has been visited, and who is in the frontier.
  void make_bitmaps(Member& me) {
    me.loop(words_, kSpreadGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t word = begin; word < end; ++word) spread(word);
    });
  }

  void spread(std::int64_t word) {
    const std::int64_t first = word * kBits;
    const std::int64_t count = std::min(kBits, out_.n - first);
    Word visited = count == kBits ? 0 : ~Word{0} << count;  // beyond the last vertex
    Word front = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const Id value = row_.values[first + i];
      visited |= static_cast<Word>(value >= 0) << i;
      front |= static_cast<Word>(value == depth_) << i;
    }
    visited_[word] = visited;
    front_[word] = front;
  }

  void make_queues(Member& me) {
    Found<Id>& mine = frontier_[me.thread()];
    mine.size = 0;
    me.loop(words_, kSpreadGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t word = begin; word < end; ++word) {
        Id* to = mine.room(kBits);
        for (Word left = front_[word]; left != 0; left &= left - 1) {
          *to++ = static_cast<Id>(word * kBits + std::countr_zero(left));
        }
        mine.size = to - mine.queue.data();
      }
    });
  }

  const Arcs<Id> out_, into_;
  const Row<Id, Id> row_;
  const int threads_;
  Monitor& monitor_;
  Ending<Id> ending_;

  // Written by the leader alone, between levels.
  Id depth_ = 0;
  Id horizon_ = 0;
  bool done_ = false;
  bool resize_ = false;
  bool pulled_ = false;    // the last level; the frontier is then in a bitmap, else in queues
  bool pulling_ = false;   // this level
  std::int64_t size_ = 0;  // of the frontier
  std::int64_t arcs_ = 0;  // that leave it
  std::int64_t unexplored_;

  std::vector<Found<Id>> frontier_, next_;  // one per thread
  std::int64_t words_ = 0;                  // of the bitmaps, once there are any
  Buffer<Word> visited_, front_, next_front_;
};

}  // namespace

template <class Id>
Id bfs_direction_optimizing(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads,
                            Monitor& monitor) {
  return Search<Id>(problem, row, team_size(problem, threads), monitor).run();
}

template std::int32_t bfs_direction_optimizing(const BfsProblem<std::int32_t>&,
                                               Row<std::int32_t, std::int32_t>, int, Monitor&);
template std::int64_t bfs_direction_optimizing(const BfsProblem<std::int64_t>&,
                                               Row<std::int64_t, std::int64_t>, int, Monitor&);

}  // namespace kleene
