// The file of a recorded run: the instance's options, every input with its round, and the final summary.
//
// A line is a JSON object, a space, and 16 hexadecimal digits: a hash of the object's text chained to that of the line
// before, so that a changed, missing or moved line is found at its place.
//
//   {"record":"ingot-scc","version":1,"agreement":...,"cores":[...],...}   the arguments of ChipGroup::create
//   {"round":7,"at_ps":312000000,"do":"command","id":1,"payload":"0a0b"}   a request, its payload in hexadecimal digits
//   {"round":9,"at_ps":400000000,"do":"kill","replica":0}                  or stop, continue
//   {"end":{...}}                                                          the summary; missing after a crash
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/config/daemon_config.h"
#include "services/config/scc_config.h"
#include "services/scc/chip_group.h"
#include "services/scc/limits.h"

namespace ingot::inline services_scc {

struct RecordedInput {
  std::uint64_t round = 0;  // rounds completed before it
  std::uint64_t at_ps = 0;  // the virtual time when it took effect
  ChipInput input;
};

struct Recording {
  DaemonConfig config;  // only the settings of use kRecorded; a replay needs no others
  SccConfig scc;
  std::vector<RecordedInput> inputs;
  std::optional<ChipSummary> end;
};

// Not thread-safe.
class RecordingWriter {
 public:
  // Errors: INVALID_ARGUMENT (the file cannot be written, or exists: a recording is never overwritten).
  static absl::StatusOr<std::unique_ptr<RecordingWriter>> create(const std::string& path, const DaemonConfig& config,
                                                                 const SccConfig& scc);
  ~RecordingWriter();

  // Call it before the input's round begins, so that after a crash the run can be replayed up to there. After
  // kRecordBytesMax, or when the disk is full, recording ends, with one message on standard error.
  void input(const RecordedInput& input);
  void flush();
  void end(const ChipSummary& summary);

 private:
  RecordingWriter(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  void line(const std::string& object);
  void give_up(const char* why);

  const std::string path_;
  std::FILE* file_;  // null: recording has ended
  std::uint64_t chain_ = 0;
  std::uint64_t bytes_ = 0;
};

// Errors: INVALID_ARGUMENT with one sentence that names file and line. An incomplete last line, as after a crash, is no
// error.
absl::StatusOr<Recording> read_recording(const std::string& path);

std::string summary_json(const ChipSummary& summary);
// Describes the differences; empty: there are none.
std::string difference(const ChipSummary& recorded, const ChipSummary& replayed);

}  // namespace ingot::services_scc
