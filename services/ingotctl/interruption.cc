#include "services/ingotctl/interruption.h"

#include <ctime>
#include <utility>

namespace ingot::inline services_ingotctl {

Interruption::Interruption() {
  ::sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) ::sigaddset(&signals_, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

Interruption::~Interruption() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool Interruption::wait(std::chrono::milliseconds longest) {
  const timespec timeout{longest.count() / 1000, longest.count() % 1000 * 1'000'000};
  siginfo_t info{};
  const int signal = ::sigtimedwait(&signals_, &info, &timeout);
  const std::lock_guard lock(mutex_);
  if (signal == SIGINT || signal == SIGTERM) {
    came_ = true;
    if (info.si_code != SI_KERNEL) to_pass_on_ = signal;
  }
  return came_;
}

bool Interruption::came() const {
  const std::lock_guard lock(mutex_);
  return came_;
}

std::optional<int> Interruption::take_to_pass_on() {
  const std::lock_guard lock(mutex_);
  return std::exchange(to_pass_on_, std::nullopt);
}

}  // namespace ingot::services_ingotctl
