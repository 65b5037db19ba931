// Warp operations: shuffles, votes, matches and reductions.
//
// A lane waits until every lane of its mask that has not exited has called the same operation with
// the same mask, at the same line; the last one to arrive computes all results.
#include <cstdio>
#include <cstring>

#include "block.hpp"
#include "checker.hpp"

namespace kleene::emulator {

namespace {

const char* name_of(WarpOp op) {
  static constexpr const char* kNames[] = {
      "__syncwarp",        "__ballot_sync",     "__any_sync",        "__all_sync",
      "__match_any_sync",  "__match_all_sync",  "__shfl_sync",       "__shfl_up_sync",
      "__shfl_down_sync",  "__shfl_xor_sync",   "__reduce_add_sync", "__reduce_add_sync",
      "__reduce_min_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_max_sync",
      "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync"};
  return kNames[static_cast<int>(op)];
}

bool is_shuffle(WarpOp op) { return WarpOp::kShuffle <= op && op <= WarpOp::kShuffleXor; }

// The source lane of a shuffle; the lane itself if the source is outside its segment.
unsigned source_lane(const Thread& lane) {
  const int own = static_cast<int>(lane.lane), width = lane.width;
  const int segment = own / width * width, end = segment + width;
  int source = own;
  switch (lane.op) {
    case WarpOp::kShuffle:
      source = segment + (lane.argument & (width - 1));
      break;
    case WarpOp::kShuffleUp:
      source = own - lane.argument;
      break;
    case WarpOp::kShuffleDown:
      source = own + lane.argument;
      break;
    default:  // a lane may read from lower segments, but not from higher ones
      source = own ^ lane.argument;
      return static_cast<unsigned>(source < end ? source : own);
  }
  return static_cast<unsigned>(segment <= source && source < end ? source : own);
}

std::uint64_t reduce(WarpOp op, std::uint64_t a, std::uint64_t b) {
  const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
  const auto ua = static_cast<std::uint32_t>(a), ub = static_cast<std::uint32_t>(b);
  switch (op) {
    case WarpOp::kMinSigned:
      return static_cast<std::uint32_t>(sa < sb ? sa : sb);
    case WarpOp::kMaxSigned:
      return static_cast<std::uint32_t>(sa > sb ? sa : sb);
    case WarpOp::kMinUnsigned:
      return ua < ub ? ua : ub;
    case WarpOp::kMaxUnsigned:
      return ua > ub ? ua : ub;
    case WarpOp::kAnd:
      return ua & ub;
    case WarpOp::kOr:
      return ua | ub;
    case WarpOp::kXor:
      return ua ^ ub;
    default:
      return ua + ub;
  }
}

}  // namespace

std::uint64_t Block::warp_operation(Thread& thread) {
  if (checker != nullptr) checker->check_pending_write();
  const auto number = static_cast<std::uint32_t>(&thread - threads_.data());
  const char* const name = name_of(thread.op);
  if ((thread.mask >> thread.lane & 1) == 0) {
    fail(thread, thread.site, std::string(name) + " with a mask that leaves out the calling lane");
  }
  if (is_shuffle(thread.op) &&
      (thread.width < 1 || thread.width > 32 || (thread.width & (thread.width - 1)) != 0)) {
    fail(thread, thread.site, std::string(name) + " with a width that is not a power of two");
  }
  const std::uint32_t warp = number / 32 * 32;
  require_same_operation(thread, warp);
  thread.state = State::kInWarp;
  warps_[number / 32].waiting |= 1u << thread.lane;
  complete_warp_operation(thread, warp, thread.mask);
  if (thread.state == State::kInWarp) suspend(thread);
  return thread.value;
}

// Two lanes that wait for each other must wait in the same operation. A lane in only one of their
// masks may take part in another operation first.
void Block::require_same_operation(const Thread& thread, std::uint32_t warp) {
  for (unsigned left = warps_[warp / 32].waiting & thread.mask; left != 0; left &= left - 1) {
    const Thread& other = threads_[warp + static_cast<unsigned>(__builtin_ctz(left))];
    if ((other.mask >> thread.lane & 1) == 0) continue;
    if (other.mask != thread.mask || other.op != thread.op || other.site.line != thread.site.line ||
        std::strcmp(other.site.file, thread.site.file) != 0) {
      char masks[64];
      std::snprintf(masks, sizeof masks, " (masks %08x and %08x)", thread.mask, other.mask);
      fail(thread, thread.site,
           std::string("warp divergence: it calls ") + name_of(thread.op) + " while lane " +
               std::to_string(other.lane) + ", named by the mask, waits in " + name_of(other.op) +
               " in " + to_text(other.site) + masks);
    }
    return;  // lanes that wait together have been compared already
  }
}

// Computes the results if all lanes of the mask have arrived. `thread` is one of them; if it is the
// running one it continues directly, and only the others are made ready.
void Block::complete_warp_operation(Thread& thread, std::uint32_t warp, unsigned mask) {
  Lanes& state = warps_[warp / 32];
  const unsigned present = mask & ~state.done;
  if ((state.waiting & present) != present) return;
  for (unsigned left = present; left != 0; left &= left - 1) {
    // One may still wait in an operation whose mask does not contain the running lane.
    if (threads_[warp + static_cast<unsigned>(__builtin_ctz(left))].mask != mask) return;
  }
  state.waiting &= ~present;
  Thread* const lanes = threads_.data() + warp;
  std::uint64_t results[32] = {};
  const WarpOp op = thread.op;
  unsigned ballot = 0;
  std::uint64_t total = 0;
  bool first = true, same = true;
  for (unsigned l = 0; l < 32; ++l) {
    if ((present >> l & 1) == 0) continue;
    if (lanes[l].value != 0) ballot |= 1u << l;
    same = same && lanes[l].value == thread.value;
    total = first ? lanes[l].value : reduce(op, total, lanes[l].value);
    first = false;
  }
  for (unsigned l = 0; l < 32; ++l) {
    if ((present >> l & 1) == 0) continue;
    switch (op) {
      case WarpOp::kSync:
        break;
      case WarpOp::kBallot:
        results[l] = ballot;
        break;
      case WarpOp::kAny:
        results[l] = ballot != 0;
        break;
      case WarpOp::kAll:
        results[l] = ballot == present;
        break;
      case WarpOp::kMatchAny:
        for (unsigned m = 0; m < 32; ++m) {
          if ((present >> m & 1) && lanes[m].value == lanes[l].value) results[l] |= 1u << m;
        }
        break;
      case WarpOp::kMatchAll:
        results[l] = same ? present : 0;
        break;
      case WarpOp::kShuffle:
      case WarpOp::kShuffleUp:
      case WarpOp::kShuffleDown:
      case WarpOp::kShuffleXor: {
        const unsigned source = source_lane(lanes[l]);
        if ((present >> source & 1) == 0) {
          fail(lanes[l], lanes[l].site,
               std::string(name_of(op)) + " reads from lane " + std::to_string(source) +
                   ", which has left the kernel or is not in the mask");
        }
        results[l] = lanes[source].value;
        break;
      }
      default:
        results[l] = total;
    }
  }
  if (checker != nullptr && op == WarpOp::kSync) checker->warp_synced(*this, warp, present);
  const std::size_t from = ready_.size();
  for (unsigned l = 0; l < 32; ++l) {
    if ((present >> l & 1) == 0) continue;
    lanes[l].value = results[l];
    if (current_thread == &lanes[l]) {
      lanes[l].state = State::kReady;
    } else {
      make_ready(lanes[l]);
    }
  }
  idle_yields_ = 0;
  shuffle_ready(from);
}

std::uint64_t warp_operation(WarpOp op, unsigned mask, std::uint64_t value, int argument, int width,
                             Site site) {
  Thread& thread = self();
  thread.op = op;
  thread.mask = mask;
  thread.value = value;
  thread.argument = argument;
  thread.width = width;
  thread.site = site;
  return thread.in->warp_operation(thread);
}

}  // namespace kleene::emulator
