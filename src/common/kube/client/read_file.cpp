#include "kube/client/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace verl::kube {
namespace {

constexpr size_t kLargest = 1024 * 1024;

class Descriptor final {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

tl::unexpected<Error> unreadable(const std::string& path, int error) {
  const ErrorCode code = error == ENOENT || error == ENOTDIR ? ErrorCode::NotFound : error == EACCES ? ErrorCode::Denied : ErrorCode::Unavailable;
  return failure(code, "file " + path + " cannot be read: " + std::strerror(error));
}

}  // namespace

Result<FileText> read_local_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a FIFO without a writer must not block
  if (file.number() < 0) return unreadable(path, errno);
  struct stat status {};
  if (fstat(file.number(), &status) != 0) return unreadable(path, errno);
  if (!S_ISREG(status.st_mode)) return failure(ErrorCode::Invalid, path + " is not a regular file");
  FileText out{.others_can_read = (status.st_mode & (S_IRGRP | S_IROTH)) != 0};
  std::array<char, 16384> buffer{};
  for (;;) {
    const ssize_t count = read(file.number(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable(path, errno);
    if (count == 0) return out;
    out.text.append(buffer.data(), static_cast<size_t>(count));
    if (out.text.size() > kLargest) return failure(ErrorCode::Invalid, path + " is larger than 1 MiB, which no key, token or kubeconfig is");
  }
}

}  // namespace verl::kube
