// Copies within the memory of the host, by several threads: one cannot fill the bus.
#include <cstring>

#include "arrays.hpp"
#include "parallel/team.hpp"

namespace kleene::bindings {
namespace {

constexpr std::int64_t kPiece = 1 << 18;  // bytes; not measured: some 20 us of one thread

// Copies the entries of an array to one of the same size, both without gaps.
void copy_bytes(const AnyOutput& to, const AnyInput& source, int threads) {
  const auto bytes = static_cast<std::int64_t>(source.nbytes());
  if (bytes != static_cast<std::int64_t>(to.nbytes())) raise_wrong_type();
  auto* const out = static_cast<char*>(to.data());
  const auto* const in = static_cast<const char*>(source.data());
  PythonMonitor monitor(nb::none(), 0);
  const GilRelease release;
  parallel::parallel_for(bytes, kPiece, threads, monitor,
                         [&](std::int64_t begin, std::int64_t end, int) {
                           std::memcpy(out + begin, in + begin, end - begin);
                         });
}

}  // namespace

void bind_copies(nb::module_& m) {
  m.def("copy_bytes", &copy_bytes, nb::arg("to").noconvert(), nb::arg("source").noconvert(),
        nb::arg("threads"));
}

}  // namespace kleene::bindings
