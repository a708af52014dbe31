// An instance's name is claimed among those of one user.
#include "services/instance/instance_name.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <string>

using ingot::claim_instance_name;
using ingot::Descriptor;

TEST_CASE("a name is claimed once, and is free again when the claim is dropped", "[listen]") {
  const std::string name = "claimed-" + std::to_string(::getpid());
  Descriptor first, second;
  REQUIRE(claim_instance_name(name, first).ok());
  const absl::Status refused = claim_instance_name(name, second);
  REQUIRE(absl::IsAlreadyExists(refused));
  CHECK(std::string(refused.message()) == "an instance named \"" + name + "\" is running (pid " +
                                              std::to_string(::getpid()) + "); choose another name with --name=NAME");
  CHECK(claim_instance_name(name + "-other", second).ok());
  first.reset();
  CHECK(claim_instance_name(name, first).ok());
}

// The supervisor had forked a child, which had not run its program yet, and was killed. The next one took the name for
// that of a running instance, and once the child ran its program, it made a new and empty instance beside the processes
// of the former.
TEST_CASE("a dead supervisor's child that had not run its program yet held the name for a moment", "[listen]") {
  const std::string name = "left-behind-" + std::to_string(::getpid());
  int claimed[2];
  REQUIRE(::pipe(claimed) == 0);
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    Descriptor claim;
    const bool ok = claim_instance_name(name, claim).ok();
    if (::fork() == 0) {  // holds the claim for a while
      ::usleep(300'000);
      ::_exit(0);
    }
    (void)!::write(claimed[1], ok ? "1" : "0", 1);
    ::_exit(0);
  }
  char ok = '0';
  REQUIRE(::read(claimed[0], &ok, 1) == 1);
  REQUIRE(ok == '1');
  REQUIRE(::waitpid(supervisor, nullptr, 0) == supervisor);
  Descriptor claim;
  CHECK(claim_instance_name(name, claim).ok());
  CHECK(claim.valid());
  ::close(claimed[0]);
  ::close(claimed[1]);
}
