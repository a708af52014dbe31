#include "services/process/deferred_reaper.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "transport/host/descriptor.h"

// glibc's clone by its other name: thread sanitizers wrap the first one for a child with memory of its own.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...) noexcept;

namespace ingot {
namespace {

constexpr std::size_t kStackBytes = 32 * 1024;
constexpr int kNice = 10;            // a tenth of a core against somebody who wants it all
constexpr long kWaitNs = 20'000'000;  // those who live name another leader first: milliseconds if they share cores

// In the parent's memory, with the parent's thread-local storage: system calls only, which must not fail, for errno is
// the parent's, too. No signal but SIGKILL comes: all are blocked.
__attribute__((no_sanitize("address", "thread", "undefined"))) int keep(void* argument) {
  const int parent = static_cast<int>(reinterpret_cast<std::intptr_t>(argument));
  // The descriptors are copies: they must not keep the supervision channel, the listener or anybody's memory open.
  if (parent > 0) ::syscall(SYS_close_range, 0, parent - 1, 0);
  ::syscall(SYS_close_range, parent + 1, ~0U, 0);
  ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0);  // stopped with its parent's group it would keep the memory
  const sched_param none{};
  ::syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &none);  // even if the parent runs at a real-time priority
  const long nice = 20 - ::syscall(SYS_getpriority, PRIO_PROCESS, 0);
  if (nice < kNice) ::syscall(SYS_setpriority, PRIO_PROCESS, 0, kNice);
  pollfd ended{parent, POLLIN, 0};
  ::syscall(SYS_ppoll, &ended, 1, nullptr, nullptr, 0);
  const timespec wait{0, kWaitNs};
  ::syscall(SYS_nanosleep, &wait, nullptr);
  ::syscall(SYS_exit, 0);
  return 0;
}

}  // namespace

DeferredReaper::DeferredReaper() : stack_(new std::byte[kStackBytes]) {
  // Readable once all threads of this process have ended, and so have let go of the memory.
  const Descriptor self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!self.valid()) return;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  void* const argument = reinterpret_cast<void*>(static_cast<std::intptr_t>(self.get()));
  char own_name[16] = {};
  ::prctl(PR_GET_NAME, own_name);
  ::prctl(PR_SET_NAME, kDeferredReaperName);  // inherited: it is called so from its first instant
  pid_ = ::__clone(keep, stack_.get() + kStackBytes, CLONE_VM, argument);  // and no signal at its end
  ::prctl(PR_SET_NAME, own_name);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

DeferredReaper::~DeferredReaper() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, __WCLONE);
}

}  // namespace ingot
