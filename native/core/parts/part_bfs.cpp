#include "parts/parts.hpp"

namespace kleene::parts {

template <class Slot>
Visits<Slot> push(const Arcs<Slot>& arcs, const Slot* frontier, std::int64_t count,
                  std::uint8_t* visited, CancelCheck check_cancelled) {
  Visits<Slot> visits;
  for (std::int64_t at = 0; at < count; ++at) {
    if (at % kVerticesPerCheck == 0) check_cancelled();
    const Slot tail = frontier[at];
    for (std::int64_t i = arcs.offsets[tail]; i < arcs.offsets[tail + 1]; ++i) {
      const Slot head = arcs.neighbors[i];
      if (visited[head]) continue;
      visited[head] = 1;
      visits.heads.push_back(head);
      visits.tails.push_back(tail);
    }
  }
  return visits;
}

template <class Slot>
Visits<Slot> pull(const Arcs<Slot>& incoming, const std::uint8_t* in_frontier,
                  std::uint8_t* visited, CancelCheck check_cancelled) {
  Visits<Slot> visits;
  for (std::int64_t head = 0; head < incoming.n; ++head) {
    if (head % kVerticesPerCheck == 0) check_cancelled();
    if (visited[head]) continue;
    for (std::int64_t i = incoming.offsets[head]; i < incoming.offsets[head + 1]; ++i) {
      const Slot tail = incoming.neighbors[i];
      if (!in_frontier[tail]) continue;
      visited[head] = 1;
      visits.heads.push_back(static_cast<Slot>(head));
      visits.tails.push_back(tail);
      break;
    }
  }
  return visits;
}

#define KLEENE_INSTANTIATE(Slot)                                                          \
  template Visits<Slot> push(const Arcs<Slot>&, const Slot*, std::int64_t, std::uint8_t*, \
                             CancelCheck);                                                \
  template Visits<Slot> pull(const Arcs<Slot>&, const std::uint8_t*, std::uint8_t*, CancelCheck);
KLEENE_INSTANTIATE(std::int32_t)
KLEENE_INSTANTIATE(std::int64_t)

}  // namespace kleene::parts
