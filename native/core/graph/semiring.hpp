// The path semirings, by name.
#pragma once

namespace kleene::graph {

enum class Semiring { kMinPlus, kMaxMin, kMaxTimes, kBoolean, kPlusTimes };

}  // namespace kleene::graph
