#include "transport/host/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/host/limits.h"

namespace ingot::inline transport_host {
namespace {

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr std::size_t kNameBytesMax = 249;  // memfd_create's own limit

absl::Status failure(const char* what, const std::string& name) {
  const int error = errno;
  const std::string text = absl::StrCat("cannot ", what, " ", name, ": ", std::strerror(error));
  switch (error) {
    case ENOMEM:
    case ENOSPC:
    case EMFILE:
    case ENFILE:
      return absl::ResourceExhaustedError(text);
    case EPERM:
    case EACCES:
      return absl::PermissionDeniedError(text);
    case EBADF:
    case EINVAL:
      return absl::InvalidArgumentError(text);
    default:
      return absl::InternalError(text);
  }
}

std::string name_of(int fd) { return absl::StrCat("the shared memory with descriptor ", fd); }

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t round_up_to_pages(std::size_t bytes) {
  const std::size_t page = page_bytes();
  return (bytes + page - 1) / page * page;
}

absl::StatusOr<Descriptor> create_segment(const std::string& name, std::size_t bytes) {
  if (bytes == 0 || bytes > kSegmentBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("shared memory ", name, " cannot have ", bytes, " bytes: 1 to ",
                                                   kSegmentBytesMax, " are allowed"));
  }
  if (name.size() > kNameBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("the name of a shared memory has ", name.size(),
                                                   " bytes: at most ", kNameBytesMax, " are allowed"));
  }
  Descriptor fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return failure("create the shared memory", name);
  if (::ftruncate(fd.get(), static_cast<off_t>(round_up_to_pages(bytes))) != 0) return failure("size", name);
  if (::fcntl(fd.get(), F_ADD_SEALS, kSizeSeals) != 0) return failure("seal the size of", name);
  return fd;
}

absl::Status forbid_new_writers(int fd) {
  if (new_writers_forbidden(fd)) return absl::OkStatus();
  if (::fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) return failure("seal", name_of(fd));
  return absl::OkStatus();
}

bool new_writers_forbidden(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_FUTURE_WRITE) != 0;
}

absl::StatusOr<Segment> Segment::map(int fd, Access access) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return failure("look at", name_of(fd));
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSizeSeals) != kSizeSeals) {
    return absl::InvalidArgumentError(
        absl::StrCat("descriptor ", fd, " is not a shared memory of Ingot: its size is not sealed"));
  }
  if (info.st_size <= 0) return absl::InvalidArgumentError(absl::StrCat(name_of(fd), " is empty"));
  const auto bytes = static_cast<std::size_t>(info.st_size);
  const int protection = access == Access::kReadOnly ? PROT_READ : PROT_READ | PROT_WRITE;
  // Before version 6.7, Linux refuses a shared mapping of write-sealed memory, even read-only. Such memory never
  // changes, so a private mapping is the same.
  const bool unchanging = access == Access::kReadOnly && (seals & F_SEAL_WRITE) != 0;
  void* address = ::mmap(nullptr, bytes, protection, unchanging ? MAP_PRIVATE : MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) return failure("map", name_of(fd));
  return Segment({static_cast<std::byte*>(address), bytes});
}

Segment::Segment(Segment&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

Segment::~Segment() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace ingot::transport_host
