#include "core/planning/cost_model_file.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/check.h"
#include "core/planning/json.h"
#include "core/planning/limits.h"

namespace ingot::inline core_planning {
namespace {

using nlohmann::json;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

template <typename... Parts>
absl::Status wrong(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// A whole number; 0 if it is absent.
absl::Status read_index(const json& core, const char* key, std::size_t position, int& out) {
  if (!core.contains(key)) return absl::OkStatus();
  const std::int64_t value = whole_number_or_minus_one(core[key], kMachineCoresMax);
  if (value < 0)
    return wrong("\"", key, "\" of cores[", position, "] is not a whole number from 0 to ", kMachineCoresMax);
  out = static_cast<int>(value);
  return absl::OkStatus();
}

absl::StatusOr<MachineCore> read_core(const json& entry, std::size_t position) {
  constexpr std::int64_t kIdMax = std::numeric_limits<CoreId::rep>::max();
  if (!entry.is_object()) return wrong("cores[", position, "] is not an object like {\"id\": 0}");
  const std::int64_t id = entry.contains("id") ? whole_number_or_minus_one(entry["id"], kIdMax) : -1;
  if (id < 0) return wrong("cores[", position, "] has no \"id\" that is a whole number from 0 to ", kIdMax);
  MachineCore core{.id = CoreId(static_cast<CoreId::rep>(id))};
  if (const absl::Status status = read_index(entry, "numa_node", position, core.numa_node); !status.ok()) return status;
  if (const absl::Status status = read_index(entry, "package", position, core.package); !status.ok()) return status;
  return core;
}

absl::Status read_cores(const json& file, CostModel& model) {
  if (!file.contains("cores") || !file["cores"].is_array()) return wrong("it has no list of \"cores\"");
  const json& cores = file["cores"];
  if (cores.empty()) return wrong("its list of \"cores\" is empty; a machine has at least one");
  if (cores.size() > static_cast<std::size_t>(kMachineCoresMax)) {
    return wrong("it lists ", cores.size(), " cores; at most ", kMachineCoresMax, " will do");
  }
  for (std::size_t i = 0; i < cores.size(); ++i) {
    absl::StatusOr<MachineCore> core = read_core(cores[i], i);
    if (!core.ok()) return core.status();
    model.cores.push_back(*core);
  }
  return absl::OkStatus();
}

absl::Status read_row(const json& row, const char* name, int from, CycleMatrix& out) {
  if (!row.is_array() || row.size() != static_cast<std::size_t>(out.cores())) {
    return wrong("row ", from, " of \"", name, "\" has ", row.is_array() ? row.size() : 0, " entries for ", out.cores(),
                 " cores; the matrix must be square");
  }
  for (int to = 0; to < out.cores(); ++to) {
    const json& cell = row[static_cast<std::size_t>(to)];
    if (!cell.is_number() && !cell.is_null()) {
      return wrong("row ", from, ", column ", to, " of \"", name, "\" is neither a number nor null");
    }
    out.set(from, to, cell.is_null() ? kMissing : cell.get<double>());
  }
  return absl::OkStatus();
}

absl::Status read_matrix(const json& file, const char* name, bool required, int cores, CycleMatrix& out) {
  if (!file.contains(name)) {
    return required ? wrong("it has no matrix \"", name, "\"") : absl::OkStatus();
  }
  const json& rows = file[name];
  if (!rows.is_array() || rows.size() != static_cast<std::size_t>(cores)) {
    return wrong("\"", name, "\" has ", rows.is_array() ? rows.size() : 0, " rows for ", cores,
                 " cores; the matrix must be square");
  }
  out = CycleMatrix(cores);
  for (int from = 0; from < cores; ++from) {
    const absl::Status status = read_row(rows[static_cast<std::size_t>(from)], name, from, out);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status read_head(const json& file, CostModel& model) {
  if (!file.is_object()) return wrong("it is not a JSON object with \"cores\", \"send\" and \"receive\"");
  if (file.contains("unit") && file["unit"] != "cycles")
    return wrong("its \"unit\" is not \"cycles\"; convert its costs");
  if (file.contains("name") && !file["name"].is_string()) return wrong("its \"name\" is not a text");
  model.name = file.value("name", "unnamed");
  if (!file.contains("frequency_hz")) return absl::OkStatus();
  const json& frequency = file["frequency_hz"];
  if (!frequency.is_number() || !(frequency.get<double>() >= 0) || !std::isfinite(frequency.get<double>())) {
    return wrong("its \"frequency_hz\" is not a number of cycles per second");
  }
  model.frequency_hz = frequency.get<double>();
  return absl::OkStatus();
}

// The shortest text that reads back as the same number.
void append_cycles(double cycles, std::string& out) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, cycles);
  INGOT_CHECK(error == std::errc());
  out.append(text, end);
}

void append_matrix(const char* name, const CycleMatrix& matrix, std::string& out) {
  if (matrix.empty()) return;
  absl::StrAppend(&out, ",\n\"", name, "\": [\n");
  for (int from = 0; from < matrix.cores(); ++from) {
    out += '[';
    for (int to = 0; to < matrix.cores(); ++to) {
      if (to > 0) out += ',';
      append_cycles(matrix.at(from, to), out);
    }
    out += from + 1 < matrix.cores() ? "],\n" : "]]";
  }
}

}  // namespace

absl::StatusOr<CostModel> read_machine_draft(std::string_view text) {
  const absl::StatusOr<json> file = parse_json(text);
  if (!file.ok()) return file.status();
  CostModel model;
  absl::Status status = read_head(*file, model);
  if (status.ok()) status = read_cores(*file, model);
  if (status.ok()) status = read_matrix(*file, "send", true, model.size(), model.send);
  if (status.ok()) status = read_matrix(*file, "receive", true, model.size(), model.receive);
  if (status.ok()) status = read_matrix(*file, "overlapped", false, model.size(), model.overlapped);
  if (status.ok()) status = read_matrix(*file, "round_trip", false, model.size(), model.round_trip);
  if (!status.ok()) return status;
  return model;
}

absl::StatusOr<CostModel> read_machine(std::string_view text) {
  absl::StatusOr<CostModel> model = read_machine_draft(text);
  if (!model.ok()) return model;
  if (model->size() == 1) return wrong("it has only one core; a message takes two");
  if (const absl::Status status = validate(*model); !status.ok()) return status;
  return model;
}

std::string write_machine(const CostModel& model) {
  std::string out = absl::StrCat(
      "{\"name\": ", json(model.name).dump(-1, ' ', false, json::error_handler_t::replace),
      ", \"unit\": \"cycles\",\n\"frequency_hz\": ", absl::StrFormat("%.0f", model.frequency_hz), ",\n\"cores\": [\n");
  for (int i = 0; i < model.size(); ++i) {
    const MachineCore& core = model.cores[i];
    absl::StrAppend(&out, "{\"id\": ", core.id.value(), ", \"numa_node\": ", core.numa_node,
                    ", \"package\": ", core.package, i + 1 < model.size() ? "},\n" : "}]");
  }
  append_matrix("send", model.send, out);
  append_matrix("receive", model.receive, out);
  append_matrix("overlapped", model.overlapped, out);
  append_matrix("round_trip", model.round_trip, out);
  out += "}\n";
  return out;
}

}  // namespace ingot::core_planning
