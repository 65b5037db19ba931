#include "sssp/sssp.hpp"

namespace kleene::sssp {
namespace {

template <class Id, class Value>
constexpr Method<Id, Value> kMethods[] = {
    {{.name = "dijkstra", .stops_early = true}, &dijkstra<Id, Value>},
    {{.name = "delta_stepping", .stops_early = true}, &delta_stepping<Id, Value>},
    {{.name = "bellman_ford"}, &bellman_ford<Id, Value>},
    {{.name = "llp", .incoming = "required"}, &llp<Id, Value>},
    {{.name = "potentials"},
     &potentials<Id, Value>},  // for Johnson's algorithm; not offered to users
};

}  // namespace

template <class Id, class Value>
std::span<const Method<Id, Value>> methods() {
  return kMethods<Id, Value>;
}

#define KLEENE_METHODS(ID)                                      \
  template std::span<const Method<ID, std::int32_t>> methods(); \
  template std::span<const Method<ID, std::int64_t>> methods(); \
  template std::span<const Method<ID, float>> methods();        \
  template std::span<const Method<ID, double>> methods();
KLEENE_METHODS(std::int32_t)
KLEENE_METHODS(std::int64_t)

}  // namespace kleene::sssp
