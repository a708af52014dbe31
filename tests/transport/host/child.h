// A child process for tests: runs a function; destruction kills and reaps it if it still runs.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "core/check.h"

namespace ingot {

class Child {
 public:
  // Forks. The child runs `body`, which returns its exit code, and never returns to the test.
  template <typename Body>
  explicit Child(Body&& body) {
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    INGOT_CHECK(pid_ >= 0, "a test can fork");
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // the child dies with the test
    if (::getppid() != parent) ::_exit(126);
    ::_exit(std::forward<Body>(body)());
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      kill();
      wait();
    }
  }

  pid_t pid() const { return pid_; }
  void kill(int signal = SIGKILL) const { ::kill(pid_, signal); }

  // Waits until it has ended. Returns the exit code, or minus the signal that killed it.
  int wait() {
    int status = 0;
    INGOT_CHECK(::waitpid(std::exchange(pid_, -1), &status, 0) > 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

}  // namespace ingot
