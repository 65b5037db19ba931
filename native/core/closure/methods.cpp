#include "closure/closure.hpp"

namespace kleene::closure {
namespace {

// Which types a method takes: int16, and booleans in bits, are for the tiled method alone;
// booleans in bytes for Floyd-Warshall alone.
template <class T>
constexpr bool kTiles = !std::is_same_v<T, std::uint8_t>;
template <class T>
constexpr bool kPlain = sizeof(T) != 2 && !std::is_same_v<T, std::uint64_t>;
template <class T>
constexpr bool kMinPlusOnly = kPlain<T> && kTiles<T>;

// The function, or null: what it does not take is never instantiated.
#define KLEENE_WHERE(types, function)            \
  []() -> Close<T>* {                            \
    if constexpr (types<T>) return &function<T>; \
    return nullptr;                              \
  }()

template <class T>
constexpr Method<T> kMethods[] = {
    {{.name = "tiled", .any_semiring = true}, KLEENE_WHERE(kTiles, tiled)},
    {{.name = "floyd_warshall", .any_semiring = true}, KLEENE_WHERE(kPlain, floyd_warshall)},
    {{.name = "blocked"}, KLEENE_WHERE(kMinPlusOnly, blocked)},
    {{.name = "min_plus"}, KLEENE_WHERE(kMinPlusOnly, min_plus)},
    {{.name = "rkleene"}, KLEENE_WHERE(kMinPlusOnly, rkleene)},
    {{.name = "rkleene_quadtree"}, KLEENE_WHERE(kMinPlusOnly, rkleene_quadtree)},
};

}  // namespace

template <class T>
std::span<const Method<T>> methods() {
  return kMethods<T>;
}

template std::span<const Method<float>> methods();
template std::span<const Method<double>> methods();
template std::span<const Method<std::int16_t>> methods();
template std::span<const Method<std::int32_t>> methods();
template std::span<const Method<std::int64_t>> methods();
template std::span<const Method<std::uint64_t>> methods();
template std::span<const Method<std::uint8_t>> methods();

}  // namespace kleene::closure
