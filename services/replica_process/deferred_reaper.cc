#include "services/replica_process/deferred_reaper.h"

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

// glibc's clone under its other name: ThreadSanitizer intercepts `clone` and assumes that the child has its own memory.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...) noexcept;

namespace ingot::inline services_replica_process {
namespace {

constexpr std::size_t kStackBytes = 32 * 1024;
constexpr int kNice = 10;            // a tenth of a core against one busy process of nice 0
constexpr long kWaitNs = 20'000'000;  // the survivors elect a leader first: milliseconds if they share cores

// The reaper's program. It runs in the parent's memory and with the parent's thread-local storage, so it makes only
// system calls, and only ones that do not fail: errno is the parent's, too. All signals that can be blocked are
// blocked.
__attribute__((no_sanitize("address", "thread", "undefined"))) int keep(void* argument) {
  const int parent = static_cast<int>(reinterpret_cast<std::intptr_t>(argument));
  // The descriptors are copies of the parent's, without CLONE_FILES. They must not keep the supervision channel, the
  // listening socket or shared memory open after the parent's death. The parent's pidfd stays.
  if (parent > 0) ::syscall(SYS_close_range, 0, parent - 1, 0);
  ::syscall(SYS_close_range, parent + 1, ~0U, 0);
  // A reaper that was stopped together with its parent must go on when the parent dies, or it would keep the memory.
  ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0);
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
  // Readable once all threads of this process have ended and have given up the memory.
  const Descriptor self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!self.valid()) return;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  void* const argument = reinterpret_cast<void*>(static_cast<std::intptr_t>(self.get()));
  char own_name[16] = {};
  ::prctl(PR_GET_NAME, own_name);
  ::prctl(PR_SET_NAME, kDeferredReaperName);  // inherited, so that the reaper has this name from its start
  pid_ = ::__clone(keep, stack_.get() + kStackBytes, CLONE_VM, argument);  // no signal to the parent at its end
  ::prctl(PR_SET_NAME, own_name);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

DeferredReaper::~DeferredReaper() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, __WCLONE);
}

}  // namespace ingot::services_replica_process
