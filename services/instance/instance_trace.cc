#include "services/instance/instance_trace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_instance {

namespace {

// An empty variable counts as none.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// With systemd's DynamicUser= the folder that it names is a link, which only root can have made.
std::string without_link(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(folder, error);
  return error ? folder : target.string();
}

std::vector<std::string> folders_of_environment() {
  std::vector<std::string> all;
  const std::string systemd = variable("RUNTIME_DIRECTORY"), session = variable("XDG_RUNTIME_DIR");
  if (!systemd.empty()) all.push_back(without_link(systemd.substr(0, systemd.find(':'))));
  if (!session.empty()) all.push_back(session + "/ingot");
  if (::geteuid() == 0) all.push_back("/run/ingot");
  all.push_back(absl::StrCat("/tmp/ingot-", ::geteuid()));
  return all;
}

// Invalid, with errno: there is none, or another user can write to it.
Descriptor open_folder(const std::string& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info{};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) return Descriptor();
  if (info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return fd;
  errno = EPERM;
  return Descriptor();
}

bool write_trace(const std::string& folder, const std::string& file) {
  ::mkdir(folder.c_str(), S_IRWXU);
  const Descriptor place = open_folder(folder);
  if (!place.valid()) return false;
  ::unlinkat(place.get(), file.c_str(), 0);
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const Descriptor trace(::openat(place.get(), file.c_str(), flags, S_IRUSR | S_IWUSR));
  const std::string text = absl::StrCat("ingotd serves (pid ", ::getpid(), "); a clean stop removes this file\n");
  return trace.valid() && ::write(trace.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

InstanceTrace::InstanceTrace(std::string name, std::vector<std::string> former)
    : file_(std::move(name) + ".serving"), folders_(folders_of_environment()) {
  for (std::string& each : former) {
    if (!absl::c_linear_search(folders_, each)) folders_.push_back(std::move(each));
  }
}

std::optional<std::int64_t> InstanceTrace::found_unix_ms() const {
  std::optional<std::int64_t> newest;
  for (const std::string& folder : folders_) {
    const Descriptor place = open_folder(folder);
    struct stat info{};
    if (!place.valid() || ::fstatat(place.get(), file_.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const std::int64_t unix_ms = std::int64_t{info.st_mtim.tv_sec} * 1000 + info.st_mtim.tv_nsec / 1'000'000;
    newest = std::max(newest.value_or(unix_ms), unix_ms);
  }
  return newest;
}

absl::Status InstanceTrace::leave() const {
  remove();
  std::string why;
  for (const std::string& folder : folders_) {
    if (write_trace(folder, file_)) return absl::OkStatus();
    absl::StrAppend(&why, why.empty() ? "" : ", ", folder, ": ", std::strerror(errno));
  }
  return absl::UnavailableError(absl::StrCat("no trace of this instance can be left (", why,
                                             "); if all its processes die, the next one does not say so; give this "
                                             "user a folder by XDG_RUNTIME_DIR"));
}

void InstanceTrace::touch() const {
  const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_NOW}, {.tv_sec = 0, .tv_nsec = UTIME_OMIT}};
  for (const std::string& folder : folders_) {
    const Descriptor place = open_folder(folder);
    if (place.valid()) ::utimensat(place.get(), file_.c_str(), times, AT_SYMLINK_NOFOLLOW);
  }
}

void InstanceTrace::remove() const {
  for (const std::string& folder : folders_) {
    const Descriptor place = open_folder(folder);
    if (place.valid()) ::unlinkat(place.get(), file_.c_str(), 0);
  }
}

std::string describe_lost_former(const std::string& name, std::int64_t since_unix_ms) {
  const std::string since =
      absl::FormatTime(absl::RFC3339_sec, absl::FromUnixMillis(since_unix_ms), absl::UTCTimeZone());
  return absl::StrCat("a former instance named \"", name, "\", which served from ", since,
                      " on, ended without a clean stop: its data is gone, and this instance begins empty");
}

}  // namespace ingot::services_instance
