// A saved file appears under its name when it is whole, replaces what it may, and leaves nothing else.
#include "services/ingotctl/verbs/snapshot_file.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

namespace ingot {
namespace {

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

struct Folder {
  Folder() { REQUIRE(::mkdtemp(name.data()) != nullptr); }
  ~Folder() { fs::remove_all(name); }
  std::string path() const { return name + "/state.snap"; }
  std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator(name), fs::directory_iterator()); }

  std::string name = std::string(std::getenv("TEST_TMPDIR") != nullptr ? std::getenv("TEST_TMPDIR") : "/tmp") +
                     "/snapshot-file-XXXXXX";
};

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

using Create = absl::StatusOr<SnapshotFile> (*)(const std::string&, bool);

// The second way is that of file systems without O_TMPFILE.
Create either() { return GENERATE(&SnapshotFile::create, &SnapshotFile::create_named); }

absl::Status save(Create create, const std::string& path, bool overwrite, const std::string& bytes) {
  auto file = create(path, overwrite);
  if (!file.ok()) return file.status();
  REQUIRE(file->write(bytes).ok());
  REQUIRE(file->sync().ok());
  CHECK(content(file->written_path()) == bytes);
  return file->keep();
}

TEST_CASE("a file is named when it is whole, for its owner alone, and nothing else stays") {
  const Folder folder;
  const Create create = either();
  REQUIRE(save(create, folder.path(), false, "first").ok());
  CHECK(content(folder.path()) == "first");
  struct stat info{};
  REQUIRE(::stat(folder.path().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK_THAT(std::string(save(create, folder.path(), false, "x").message()), Contains("exists; choose another name"));
  CHECK(content(folder.path()) == "first");
  REQUIRE(save(create, folder.path(), true, "second").ok());
  CHECK(content(folder.path()) == "second");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file that appears meanwhile is not replaced") {
  const Folder folder;
  {
    auto file = either()(folder.path(), false);
    REQUIRE(file.ok());
    REQUIRE(file->write("mine").ok());
    std::ofstream(folder.path()) << "other";
    CHECK_THAT(std::string(file->keep().message()), Contains("exists"));
  }
  CHECK(content(folder.path()) == "other");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a name without a folder is one of this folder") {
  const Folder folder;
  const fs::path former = fs::current_path();
  fs::current_path(folder.name);
  const absl::Status saved = save(either(), "state.snap", false, "here");
  fs::current_path(former);
  REQUIRE(saved.ok());
  CHECK(content(folder.path()) == "here");
}

// Root's `snapshot save /dev/null --overwrite` replaced the device.
TEST_CASE("what is no regular file is not replaced") {
  const Folder folder;
  const Create create = either();
  const auto refused = [&] {
    CHECK_THAT(std::string(save(create, folder.path(), true, "x").message()), Contains("is not a regular file"));
    CHECK(folder.entries() == 1);
    REQUIRE(::unlink(folder.path().c_str()) == 0);
  };
  REQUIRE(::mkfifo(folder.path().c_str(), 0600) == 0);
  refused();
  REQUIRE(::symlink("/nowhere", folder.path().c_str()) == 0);
  refused();
  CHECK_THAT(std::string(save(create, "/dev/null", true, "x").message()), Contains("is not a regular file"));
}

// Runs `save` in a process that then ends itself by `signal`.
void end_in_the_middle(const std::function<absl::StatusOr<SnapshotFile>()>& create, int signal) {
  const ::pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(signal, SIG_DFL);  // Catch2 has handlers
    auto file = create();
    if (!file.ok() || !file->write("part").ok()) ::_exit(1);
    ::raise(signal);
    ::_exit(2);
  }
  int outcome = 0;
  REQUIRE(::waitpid(child, &outcome, 0) == child);
  REQUIRE(WIFSIGNALED(outcome));
  CHECK(WTERMSIG(outcome) == signal);
}

// FILE.part-XXXXXX stayed, with the whole state in it.
TEST_CASE("nothing is left of a save that is ended by a signal") {
  const Folder folder;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    for (const Create create : {&SnapshotFile::create, &SnapshotFile::create_named}) {
      end_in_the_middle([&] { return create(folder.path(), true); }, signal);
      CHECK(folder.entries() == 0);
    }
  }
}

TEST_CASE("a file system with files that have no name keeps nothing of a save that is killed") {
  const Folder folder;
  {
    auto file = SnapshotFile::create(folder.path(), true);
    REQUIRE(file.ok());
    if (!file->written_path().starts_with("/proc/")) {
      WARN("this file system has no O_TMPFILE");
      return;
    }
  }
  end_in_the_middle([&] { return SnapshotFile::create(folder.path(), true); }, SIGKILL);
  CHECK(folder.entries() == 0);
}

}  // namespace
}  // namespace ingot
