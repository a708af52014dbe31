// A trace of a run in the trace-event JSON format that Chrome's and Perfetto's viewers open: one track a core, spans
// in microseconds of virtual time. Not thread-safe.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/scc/costs.h"

namespace ingot::scc::inline transport_scc {

class TraceFile {
 public:
  // Errors: of the file system, with the path.
  static absl::StatusOr<std::unique_ptr<TraceFile>> create(const std::string& path, std::uint64_t events_max);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile();

  // A span of a core's time. `name` needs no escapes.
  void span(int core, const char* name, Picoseconds from, Picoseconds to);
  // The begin and end of a span that contains others.
  void begin(int core, const char* name, Picoseconds at);
  void end(int core, Picoseconds at);

  // Completes the file; nothing is written after it. Errors: of the file system.
  absl::Status finish();

 private:
  TraceFile(std::FILE* file, std::string path, std::uint64_t events_max);
  bool take();  // false: no room for another event

  std::FILE* file_;
  const std::string path_;
  std::uint64_t events_left_;
  std::uint64_t events_dropped_ = 0;
};

}  // namespace ingot::scc::transport_scc
