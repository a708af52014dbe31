#include "services/scc/replay.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "services/log/log.h"

namespace ingot::inline services_scc {
namespace {

constexpr int kTailRoundsMax = 1000;  // after the last input of a recording without an end

absl::Status other_course(std::uint64_t round, const std::string& what) {
  return absl::InternalError(absl::StrCat("the replay is not the recorded run: after ", round, " rounds ", what));
}

absl::Status advance_to(std::uint64_t rounds, ChipGroup& group) {
  while (group.rounds() < rounds) {
    if (group.round() == ChipGroup::Progress::kTimeOut) return other_course(rounds, "the chip's time has run out");
    group.take_replies();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ChipSummary> replay(const Recording& recording) {
  auto created = ChipGroup::create(recording.config, recording.scc);
  if (!created.ok()) return created.status();
  ChipGroup& group = **created;
  for (const RecordedInput& recorded : recording.inputs) {
    if (auto status = advance_to(recorded.round, group); !status.ok()) return status;
    if (group.rounds() != recorded.round || group.boundary_ps() != recorded.at_ps) {
      return other_course(group.rounds(), absl::StrCat("it is ", group.boundary_ps(), " ps, and was ", recorded.at_ps));
    }
    if (auto status = group.inject(recorded.input); !status.ok()) {
      return other_course(group.rounds(), std::string(status.message()));
    }
  }
  if (recording.end) {
    if (auto status = advance_to(recording.end->rounds, group); !status.ok()) return status;
  } else {
    for (int i = 0; i < kTailRoundsMax && group.round() == ChipGroup::Progress::kMore; ++i) group.take_replies();
  }
  const ChipSummary summary = group.summary();
  if (recording.end) {
    if (const std::string what = difference(*recording.end, summary); !what.empty()) {
      return other_course(group.rounds(), what);
    }
  }
  return summary;
}

absl::Status run_replay(const std::string& path, LogFormat format) {
  const auto recording = read_recording(path);
  if (!recording.ok()) return recording.status();
  const auto summary = replay(*recording);
  if (!summary.ok()) return summary.status();
  std::printf("%s\n", summary_json(*summary).c_str());
  start_log("replay", format);
  log_info(absl::StrCat("replayed ", recording->inputs.size(), " inputs; ",
                        recording->end ? "the run is the recorded one, bit for bit"
                                       : "the recording has no end, so there was nothing to compare"));
  return absl::OkStatus();
}

}  // namespace ingot::services_scc
