// Evaluates lines "operation mantissa exponent mantissa exponent" with ScaledCount; prints the
// result as "mantissa exponent double", or 0 or 1 for a comparison. See test_scaled_count.py.
#include "measures/scaled_count.hpp"

#include <cstdio>
#include <cstring>

using kleene::measures::ScaledCount;

int main() {
  char operation[8];
  double m, n;
  long long e, f;
  while (std::scanf("%7s %lf %lld %lf %lld", operation, &m, &e, &n, &f) == 5) {
    ScaledCount a(m, e);
    const ScaledCount b(n, f);
    if (std::strcmp(operation, "<") == 0 || std::strcmp(operation, "==") == 0) {
      std::printf("%d\n", *operation == '<' ? a < b : a == b);
      continue;
    }
    if (*operation == '+') a += b;
    if (*operation == '*') a *= b;
    if (*operation == '/') a /= b;
    std::printf("%a %lld %a\n", a.mantissa(), static_cast<long long>(a.exponent()),
                static_cast<double>(a));
  }
}
