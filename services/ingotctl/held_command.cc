#include "services/ingotctl/held_command.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ingot::inline services_ingotctl {
namespace {

constexpr int kSignaled = 128;  // and the signal: as shells report it
constexpr auto kLook = std::chrono::milliseconds(500);  // the end of the child ends the wait sooner

int exit_code = 0;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// Signals are blocked as they were before the verb began.
absl::StatusOr<pid_t> start(std::vector<std::string> words, std::vector<std::string> environment) {
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words.front().c_str(), nullptr, &attributes, pointers(words).data(),
                                   pointers(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  if (error == 0) return child;
  return absl::InvalidArgumentError(absl::StrCat("cannot run '", words.front(), "': ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<int> run_held(const std::vector<std::string>& words, std::vector<std::string> environment,
                             Interruption& interruption) {
  std::signal(SIGCHLD, SIG_DFL);  // who has started this process may ignore it, and then no exit code is kept
  const absl::StatusOr<pid_t> child = start(words, std::move(environment));
  if (!child.ok()) return child.status();
  int status = 0;
  while (::waitpid(*child, &status, WNOHANG) == 0) {
    interruption.wait(kLook);
    if (const auto signal = interruption.take_to_pass_on()) ::kill(*child, *signal);
  }
  exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : kSignaled + WTERMSIG(status);
  return exit_code;
}

int held_exit_code() { return exit_code; }

}  // namespace ingot::services_ingotctl
