// A file that shows that an instance serves, or did until its end. A clean stop removes it. So if the file is there and
// no process of the instance is, then the former instance of this name has ended otherwise, and its state is gone.
//
// The file is "NAME.serving" in the first of these folders that this user can write and no other one can; its time of
// modification is when the instance began to serve:
//
//   $RUNTIME_DIRECTORY           as systemd sets it (RuntimeDirectory=); this one may be a link
//   $XDG_RUNTIME_DIR/ingot
//   /run/ingot                   root only
//   /tmp/ingot-UID
//
// The trace is for people only: an instance without one works as well.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace ingot::inline services_instance {

// Used by one thread.
class InstanceTrace {
 public:
  // `former`: the folders of the supervisor that has started the instance, which may have another environment.
  explicit InstanceTrace(std::string name, std::vector<std::string> former = {});

  // In which a trace may be: first those of this process's environment.
  const std::vector<std::string>& folders() const { return folders_; }

  // When the instance of this name began to serve that has left the newest trace, in ms since the Unix epoch.
  std::optional<std::int64_t> found_unix_ms() const;

  // Leaves a trace of an instance that begins to serve now, in place of any other. Errors: UNAVAILABLE with a sentence;
  // then there is none.
  absl::Status leave() const;

  // Marks the trace as in use: programs that empty folders (tmpfiles.d(5)) remove files that nothing has touched for
  // days. Its time of modification stays. Nothing happens if it is gone.
  void touch() const;

  void remove() const;

 private:
  const std::string file_;
  std::vector<std::string> folders_;
};

// "a former instance named "NAME", which served from TIME on, ended without a clean stop: its data is gone, and ..."
std::string describe_lost_former(const std::string& name, std::int64_t since_unix_ms);

}  // namespace ingot::services_instance
