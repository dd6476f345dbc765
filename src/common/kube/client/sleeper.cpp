#include "kube/client/sleeper.h"

#include <condition_variable>
#include <mutex>

namespace verl::kube {

bool SystemSleeper::wait(std::chrono::milliseconds time, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace verl::kube
