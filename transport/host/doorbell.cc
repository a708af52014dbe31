#include "transport/host/doorbell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace ingot::inline transport_host {

absl::StatusOr<Doorbell> Doorbell::create() {
  Descriptor fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd.valid()) return absl::ResourceExhaustedError(absl::StrCat("cannot make a doorbell: ", std::strerror(errno)));
  return Doorbell(std::move(fd));
}

void Doorbell::ring() const {
  const std::uint64_t one = 1;
  const int saved_errno = errno;  // a signal handler may be the caller
  // EAGAIN means that the counter is at its maximum: the bell is rung already.
  const ssize_t written = ::write(fd_.get(), &one, sizeof one);
  INGOT_CHECK(written == sizeof one || errno == EAGAIN, "a doorbell is an open eventfd");
  errno = saved_errno;
}

void Doorbell::ring(SleepingWord& word) const {
  std::uint64_t seen = word.sleeps.load(std::memory_order_relaxed);
  ring();
  // Fails if the sleeper woke by itself or sleeps again: then this ring must not change the word.
  if ((seen & 1) != 0) word.sleeps.compare_exchange_strong(seen, seen + 1, std::memory_order_relaxed);
}

void Doorbell::drain() const {
  std::uint64_t rings = 0;
  const ssize_t got = ::read(fd_.get(), &rings, sizeof rings);
  INGOT_CHECK(got == sizeof rings || errno == EAGAIN, "a doorbell is an open eventfd");
}

}  // namespace ingot::transport_host
