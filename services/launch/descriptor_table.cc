#include "services/launch/descriptor_table.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "services/launch/limits.h"

namespace ingot::inline services_launch {

// The table reaches up to the highest descriptor that was ever open.
void grow_descriptor_table() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == 0) return;
  const int highest = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, kDescriptorTableMax) - 1);
  const int fd = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, highest);
  if (fd >= 0) ::close(fd);
}

}  // namespace ingot::services_launch
