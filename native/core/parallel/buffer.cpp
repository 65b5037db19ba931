#include "parallel/buffer.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kleene::parallel {

void advise_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::size_t kPage = 4096, kWorthIt = std::size_t{1} << 22;
  if (bytes < kWorthIt) return;  // untestable: only advice about large pages
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + kPage - 1) / kPage * kPage;
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / kPage * kPage;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace kleene::parallel
