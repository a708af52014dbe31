// docs/configuration.md holds the table of settings. On failure the test prints the tables.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "services/config/daemon_settings.h"
#include "services/config/scc_settings.h"

namespace ingot {
namespace {

std::string code(const std::string& text) { return text.empty() ? "" : absl::StrCat("`", text, "`"); }

template <typename Config, typename T>
std::string range_text(const Setting<Config, T>& setting) {
  const settings::Range& range = setting.range;
  if constexpr (NamedEnum<T>) return absl::StrJoin(choice_names<T>(range), ", ");
  if (range.duration) return "duration";
  if (range.max != settings::any().max) return absl::StrCat(range.min, " to ", range.max);
  if (range.form != nullptr) return range.form;
  if (std::is_same_v<T, bool>) return "on, off";
  return "text";
}

template <typename Config, typename T>
std::string row(const Setting<Config, T>& setting) {
  return absl::StrCat("| `", setting.flag, "` | ",
                      setting.has(settings::kFlagOnly) ? "" : code(environment_name(setting.flag)), " | ",
                      code(default_text(setting)), " | ", range_text(setting), " | ",
                      setting.has(settings::kIdentity) ? "yes" : "", " | ",
                      absl::StrReplaceAll(setting.help, {{"|", "\\|"}}), " |\n");
}

template <typename Config>
std::string table() {
  std::string text = "| flag | environment | default | values | fixed | meaning |\n|---|---|---|---|---|---|\n";
  visit_settings(Config{}, [&](const auto& setting) { text += row(setting); });
  return text;
}

TEST_CASE("docs/configuration.md has a row for each setting") {
  std::stringstream file;
  file << std::ifstream("docs/configuration.md").rdbuf();
  for (const std::string& expected : {table<DaemonConfig>(), table<SccConfig>()}) {
    INFO("It should hold\n" << expected);
    CHECK(file.str().find(expected) != std::string::npos);
  }
}

}  // namespace
}  // namespace ingot
