#include "services/cli/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace ingot::inline services_cli {
namespace {

absl::Status unreadable() { return absl::InvalidArgumentError(absl::StrCat("cannot be read: ", std::strerror(errno))); }

absl::Status check(const struct stat& info) {
  if (S_ISREG(info.st_mode)) return absl::OkStatus();
  return absl::InvalidArgumentError("is not a regular file");
}

absl::Status too_long(std::size_t bytes_max) {
  return absl::InvalidArgumentError(absl::StrCat("has more than ", bytes_max, " bytes"));
}

}  // namespace

absl::Status check_regular_file(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return unreadable();
  return check(info);
}

// The file may be replaced after check_regular_file(), and it may grow while it is read.
absl::StatusOr<std::string> read_regular_file(const std::string& path, std::size_t bytes_max) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return unreadable();
  const absl::Cleanup close = [fd] { ::close(fd); };
  struct stat info{};
  if (::fstat(fd, &info) != 0) return unreadable();
  if (auto status = check(info); !status.ok()) return status;
  if (std::cmp_greater(info.st_size, bytes_max)) return too_long(bytes_max);
  std::string text;
  char block[64 * 1024];
  ssize_t bytes = 0;
  while ((bytes = ::read(fd, block, sizeof block)) > 0) {
    if (text.size() + static_cast<std::size_t>(bytes) > bytes_max) return too_long(bytes_max);
    text.append(block, static_cast<std::size_t>(bytes));
  }
  if (bytes < 0) return unreadable();
  return text;
}

}  // namespace ingot::services_cli
