#include "parallel/helper_team.hpp"

namespace kleene::parallel {

void HelperTeam::share(int wanted, Task task) {
  wanted = std::min(wanted, threads_);
  if (wanted <= 1) return task(0);
  TeamError error(monitor_);
  helpers_.grow(wanted - 1);
  const auto help = [&](int index) { error.run([&] { task(index + 1); }); };
  const LeasedThreads::Task called(help);
  helpers_.call(wanted - 1, called);
  error.run([&] { task(0); });
  helpers_.withdraw();
  error.rethrow();
  if (monitor_.cancelled()) throw Cancelled{};  // by a thread of an outer team
}

}  // namespace kleene::parallel
