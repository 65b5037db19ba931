#include <type_traits>
#include <utility>

#include "parts/parts.hpp"
#include "sssp/heap.hpp"

namespace kleene::parts {
namespace {

template <class Slot, class Id, class Value>
class WindowSearch {
 public:
  WindowSearch(const PartState<Slot, Id, Value>& state, Value bound)
      : state_(state), bound_(bound) {}

  Settled<Slot> run(const Slot* pending, std::int64_t count, CancelCheck check_cancelled) {
    for (std::int64_t at = 0; at < count; ++at) enqueue(pending[at]);
    // untestable (= 0 to = 1): how often it looks for Ctrl-C
    for (std::int64_t settled = 0; !near_.empty(); ++settled) {
      if (settled % kVerticesPerCheck == 0) check_cancelled();
      const auto [distance, tail] = near_.pop();
      if (distance == state_.values[tail]) relax(tail, distance);
    }
    // A vertex may have come into the window after it was put behind it.
    std::erase_if(settled_.pending, [&](Slot v) { return state_.values[v] <= bound_; });
    return std::move(settled_);
  }

 private:
  void enqueue(Slot v) {
    if (state_.values[v] <= bound_) {
      state_.queued[v] = 0;
      near_.push({state_.values[v], v});
    } else {
      settled_.pending.push_back(v);
    }
  }

  void relax(Slot tail, Value distance) {
    const Arcs<Slot>& arcs = state_.arcs;
    for (std::int64_t i = arcs.offsets[tail]; i < arcs.offsets[tail + 1]; ++i) {
      const Slot head = arcs.neighbors[i];
      const Value through = distance + (state_.lengths ? state_.lengths[i] : Value{1});
      if (!(through < state_.values[head])) continue;
      state_.values[head] = through;
      state_.links[head] = state_.first + static_cast<Id>(tail);
      improve(head, through);
    }
  }

  void improve(Slot head, Value through) {
    const bool own = head < arcs_end();
    if (own && through <= bound_) {
      state_.queued[head] = 0;
      near_.push({through, head});
    } else if (!state_.queued[head]) {
      state_.queued[head] = 1;
      (own ? settled_.pending : settled_.fallen).push_back(head);
    }
  }

  Slot arcs_end() const { return static_cast<Slot>(state_.arcs.n); }

  const PartState<Slot, Id, Value> state_;
  const Value bound_;
  // As in Dijkstra's algorithm on one machine: sssp/dijkstra.hpp.
  std::conditional_t<std::is_integral_v<Value>, sssp::RadixHeap<Slot, Value>,
                     sssp::QuadHeap<Slot, Value>>
      near_;
  Settled<Slot> settled_;
};

}  // namespace

template <class Slot, class Id, class Value>
Settled<Slot> settle(const PartState<Slot, Id, Value>& state, const Slot* pending,
                     std::int64_t count, Value bound, CancelCheck check_cancelled) {
  return WindowSearch<Slot, Id, Value>(state, bound).run(pending, count, check_cancelled);
}

#define KLEENE_INSTANTIATE(Slot, Id, Value)                                                   \
  template Settled<Slot> settle(const PartState<Slot, Id, Value>&, const Slot*, std::int64_t, \
                                Value, CancelCheck);
#define KLEENE_INSTANTIATE_IDS(Value)                   \
  KLEENE_INSTANTIATE(std::int32_t, std::int32_t, Value) \
  KLEENE_INSTANTIATE(std::int32_t, std::int64_t, Value) \
  KLEENE_INSTANTIATE(std::int64_t, std::int64_t, Value)
KLEENE_INSTANTIATE_IDS(float)
KLEENE_INSTANTIATE_IDS(double)
KLEENE_INSTANTIATE_IDS(std::int32_t)
KLEENE_INSTANTIATE_IDS(std::int64_t)

}  // namespace kleene::parts
