#include "host/file_root.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "host/host.h"

namespace verl::host {
namespace {

ErrorCode code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::NotFound;
    case EACCES:
    case EPERM:
      return ErrorCode::Denied;
    case ELOOP:
    case EXDEV:
      return ErrorCode::Invalid;
    default:
      return ErrorCode::Unavailable;
  }
}

auto failed(std::string_view doing, std::string_view path, int error) {
  return failure(code_of(error), fmt::format("{} {}: {}", doing, path, std::strerror(error)));
}

class Descriptor final {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Result<FileRoot> FileRoot::open(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return failed("opening the root directory", directory, errno);
  return FileRoot(fd);
}

FileRoot::FileRoot(FileRoot&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileRoot::~FileRoot() {
  if (fd_ >= 0) ::close(fd_);
}

Result<int> FileRoot::open_below(std::string_view path, int flags) const {
  // RESOLVE_IN_ROOT (Linux 5.6) makes the kernel itself keep every link and every ".." inside the root.
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT;
  // The kernel gives up with EAGAIN whenever anything on the machine is renamed or mounted while it resolves ".." or a link:
  // it cannot rule out then that the path left the root. Trying again is what openat2(2) asks for; a busy machine needs many.
  constexpr int kTries = 1000;
  long fd = -1;
  for (int i = 0; i < kTries; ++i) {
    fd = ::syscall(SYS_openat2, fd_, std::string(path).c_str(), &how, sizeof how);
    if (fd >= 0 || errno != EAGAIN) break;
  }
  if (fd < 0) return failed("opening", path, errno);
  return static_cast<int>(fd);
}

Result<std::string> FileRoot::read_file(std::string_view path, Bytes limit) const {
  // O_NONBLOCK: a pipe somebody put in the way must not stop the agent.
  const auto opened = open_below(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!opened) return tl::unexpected(opened.error());
  const Descriptor fd(*opened);
  struct stat about {};
  if (::fstat(fd.get(), &about) != 0) return failed("looking at", path, errno);
  if (!S_ISREG(about.st_mode)) return failure(ErrorCode::Invalid, fmt::format("reading {}: not a regular file", path));
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t got = ::read(fd.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("reading", path, errno);
    if (got == 0) return text;
    text.append(piece.data(), static_cast<size_t>(got));
    if (static_cast<std::int64_t>(text.size()) > limit.count) {
      return failure(ErrorCode::TooLarge, fmt::format("reading {}: more than {} bytes", path, limit.count));
    }
  }
}

Result<std::vector<std::string>> FileRoot::list_dir(std::string_view path) const {
  const auto opened = open_below(path, O_RDONLY | O_DIRECTORY);
  if (!opened) return tl::unexpected(opened.error());
  DIR* directory = ::fdopendir(*opened);
  if (directory == nullptr) {
    const int error = errno;
    ::close(*opened);
    return failed("listing", path, error);
  }
  std::vector<std::string> names;
  int error = 0;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(directory);
    if (entry == nullptr) {
      error = errno;
      break;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == kMaxDirectoryEntries) {
      error = EFBIG;
      break;
    }
    names.emplace_back(name);
  }
  ::closedir(directory);
  if (error == EFBIG) {
    return failure(ErrorCode::TooLarge, fmt::format("listing {}: more than {} entries", path, kMaxDirectoryEntries));
  }
  if (error != 0) return failed("listing", path, error);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> FileRoot::read_link(std::string_view path) const {
  const auto opened = open_below(path, O_PATH | O_NOFOLLOW);
  if (!opened) return tl::unexpected(opened.error());
  const Descriptor fd(*opened);
  std::array<char, 4096> text{};
  const ssize_t got = ::readlinkat(fd.get(), "", text.data(), text.size());
  if (got < 0) {
    // ENOENT here means that the file is there and is no link.
    return failed("reading the link", path, errno == ENOENT ? EINVAL : errno);
  }
  return std::string(text.data(), static_cast<size_t>(got));
}

Result<bool> FileRoot::exists(std::string_view path) const {
  const auto opened = open_below(path, O_PATH);
  if (opened) {
    ::close(*opened);
    return true;
  }
  if (opened.error().code == ErrorCode::NotFound) return false;
  return tl::unexpected(opened.error());
}

Result<bool> FileRoot::is_directory(std::string_view path) const {
  const auto opened = open_below(path, O_PATH | O_DIRECTORY);
  if (opened) {
    ::close(*opened);
    return true;
  }
  if (opened.error().code == ErrorCode::NotFound) return false;
  return tl::unexpected(opened.error());
}

Result<bool> FileRoot::is_mounted(std::string_view path, std::uint64_t filesystem) const {
  const auto opened = open_below(path, O_PATH | O_DIRECTORY);
  if (!opened && opened.error().code == ErrorCode::NotFound) return false;
  if (!opened) return tl::unexpected(opened.error());
  const Descriptor fd(*opened);
  struct statfs about {};
  if (::fstatfs(fd.get(), &about) != 0) return failed("looking at", path, errno);
  return static_cast<std::uint64_t>(about.f_type) == filesystem;
}

}  // namespace verl::host
