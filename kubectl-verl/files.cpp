#include "kubectl-verl/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace verl::cli {
namespace {

constexpr size_t kLimit = size_t{512} << 20;

tl::unexpected<Error> errno_failure(const std::string& doing) {
  const int code = errno;
  return failure(code == ENOENT ? ErrorCode::NotFound : code == EACCES ? ErrorCode::Denied : ErrorCode::Unavailable, fmt::format("{}: {}", doing, std::strerror(code)));
}

Result<void> write_all(int file, const std::string& text, const std::string& path) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return errno_failure("writing " + path);
    done += static_cast<size_t>(wrote);
  }
  return {};
}

}  // namespace

Result<std::string> read_whole(const std::string& path) {
  const int file = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno_failure("reading " + path);
  std::string text;
  std::string buffer(size_t{1} << 16, '\0');
  Result<std::string> result = failure(ErrorCode::TooLarge, fmt::format("reading {}: more than {} bytes", path, kLimit));
  while (text.size() <= kLimit) {
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      result = errno_failure("reading " + path);
      break;
    }
    if (got == 0) {
      result = std::move(text);
      break;
    }
    text.append(buffer, 0, static_cast<size_t>(got));
  }
  ::close(file);
  return result;
}

Result<void> write_whole(const std::string& path, const std::string& text) {
  const std::string unfinished = path + ".unfinished";
  // Whatever has that name, a link of somebody else's making among others, is not written through.
  ::unlink(unfinished.c_str());
  const int file = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return errno_failure("writing " + unfinished);
  Result<void> written = write_all(file, text, unfinished);
  if (::close(file) != 0 && written) written = errno_failure("writing " + unfinished);
  if (written && std::rename(unfinished.c_str(), path.c_str()) != 0) written = errno_failure("writing " + path);
  if (!written) ::unlink(unfinished.c_str());
  return written;
}

}  // namespace verl::cli
