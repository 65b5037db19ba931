// The properties of a native method that other layers use. Each problem has a table of its methods
// in methods.cpp; a new method is a function and an entry there.
#pragma once

namespace kleene::graph {

struct MethodTraits {
  const char* name;
  // Incoming arcs: null when unused, "optional" when they make it faster, or "required".
  const char* incoming = nullptr;
  bool needs_tails = false;   // the tail of every arc (COO)
  bool stops_early = false;   // at a limit, or when all targets are settled
  bool any_semiring = false;  // else (min, +) only
};

}  // namespace kleene::graph
