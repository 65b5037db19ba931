#include "closure/relax_row.hpp"

namespace kleene::closure {

template <Semiring semiring, class T>
void RowRelaxation<semiring, T>::relax_path(T a, const T* b, const std::int32_t* b_predecessors,
                                            T* c, std::int32_t* predecessors, std::int64_t count) {
  if (b_predecessors == nullptr) {
    for (std::int64_t j = 0; j < count; ++j) {
      const T t = times(a, b[j]);
      c[j] = better(t, c[j]) ? t : c[j];
    }
    return;
  }
  for (std::int64_t j = 0; j < count; ++j) {
    const T t = times(a, b[j]);
    const bool improves = better(t, c[j]);
    c[j] = improves ? t : c[j];
    predecessors[j] = improves ? b_predecessors[j] : predecessors[j];
  }
}

template struct RowRelaxation<Semiring::kMinPlus, float>;
template struct RowRelaxation<Semiring::kMinPlus, double>;
template struct RowRelaxation<Semiring::kMinPlus, std::int32_t>;
template struct RowRelaxation<Semiring::kMinPlus, std::int64_t>;
template struct RowRelaxation<Semiring::kMaxMin, float>;
template struct RowRelaxation<Semiring::kMaxMin, double>;
template struct RowRelaxation<Semiring::kMaxMin, std::int32_t>;
template struct RowRelaxation<Semiring::kMaxMin, std::int64_t>;
template struct RowRelaxation<Semiring::kMaxTimes, float>;
template struct RowRelaxation<Semiring::kMaxTimes, double>;
template struct RowRelaxation<Semiring::kBoolean, std::uint8_t>;

}  // namespace kleene::closure
