// The process of a credential plugin: started, read, and ended with everything it started.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/text.h"
#include "kube/client/exec_credentials.h"

namespace verl::kube {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr size_t kMostOutput = 1024 * 1024;
constexpr size_t kMostComplaint = 4096;

class Pipe final {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int end(size_t which) const { return ends_[which]; }
  void close_end(size_t which) {
    if (ends_[which] >= 0) close(ends_[which]);
    ends_[which] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

int spawn(pid_t& pid, const PluginCall& call, const Pipe& out, const Pipe& complaint) {
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.end(1), 1);
  posix_spawn_file_actions_adddup2(&actions, complaint.end(1), 2);
  posix_spawnattr_t attributes{};
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &pipe_signal);  // ours is ignored, the plugin's need not be
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words{call.command};
  words.insert(words.end(), call.args.begin(), call.args.end());
  std::vector<std::string> environment = call.environment;
  const int error = posix_spawnp(&pid, call.command.c_str(), &actions, &attributes, pointers(words).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

enum class ReadEnd { Closed, TooMuch, OutOfTime, Stopped };

// Until both pipes are closed by the child (and whoever inherited them).
ReadEnd read_both(Pipe& out, Pipe& complaint, std::string& text, std::string& complaint_text, SteadyTime deadline, const std::stop_token& stop) {
  std::array<pollfd, 2> wanted{pollfd{.fd = out.end(0), .events = POLLIN, .revents = 0}, pollfd{.fd = complaint.end(0), .events = POLLIN, .revents = 0}};
  const std::array<std::string*, 2> into{&text, &complaint_text};
  while (wanted[0].fd >= 0 || wanted[1].fd >= 0) {
    if (stop.stop_requested()) return ReadEnd::Stopped;
    if (std::chrono::steady_clock::now() >= deadline) return ReadEnd::OutOfTime;
    if (poll(wanted.data(), wanted.size(), 50) <= 0) continue;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].fd < 0 || wanted[i].revents == 0) continue;
      std::array<char, 4096> buffer{};
      const ssize_t count = read(wanted[i].fd, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        wanted[i].fd = -1;
        continue;
      }
      if (i == 1 && into[i]->size() >= kMostComplaint) continue;  // drained, not kept
      into[i]->append(buffer.data(), static_cast<size_t>(count));
      if (i == 0 && text.size() > kMostOutput) return ReadEnd::TooMuch;
    }
  }
  return ReadEnd::Closed;
}

// Its exit status; nullopt when it had to be killed.
std::optional<int> wait_for_exit(pid_t pid, SteadyTime deadline, const std::stop_token& stop) {
  int status = 0;
  while (std::chrono::steady_clock::now() < deadline && !stop.stop_requested()) {
    const pid_t done = waitpid(pid, &status, WNOHANG);
    if (done == pid) return status;
    if (done < 0 && errno != EINTR) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return std::nullopt;
}

void kill_group(pid_t pid) {
  kill(-pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<std::string> run_plugin(const PluginCall& call, std::chrono::milliseconds limit, std::stop_token stop) {
  const SteadyTime deadline = std::chrono::steady_clock::now() + limit;
  Pipe out;
  Pipe complaint;
  if (out.end(0) < 0 || complaint.end(0) < 0) return failure(ErrorCode::Unavailable, "no pipe could be made for it");
  pid_t pid = 0;
  if (const int error = spawn(pid, call, out, complaint); error != 0) {
    const bool missing = error == ENOENT;
    return failure(missing ? ErrorCode::NotFound : ErrorCode::Unavailable,
                   missing ? "there is no such command" : std::string("it could not be started: ") + std::strerror(error));
  }
  out.close_end(1);
  complaint.close_end(1);
  std::string text;
  std::string complaint_text;
  const ReadEnd end = read_both(out, complaint, text, complaint_text, deadline, stop);
  const std::optional<int> status = end == ReadEnd::Closed ? wait_for_exit(pid, deadline, stop) : std::nullopt;
  if (!status.has_value()) {
    kill_group(pid);
    if (end == ReadEnd::TooMuch) return failure(ErrorCode::TooLarge, "it printed more than 1 MiB and was killed");
    if (stop.stop_requested()) return failure(ErrorCode::Cancelled, "stopped");
    return failure(ErrorCode::Timeout, fmt::format("it did not end within {} ms and was killed", limit.count()));
  }
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return text;
  const std::string said = escape_controls(shorten(trim(complaint_text), 300));
  const std::string how = WIFEXITED(*status) ? fmt::format("it failed with exit code {}", WEXITSTATUS(*status))
                                             : fmt::format("it died of signal {}", WTERMSIG(*status));
  return failure(ErrorCode::Denied, said.empty() ? how : how + " and said: " + said);
}

}  // namespace verl::kube
