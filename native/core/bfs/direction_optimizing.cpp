// Direction-optimizing BFS (Beamer, Asanovic and Patterson 2012).
//
// While the frontier is small, its vertices push: each scans its outgoing arcs for unvisited
// vertices. Once the frontier's arcs are a large part of the unexplored ones, it is cheaper to let
// the unvisited vertices pull: each scans its incoming arcs until it finds the frontier, and most
// find it soon. When the frontier has become small again, the search goes back to pushing.
//
// Pushing keeps the frontier in queues, one per thread; distances[v] < 0 means "not visited". Two
// threads may visit the same vertex at the same moment; both then write the same depth and a valid
// predecessor, and the vertex is in both queues, which costs time but not correctness. Atomic
// operations would rule that out and cost far more: each would wait for the cache misses of the
// stores before it. Pulling keeps frontier and visited vertices in bitmaps, each word of which is
// written by one thread.
//
// Long thin graphs have thousands of levels of a few vertices each, too small to share. So the
// calling thread leads and calls helpers to a level, as many as its frontier is worth.
#include <bit>
#include <vector>

#include "bfs/bfs.hpp"
#include "bfs/tuning.hpp"
#include "parallel/buffer.hpp"
#include "parallel/relaxed.hpp"
#include "parallel/stealable_range.hpp"
#include "parallel/team.hpp"

namespace kleene::bfs {
namespace {

using Word = std::uint64_t;
constexpr std::int64_t kBits = 64;

// The vertices that one thread visits in a level.
template <class Id>
struct alignas(64) LocalQueue {
  Buffer<Id> queue;
  std::int64_t size = 0;
  std::int64_t arcs = 0;  // outgoing arcs of the vertices in the queue
  StealableRange left;    // of the queue, as a part of the frontier

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
  Search(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor)
      : outgoing_(problem.outgoing),
        incoming_(problem.incoming),
        row_(row),
        monitor_(monitor),
        helpers_(threads, monitor),
        level_stop_(problem.stop, row.distances),
        unexplored_(problem.outgoing.count()),
        frontier_(static_cast<std::size_t>(threads)),
        next_(static_cast<std::size_t>(threads)) {
    row.distances[problem.source] = 0;
    next_[0].room(1)[0] = problem.source;
    next_[0].size = 1;
    next_[0].arcs = outgoing_.degree(problem.source);
    begin_level(0);
  }

  Id run() {
    while (!done_) {
      if (pulling_) {
        if (!pulled_) make_bitmaps();
        pull();
      } else {
        if (pulled_) make_queues();
        push();
      }
      begin_level(depth_ + 1);
    }
    return horizon_;
  }

 private:
  // Chooses the direction of the next level.
  void begin_level(Id depth) {
    const std::int64_t before = size_;
    size_ = arcs_ = 0;
    for (const LocalQueue<Id>& local : next_) {
      size_ += local.size;
      arcs_ += local.arcs;
    }
    depth_ = depth;
    if (size_ == 0 || level_stop_.at(depth)) {
      done_ = true;
      horizon_ = size_ == 0 ? kNoHorizon<Id> : depth;
      return;
    }
    pulled_ = pulling_;
    if (pulled_) {
      std::swap(front_, next_front_);
      // untestable: pushing and pulling visit the same vertices
      pulling_ = size_ >= before || size_ > outgoing_.n / kBeta;
    } else {
      std::swap(frontier_, next_);
      // untestable: pushing and pulling visit the same vertices
      pulling_ = incoming_.neighbors != nullptr && arcs_ > unexplored_ / kAlpha &&
                 arcs_ > outgoing_.n / kGamma;
    }
    unexplored_ -= arcs_;
    for (LocalQueue<Id>& local : frontier_) local.left.reset(local.size);
    for (LocalQueue<Id>& local : next_) local.size = local.arcs = 0;
    if (pulling_ && words_ == 0) {
      words_ = (outgoing_.n + kBits - 1) / kBits;
      visited_ = Buffer<Word>(words_);
      front_ = Buffer<Word>(words_);
      next_front_ = Buffer<Word>(words_);
    }
  }

  // ---- pushing ------------------------------------------------------------------------------

  void push() {
    const int threads = threads_by_root(arcs_, kPushShare, helpers_.threads());
    const std::int64_t grain = std::clamp<std::int64_t>(size_ / (8 * threads), 1, kPushGrain);
    const int shares = arcs_ > kManyArcs * size_ ? 8 * threads : threads;  // hubs: small ones
    helpers_.share(threads, [&](int thread) { push_parts(thread, grain, shares); });
  }

  // A thread expands its own queue first, which is in its cache; then it helps the others. Helpers
  // leave small remainders to their owner; the leader takes everything.
  void push_parts(int thread, std::int64_t grain, int shares) {
    const std::int64_t least = thread == 0 ? 1 : 2 * grain;
    LocalQueue<Id>& own = frontier_[thread];
    push_pieces(own, thread, [&] { return own.left.take(grain); });
    // untestable (< to <=): its own queue again, in which nothing is left
    for (std::size_t k = 1; k < frontier_.size(); ++k) {
      LocalQueue<Id>& other = frontier_[(thread + k) % frontier_.size()];
      push_pieces(other, thread, [&] { return other.left.steal(shares, grain, least); });
    }
    LocalQueue<Id>& next = next_[thread];
    // untestable (= 0 to = 1): arcs only decide on the direction and the threads
    for (std::int64_t i = 0; i < next.size; ++i) next.arcs += outgoing_.degree(next.queue[i]);
  }

  template <class Take>
  void push_pieces(const LocalQueue<Id>& part, int thread, Take&& take) {
    CancelCheck check_cancelled(monitor_, thread);
    for (StealableRange::Piece piece; !(piece = take()).empty();) {
      for (std::int64_t i = piece.begin; i < piece.end; ++i) {
        if (i + 2 * kAhead < part.size) prefetch(&part.queue[i]);
        push_from(part.queue[i], next_[thread]);
      }
      check_cancelled();
    }
  }

  // Prefetches the rows of vertices to come in two steps: their offsets, then their arcs.
  void prefetch(const Id* at) const {
    __builtin_prefetch(&outgoing_.offsets[at[2 * kAhead]]);
    __builtin_prefetch(&outgoing_.neighbors[outgoing_.offsets[at[kAhead]]]);
  }

  void push_from(Id u, LocalQueue<Id>& next) {
    const std::int64_t first = outgoing_.offsets[u];
    const std::int64_t last = outgoing_.offsets[u + 1];
    Id* end = next.room(last - first);
    for (std::int64_t i = first; i < last; ++i) {
      const Id v = outgoing_.neighbors[i];
      if (relaxed_load(row_.distances[v]) >= 0) continue;
      relaxed_store(row_.distances[v], static_cast<Id>(depth_ + 1));
      if (row_.predecessors) relaxed_store(row_.predecessors[v], u);
      *end++ = v;
    }
    next.size = end - next.queue.data();
  }

  // ---- pulling ------------------------------------------------------------------------------

  void pull() {
    share_words(kPullGrain, [&](std::int64_t begin, std::int64_t end, int thread) {
      LocalQueue<Id>& next = next_[thread];
      for (std::int64_t word = begin; word < end; ++word) {
        const Word visited = pull_into(word, next.arcs);
        next_front_[word] = visited;
        visited_[word] |= visited;
        next.size += std::popcount(visited);
      }
    });
  }

  // Looks for predecessors of the unvisited vertices of a word; returns which of them found one.
  Word pull_into(std::int64_t word, std::int64_t& arcs) {
    Word found = 0;
    for (Word left = ~visited_[word]; left != 0; left &= left - 1) {
      const auto v = static_cast<Id>(word * kBits + std::countr_zero(left));
      for (std::int64_t i = incoming_.offsets[v]; i < incoming_.offsets[v + 1]; ++i) {
        const Id u = incoming_.neighbors[i];
        if ((front_[u / kBits] >> (u % kBits) & 1) == 0) continue;
        row_.distances[v] = depth_ + 1;
        if (row_.predecessors) row_.predecessors[v] = u;
        found |= left & -left;
        arcs += outgoing_.degree(v);
        break;
      }
    }
    return found;
  }

  // ---- from queues to bitmaps and back --------------------------------------------------------

  // From the depths.
  void make_bitmaps() {
    share_words(kConvertGrain, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t word = begin; word < end; ++word) fill_words(word);
    });
  }

  void fill_words(std::int64_t word) {
    const std::int64_t first = word * kBits;
    const std::int64_t count = std::min(kBits, outgoing_.n - first);
    Word visited = count == kBits ? 0 : ~Word{0} << count;  // beyond the last vertex
    Word front = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const Id value = row_.distances[first + i];
      visited |= static_cast<Word>(value >= 0) << i;
      front |= static_cast<Word>(value == depth_) << i;
    }
    visited_[word] = visited;
    front_[word] = front;
  }

  void make_queues() {
    for (LocalQueue<Id>& local : frontier_) local.size = 0;
    share_words(kConvertGrain, [&](std::int64_t begin, std::int64_t end, int thread) {
      LocalQueue<Id>& mine = frontier_[thread];
      for (std::int64_t word = begin; word < end; ++word) {
        Id* to = mine.room(kBits);
        for (Word left = front_[word]; left != 0; left &= left - 1) {
          *to++ = static_cast<Id>(word * kBits + std::countr_zero(left));
        }
        mine.size = to - mine.queue.data();
      }
    });
    for (LocalQueue<Id>& local : frontier_) local.left.reset(local.size);
  }

  template <class Body>
  void share_words(std::int64_t grain, Body&& body) {
    const int threads = threads_worth(outgoing_.n, kPullShare, helpers_.threads());
    helpers_.loop(threads, words_, grain, body);
  }

  const Arcs<Id> outgoing_, incoming_;
  const ResultRow<Id, Id> row_;
  Monitor& monitor_;
  HelperTeam helpers_;
  LevelStop<Id> level_stop_;

  // Written by the leader alone, between levels.
  Id depth_ = 0;
  Id horizon_ = 0;
  bool done_ = false;
  bool pulled_ = false;    // in the last level; the frontier is then a bitmap, else queues
  bool pulling_ = false;   // in this level
  std::int64_t size_ = 0;  // of the frontier
  std::int64_t arcs_ = 0;  // that leave it
  std::int64_t unexplored_;

  std::vector<LocalQueue<Id>> frontier_, next_;  // one per thread
  std::int64_t words_ = 0;                       // of the bitmaps, once there are any
  Buffer<Word> visited_, front_, next_front_;
};

}  // namespace

template <class Id>
Id direction_optimizing(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads,
                        Monitor& monitor) {
  return Search<Id>(problem, row, search_threads(problem.outgoing, threads), monitor).run();
}

template std::int32_t direction_optimizing(const Problem<std::int32_t>&,
                                           ResultRow<std::int32_t, std::int32_t>, int, Monitor&);
template std::int64_t direction_optimizing(const Problem<std::int64_t>&,
                                           ResultRow<std::int64_t, std::int64_t>, int, Monitor&);

}  // namespace kleene::bfs
