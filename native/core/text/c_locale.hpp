// strtod in the "C" locale, whatever locale the program has set: POSIX and Windows have it under
// different names.
#pragma once

#include <locale.h>
#include <stdlib.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

namespace kleene::text {

inline double strtod_in_c_locale(const char* first, char** behind) {
#if defined(_WIN32)
  static const _locale_t c_locale = _create_locale(LC_ALL, "C");
  return _strtod_l(first, behind, c_locale);
#else
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(first, behind, c_locale);
#endif
}

}  // namespace kleene::text
