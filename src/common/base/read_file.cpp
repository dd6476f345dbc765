#include "base/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace verl {
namespace {

class Descriptor final {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

tl::unexpected<Error> unreadable(const std::string& path, int error) {
  const ErrorCode code = error == ENOENT || error == ENOTDIR ? ErrorCode::NotFound : error == EACCES || error == EPERM ? ErrorCode::Denied : ErrorCode::Unavailable;
  return failure(code, fmt::format("file {} cannot be read: {}", path, std::strerror(error)));
}

}  // namespace

Result<std::string> read_descriptor(int descriptor, const std::string& name, Bytes limit) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable(name, errno);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(count));
    if (static_cast<std::int64_t>(text.size()) > limit.count) {
      return failure(ErrorCode::TooLarge, fmt::format("file {} has more than the {} bytes that are read", name, limit.count));
    }
  }
}

Result<FileText> read_file(const std::string& path, Bytes limit, FileKind kind) {
  // A FIFO without a writer must not block before it is known to be one.
  const int wait = kind == FileKind::Regular ? O_NONBLOCK : 0;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | wait));
  if (file.number() < 0) return unreadable(path, errno);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return unreadable(path, errno);
  if (S_ISDIR(status.st_mode)) return failure(ErrorCode::Invalid, fmt::format("{} is a directory, not a file", path));
  if (kind == FileKind::Regular && !S_ISREG(status.st_mode)) return failure(ErrorCode::Invalid, fmt::format("{} is not a regular file", path));
  auto text = read_descriptor(file.number(), path, limit);
  if (!text) return tl::unexpected<Error>(text.error());
  return FileText{.text = std::move(*text), .others_can_read = (status.st_mode & (S_IRGRP | S_IROTH)) != 0};
}

}  // namespace verl
