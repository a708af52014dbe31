// Regression: after the death of all processes the next instance came up empty and did not say that there was one.
#include "services/instance/instance_trace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"

namespace ingot {
namespace {

// A session's folder of this test.
std::string make_session(const char* what) {
  const std::string folder = absl::StrCat(std::getenv("TEST_TMPDIR"), "/", what, "-", ::getpid());
  REQUIRE(::mkdir(folder.c_str(), 0700) == 0);
  ::unsetenv("RUNTIME_DIRECTORY");
  ::setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);
  return folder;
}

TEST_CASE("a trace is found until it is removed, and by its own name only") {
  const std::string session = make_session("found");
  const InstanceTrace trace("some name");
  CHECK_FALSE(trace.found_unix_ms().has_value());
  const std::int64_t before_ms = std::int64_t{::time(nullptr)} * 1000 - 10'000;
  REQUIRE(trace.leave().ok());
  CHECK(::access((session + "/ingot/some name.serving").c_str(), F_OK) == 0);
  REQUIRE(trace.found_unix_ms().has_value());
  CHECK(*trace.found_unix_ms() >= before_ms);
  CHECK(InstanceTrace("some name").found_unix_ms() == trace.found_unix_ms());
  CHECK_FALSE(InstanceTrace("some").found_unix_ms().has_value());
  trace.remove();
  CHECK_FALSE(trace.found_unix_ms().has_value());
  trace.remove();
}

// Regression: systemd-tmpfiles removes what nothing has touched in /tmp for ten days, and so the trace of an instance
// that served for longer.
TEST_CASE("a trace that is touched is in use, and still says since when the instance serves") {
  const std::string session = make_session("touched");
  const InstanceTrace trace("name");
  trace.touch();  // there is none
  CHECK_FALSE(trace.found_unix_ms().has_value());
  REQUIRE(trace.leave().ok());
  const std::string file = session + "/ingot/name.serving";
  const timespec long_ago[2] = {{.tv_sec = 1'000'000'000, .tv_nsec = 0}, {.tv_sec = 1'000'000'000, .tv_nsec = 0}};
  REQUIRE(::utimensat(AT_FDCWD, file.c_str(), long_ago, 0) == 0);
  trace.touch();
  struct stat info{};
  REQUIRE(::stat(file.c_str(), &info) == 0);
  CHECK(info.st_atim.tv_sec > 1'000'000'000);
  CHECK(trace.found_unix_ms() == std::int64_t{1'000'000'000} * 1000);
  trace.remove();
}

TEST_CASE("the folder of a service manager comes first") {
  const std::string session = make_session("systemd");
  ::setenv("RUNTIME_DIRECTORY", absl::StrCat(session, ":/other").c_str(), 1);
  const InstanceTrace trace("name");
  REQUIRE(trace.leave().ok());
  CHECK(::access((session + "/name.serving").c_str(), F_OK) == 0);
  trace.remove();
  ::unsetenv("RUNTIME_DIRECTORY");
}

// Regression: with DynamicUser= systemd makes the folder of RuntimeDirectory= a link to a private one, which was passed
// over as if another user had made it.
TEST_CASE("the folder of a service manager may be a link") {
  const std::string session = make_session("dynamic");
  const std::string folder = session + "/private", link = session + "/link";
  REQUIRE(::mkdir(folder.c_str(), 0700) == 0);
  REQUIRE(::symlink(folder.c_str(), link.c_str()) == 0);
  ::setenv("RUNTIME_DIRECTORY", link.c_str(), 1);
  const InstanceTrace trace("name");
  REQUIRE(trace.leave().ok());
  CHECK(::access((folder + "/name.serving").c_str(), F_OK) == 0);
  CHECK(trace.found_unix_ms().has_value());
  trace.remove();
  CHECK_FALSE(trace.found_unix_ms().has_value());

  REQUIRE(::chmod(folder.c_str(), 0777) == 0);
  trace.leave().IgnoreError();          // in another folder
  CHECK(::rmdir(folder.c_str()) == 0);  // it is empty
  trace.remove();
  ::unsetenv("RUNTIME_DIRECTORY");
}

// Regression: a supervisor that attached in another environment and was stopped left the first one's trace behind.
TEST_CASE("a later supervisor removes the trace from the folders of an earlier one") {
  const std::string earlier = make_session("earlier");
  const InstanceTrace left("name");
  REQUIRE(left.leave().ok());
  make_session("later");
  const InstanceTrace unaware("name"), later("name", left.folders());
  unaware.remove();
  REQUIRE(left.found_unix_ms().has_value());
  CHECK(later.found_unix_ms() == left.found_unix_ms());
  later.remove();
  CHECK_FALSE(left.found_unix_ms().has_value());
}

TEST_CASE("a folder that others can write to, or that is a link, is passed over") {
  const std::string session = make_session("unsafe");
  const std::string folder = session + "/ingot", elsewhere = session + "/elsewhere";
  REQUIRE(::mkdir(folder.c_str(), 0700) == 0);
  REQUIRE(::chmod(folder.c_str(), 0777) == 0);
  const InstanceTrace trace(absl::StrCat("unsafe-", ::getpid()));
  trace.leave().IgnoreError();          // in a folder outside the session, if there is one
  CHECK(::rmdir(folder.c_str()) == 0);  // it is empty
  trace.remove();

  REQUIRE(::mkdir(elsewhere.c_str(), 0700) == 0);
  REQUIRE(::symlink(elsewhere.c_str(), folder.c_str()) == 0);
  trace.leave().IgnoreError();
  CHECK(::rmdir(elsewhere.c_str()) == 0);
  trace.remove();
}

TEST_CASE("the sentence names the instance and the time") {
  CHECK(describe_lost_former("ingot-2379", 1'700'000'000'000) ==
        "a former instance named \"ingot-2379\", which served from 2023-11-14T22:13:20+00:00 on, ended without a clean "
        "stop: its data is gone, and this instance begins empty");
}

}  // namespace
}  // namespace ingot
