#include "replication/view/generation/memory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "replication/view/generation/layout.h"
#include "transport/host/segment.h"

namespace ingot::inline replication_view_generation {
namespace {

absl::Status failed(const char* what) {
  return absl::InternalError(absl::StrCat("a view's memory: ", what, ": ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<Descriptor> create_generation_memory(std::uint64_t bytes) {
  if (bytes < kGenerationBytesMin || bytes > kGenerationBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("a generation has ", kGenerationBytesMin, " to ",
                                                   kGenerationBytesMax, " bytes, not ", bytes));
  }
  return create_segment("ingot-view", bytes);
}

absl::StatusOr<Descriptor> read_only_generation(int fd) {
  Descriptor opened(::open(absl::StrCat("/proc/self/fd/", fd).c_str(), O_RDONLY | O_CLOEXEC));
  if (opened.get() >= 0) return opened;
  if (errno == EMFILE || errno == ENFILE) return absl::ResourceExhaustedError("no descriptor for a view's memory");
  return failed("it cannot be opened for reading");
}

absl::StatusOr<bool> punch_some(int fd, std::uint64_t& offset) {
  struct stat status;
  if (::fstat(fd, &status) != 0) return failed("fstat");
  const auto end = static_cast<std::uint64_t>(status.st_size);
  offset = std::max<std::uint64_t>(offset, kHeaderWords * kWordBytes);
  const std::uint64_t bytes = std::min(kPunchBytes, end - std::min(offset, end));
  if (bytes > 0 && ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                               static_cast<off_t>(bytes)) != 0) {
    return failed("it cannot be given back");
  }
  offset += bytes;
  return offset >= end;
}

}  // namespace ingot::replication_view_generation
