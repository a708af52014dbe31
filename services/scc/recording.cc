#include "services/scc/recording.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/stable_hash.h"
#include "replication/replica/trees/plan.h"
#include "replication/requests/limits.h"
#include "services/cli/regular_file.h"
#include "services/config/daemon_settings.h"
#include "services/config/scc_settings.h"
#include "services/log/log.h"
#include "services/scc/recorded_settings.h"

namespace ingot::inline services_scc {

using Json = nlohmann::ordered_json;

namespace {

constexpr int kVersion = 1;
constexpr std::size_t kHashDigits = 16;
static_assert(2 * kRequestBytesMax + 4096 < kRecordLineBytesMax, "the largest request has room on a line");
// Names by RequestKind from kCommand on, and those of ChipInput::Kind from kStop on.
constexpr std::array<const char*, 6> kRequests{"command", "linearizable_query", "local_query",
                                               "digest",  "move",               "standing_query"};
constexpr std::array<const char*, 3> kActions{"stop", "continue", "kill"};

Json head_json(const DaemonConfig& config, const SccConfig& scc) {
  Json head{{"record", "ingot-scc"}, {"version", kVersion}};
  put_settings(config, head);
  put_settings(scc, head);
  return head;
}

Json input_json(const RecordedInput& input) {
  Json json{{"round", input.round}, {"at_ps", input.at_ps}};
  if (input.input.kind != ChipInput::Kind::kRequest) {
    json["do"] = kActions[static_cast<std::size_t>(input.input.kind) - 1];
    json["replica"] = input.input.replica;
    return json;
  }
  const ChipRequest& request = input.input.request;
  json["do"] = kRequests[static_cast<std::size_t>(request.kind) - 1];
  json["id"] = request.id;
  if (request.replica != ReplicaClient::kAnyReplica) json["replica"] = request.replica.value();
  json["payload"] = absl::BytesToHexString(request.payload);
  return json;
}

Json to_json(const ChipSummary& summary) {
  Json replicas = Json::array();
  for (const auto& replica : summary.replicas) {
    replicas.push_back({{"applied_slots", replica.applied_slots},
                        {"digest", absl::StrFormat("%016x", replica.digest)},
                        {"page_hash", absl::StrFormat("%016x", replica.page_hash)}});
  }
  return {{"rounds", summary.rounds},
          {"virtual_ps", summary.virtual_ps},
          {"core_cycles", summary.core_cycles},
          {"accesses", summary.accesses},
          {"trace_hash", absl::StrFormat("%016x", summary.trace_hash)},
          {"statistics_hash", absl::StrFormat("%016x", summary.statistics_hash)},
          {"replicas", std::move(replicas)}};
}

std::uint64_t from_hex(const Json& json) { return std::stoull(json.get<std::string>(), nullptr, 16); }

// These throw the exceptions of nlohmann and std; read_object turns them into a sentence.
ChipSummary summary_from(const Json& json) {
  ChipSummary summary;
  summary.rounds = json.at("rounds");
  summary.virtual_ps = json.at("virtual_ps");
  summary.core_cycles = json.at("core_cycles");
  summary.accesses = json.at("accesses");
  summary.trace_hash = from_hex(json.at("trace_hash"));
  summary.statistics_hash = from_hex(json.at("statistics_hash"));
  for (const Json& replica : json.at("replicas")) {
    summary.replicas.push_back(
        {replica.at("applied_slots"), from_hex(replica.at("digest")), from_hex(replica.at("page_hash"))});
  }
  return summary;
}

// Checks settings against each other; ChipGroup::create checks the rest.
void check_head(const DaemonConfig& config) {
  const auto shapes = tree_shapes();
  const bool good = config.replicas <= kSccReplicasMax && config.voters >= 1 && config.voters <= config.replicas &&
                    std::find(shapes.begin(), shapes.end(), config.tree) != shapes.end();
  if (!good) throw std::invalid_argument(kWrongRecordedSettings);
}

void read_head(const Json& json, Recording& recording) {
  if (json.at("record") != "ingot-scc" || json.at("version") != kVersion) {
    throw std::invalid_argument("not a recording of this version");
  }
  recording.config.backend = Backend::kScc;
  get_settings(json, recording.config);
  get_settings(json, recording.scc);
  check_head(recording.config);
}

template <std::size_t kCount>
int index_of(std::string_view word, const std::array<const char*, kCount>& words) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (word == words[i]) return static_cast<int>(i);
  }
  return -1;
}

RecordedInput input_from(const Json& json) {
  RecordedInput recorded{json.at("round"), json.at("at_ps"), {}};
  const std::string what = json.at("do");
  if (const int action = index_of(what, kActions); action >= 0) {
    recorded.input.kind = static_cast<ChipInput::Kind>(action + 1);
    recorded.input.replica = json.at("replica");
    return recorded;
  }
  const int kind = index_of(what, kRequests);
  if (kind < 0) throw std::invalid_argument("no such deed");
  ChipRequest& request = recorded.input.request;
  request.kind = static_cast<RequestKind>(kind + 1);
  request.id = json.at("id");
  if (json.contains("replica")) request.replica = EndpointId(json.at("replica").get<std::uint16_t>());
  request.payload = absl::HexStringToBytes(json.at("payload").get<std::string>());
  return recorded;
}

void read_object(std::string_view text, bool first, Recording& recording) {
  const Json json = Json::parse(text);
  if (first) return read_head(json, recording);
  if (recording.end) throw std::invalid_argument("something after the end");
  if (json.contains("end")) {
    recording.end = summary_from(json.at("end"));
  } else {
    recording.inputs.push_back(input_from(json));
  }
}

// Reads a whole line without its end. False: there is none. A line that is too long for a record is cut, so its hash
// shows it as damaged.
bool read_line(std::istream& file, std::string& line) {
  line.clear();
  for (int c = file.get(); c != EOF; c = file.get()) {
    if (c == '\n') return true;
    if (line.size() > kRecordLineBytesMax) return true;
    line.push_back(static_cast<char>(c));
  }
  return false;
}

std::uint64_t chained(std::string_view object, std::uint64_t chain) { return hash_bytes(object, chain); }

}  // namespace

absl::StatusOr<std::unique_ptr<RecordingWriter>> RecordingWriter::create(const std::string& path,
                                                                         const DaemonConfig& config,
                                                                         const SccConfig& scc) {
  std::FILE* const file = std::fopen(path.c_str(), "wxe");
  if (file == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("--scc-record=", path, " cannot be made: ", std::strerror(errno),
                                                   "; give the path of a new file"));
  }
  std::unique_ptr<RecordingWriter> writer(new RecordingWriter(path, file));
  writer->line(head_json(config, scc).dump());
  writer->flush();
  return writer;
}

RecordingWriter::~RecordingWriter() {
  if (file_ != nullptr) std::fclose(file_);
}

void RecordingWriter::input(const RecordedInput& input) { line(input_json(input).dump()); }

void RecordingWriter::flush() {
  if (file_ != nullptr && std::fflush(file_) != 0) give_up(std::strerror(errno));
}

void RecordingWriter::end(const ChipSummary& summary) {
  line(Json{{"end", to_json(summary)}}.dump());
  flush();
}

void RecordingWriter::line(const std::string& object) {
  if (file_ == nullptr) return;
  bytes_ += object.size() + kHashDigits + 2;
  if (bytes_ > kRecordBytesMax) return give_up("it has become too large");
  chain_ = chained(object, chain_);
  const std::string text = absl::StrFormat("%s %016x\n", object, chain_);
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) give_up(std::strerror(errno));
}

void RecordingWriter::give_up(const char* why) {
  log_warning(absl::StrCat("the recording ", path_, " ends here: ", why));
  std::fclose(std::exchange(file_, nullptr));
}

absl::StatusOr<Recording> read_recording(const std::string& path) {
  if (auto status = check_regular_file(path); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--scc-replay=", path, " ", status.message(), "; name a recording"));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::InvalidArgumentError(absl::StrCat("--scc-replay=", path, " cannot be read; name a recording"));
  }
  Recording recording;
  std::uint64_t chain = 0;
  std::string line;
  int number = 0;
  while (read_line(file, line)) {
    ++number;
    const std::size_t object_bytes = line.size() < kHashDigits + 1 ? 0 : line.size() - kHashDigits - 1;
    const std::string_view object = std::string_view(line).substr(0, object_bytes);
    chain = chained(object, chain);
    std::string why = "it was changed, or is no recording";
    bool good = object_bytes > 0 && line.size() <= kRecordLineBytesMax &&
                std::string_view(line).substr(object_bytes) == absl::StrFormat(" %016x", chain);
    if (good) {
      try {
        read_object(object, number == 1, recording);
      } catch (const std::exception& error) {
        good = false;
        why = error.what();
      }
    }
    if (!good) {
      return absl::InvalidArgumentError(absl::StrCat("--scc-replay=", path, " is damaged at line ", number, ": ", why,
                                                     "; give a file that --scc-record has written"));
    }
  }
  if (number == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--scc-replay=", path, " has no whole line; give a file that --scc-record has written"));
  }
  return recording;
}

std::string summary_json(const ChipSummary& summary) { return to_json(summary).dump(); }

std::string difference(const ChipSummary& recorded, const ChipSummary& replayed) {
  const Json was = to_json(recorded), is = to_json(replayed);
  for (const auto& [key, value] : was.items()) {
    if (value != is.at(key)) return absl::StrCat(key, " was ", value.dump(), " and is ", is.at(key).dump());
  }
  return "";
}

}  // namespace ingot::services_scc
