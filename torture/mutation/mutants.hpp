// Choices between the program and its mutants; included in front of every source of a mutated build.
// All is in an unnamed namespace: vector kernels are compiled for several instruction sets, and may
// share no function.
#pragma once

extern "C" {
__attribute__((visibility("hidden"))) extern int kleene_mutant;  // the chosen one; 0 for none
// By mutant, while a run is recorded; else null.
__attribute__((visibility("hidden"))) extern unsigned char* kleene_executed;
}

namespace mutants {
namespace {

#define KLEENE_INLINE [[gnu::always_inline]] inline

KLEENE_INLINE void note(int number) {
  if (__builtin_expect(kleene_executed != nullptr, 0)) kleene_executed[number] = 1;
}

KLEENE_INLINE bool chosen(int number) {
  note(number);
  return __builtin_expect(kleene_mutant == number, 0);
}

template <class Operator, class T>
struct Left {
  const T& value;
  int number;
};

// Mutants `number` and `number + 1` of `a FIRST b`: `a CHANGED b` and `a FLIPPED b`.
#define KLEENE_COMPARISON(NAME, FIRST, SECOND, CHANGED, FLIPPED)        \
  struct NAME {                                                         \
    int number;                                                         \
  };                                                                    \
  template <class T>                                                    \
  KLEENE_INLINE Left<NAME, T> operator FIRST(const T& a, NAME at) {     \
    return {a, at.number};                                              \
  }                                                                     \
  template <class T, class U>                                           \
  KLEENE_INLINE auto operator SECOND(Left<NAME, T> left, const U& b) {  \
    note(left.number);                                                  \
    note(left.number + 1);                                              \
    if (kleene_mutant == left.number) return left.value CHANGED b;      \
    if (kleene_mutant == left.number + 1) return left.value FLIPPED b;  \
    return left.value FIRST b;                                          \
  }
KLEENE_COMPARISON(Less, <, >, <=, >=)
KLEENE_COMPARISON(LessEqual, <=, >, <, >)
KLEENE_COMPARISON(Greater, >, >, >=, <=)
KLEENE_COMPARISON(GreaterEqual, >=, >, >, <)
#undef KLEENE_COMPARISON

#define KLEENE_EQUALITY(NAME, FIRST, CHANGED)                        \
  struct NAME {                                                      \
    int number;                                                      \
  };                                                                 \
  template <class T>                                                 \
  KLEENE_INLINE Left<NAME, T> operator FIRST(const T& a, NAME at) {  \
    return {a, at.number};                                           \
  }                                                                  \
  template <class T, class U>                                        \
  KLEENE_INLINE auto operator==(Left<NAME, T> left, const U& b) {    \
    if (chosen(left.number)) return left.value CHANGED b;            \
    return left.value FIRST b;                                       \
  }
KLEENE_EQUALITY(Equal, ==, !=)
KLEENE_EQUALITY(NotEqual, !=, ==)
#undef KLEENE_EQUALITY

template <class T>
KLEENE_INLINE const T& min(int number, const T& a, const T& b) {
  return (b < a) != chosen(number) ? b : a;
}

template <class T>
KLEENE_INLINE const T& max(int number, const T& a, const T& b) {
  return (a < b) != chosen(number) ? b : a;
}

}  // namespace
}  // namespace mutants
