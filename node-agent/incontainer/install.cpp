#include "node-agent/incontainer/install.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace verl::incontainer {
namespace {

std::string because(const std::string& what) { return what + ": " + std::error_code(errno, std::generic_category()).message(); }

std::string copy_all(int from, int to, const std::string& program, const std::string& target) {
  std::array<char, 65536> block{};
  while (true) {
    const ssize_t got = ::read(from, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return because("reading " + program);
    if (got == 0) return "";
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::write(to, block.data() + done, static_cast<size_t>(got - done));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return because("writing " + target);
      done += put;
    }
  }
}

}  // namespace

std::string install(const std::string& program, const std::string& folder, const std::string& name) {
  const std::string target = folder + "/" + name;
  const std::string fresh = folder + "/." + name + "." + std::to_string(::getpid());
  const int from = ::open(program.c_str(), O_RDONLY | O_CLOEXEC);
  if (from < 0) return because("opening " + program);
  ::unlink(fresh.c_str());  // of a run that was killed
  const int to = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
  std::string problem = to < 0 ? because("making " + fresh) : copy_all(from, to, program, fresh);
  ::close(from);
  if (problem.empty() && ::fchmod(to, 0755) != 0) problem = because("setting the mode of " + fresh);
  if (to >= 0 && ::close(to) != 0 && problem.empty()) problem = because("closing " + fresh);
  if (problem.empty() && ::rename(fresh.c_str(), target.c_str()) != 0) problem = because("renaming " + fresh);
  if (!problem.empty() && to >= 0) ::unlink(fresh.c_str());
  return problem;
}

}  // namespace verl::incontainer
