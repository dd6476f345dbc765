// Runs a reflector on a thread of its own for as long as this object lives; stops within a second.
#pragma once

#include <thread>

#include "kube/runtime/reflector_core.h"

namespace verl::kube {

template <class T>
class Reflector;

class ReflectorThread final {
 public:
  explicit ReflectorThread(ReflectorCore& core) : thread_([&core](std::stop_token stop) { core.run(std::move(stop)); }) {}
  template <class T>
  explicit ReflectorThread(Reflector<T>& reflector) : ReflectorThread(reflector.core()) {}

  void request_stop() { thread_.request_stop(); }
  void join() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::jthread thread_;
};

}  // namespace verl::kube
