// A thread that is joined when it goes out of scope: std::jthread, which libc++ has from version 20
// on (Xcode 26), without its stop token.
#pragma once

#include <thread>

namespace kleene::parallel {

class JoiningThread : public std::thread {
 public:
  using std::thread::thread;
  JoiningThread(JoiningThread&&) = default;
  JoiningThread& operator=(JoiningThread&&) = delete;
  ~JoiningThread() {
    if (joinable()) join();
  }
};

}  // namespace kleene::parallel
