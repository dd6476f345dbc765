#include "kubectl-verl/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/read_file.h"

namespace verl::cli {
namespace {

constexpr Bytes kLimit{512 * kMiB.count};

Result<void> errno_failure(const std::string& doing) {
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

// What waits for the text, a full disk among others, may only be told at the end.
Result<void> write_and_close(int file, const std::string& text, const std::string& path) {
  Result<void> written = write_all(file, text, path);
  if (::close(file) != 0 && written) written = errno_failure("writing " + path);
  return written;
}

Result<void> write_in_place(const std::string& path, const std::string& text, int flags) {
  const int file = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | flags, 0600);
  return file < 0 ? errno_failure("writing " + path) : write_and_close(file, text, path);
}

// All of it or nothing: the old file stays until the new one is whole.
Result<void> replace(const std::string& path, const std::string& text) {
  const std::string unfinished = path + ".unfinished";
  // Whatever has that name, a link of somebody else's making among others, is not written through.
  ::unlink(unfinished.c_str());
  const int file = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return errno_failure("writing " + unfinished);
  Result<void> written = write_and_close(file, text, unfinished);
  if (written && std::rename(unfinished.c_str(), path.c_str()) != 0) written = errno_failure("writing " + path);
  if (!written) ::unlink(unfinished.c_str());
  return written;
}

}  // namespace

Result<std::string> read_whole(const std::string& path) {
  if (path == "-") return read_descriptor(STDIN_FILENO, "-", kLimit);
  auto file = read_file(path, kLimit, FileKind::Any);
  if (!file) return tl::unexpected<Error>(file.error());
  return std::move(file->text);
}

Result<void> write_whole(const std::string& path, const std::string& text) {
  // Only a regular file, or one that is not there yet, is replaced. Whatever else has the name (a device, a pipe, one of this
  // process's own descriptors) is written to, never replaced; of a link the file that it leads to.
  struct stat there {};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  if (!exists && errno != ENOENT) return errno_failure("writing " + path);
  if (exists && S_ISDIR(there.st_mode)) return failure(ErrorCode::Invalid, fmt::format("writing {}: it is a directory, wants the name of a file", path));
  if (path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") || path.starts_with("/proc/")) return write_in_place(path, text, O_APPEND);
  if (exists && !S_ISREG(there.st_mode)) return write_in_place(path, text, 0);
  struct stat itself {};
  const bool dangling = !exists && ::lstat(path.c_str(), &itself) == 0;
  if (dangling) return write_in_place(path, text, O_CREAT | O_TRUNC);
  std::error_code unresolved;
  const std::string target = exists ? std::filesystem::canonical(path, unresolved).string() : path;
  if (unresolved) return failure(ErrorCode::Unavailable, fmt::format("writing {}: {}", path, unresolved.message()));
  return replace(target, text);
}

}  // namespace verl::cli
