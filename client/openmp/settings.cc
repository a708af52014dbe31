#include "client/openmp/settings.h"

#include <strings.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "core/planning/cost_model_file.h"

namespace ingot::openmp {
namespace {

void read_machine_file(const char* path, Settings& settings) {
  std::ifstream file(path);
  std::stringstream text;
  if (file) text << file.rdbuf();
  if (!file || !text) {
    complain("INGOT_OPENMP_MACHINE=%s cannot be read; libgomp's barriers are used", path);
    settings.usable = false;
    return;
  }
  auto machine = read_machine(text.str());
  if (machine.ok()) {
    settings.machine = *std::move(machine);
    return;
  }
  complain("INGOT_OPENMP_MACHINE=%s is no machine file: %s; libgomp's barriers are used", path,
           std::string(machine.status().message()).c_str());
  settings.usable = false;
}

Settings read_settings() {
  Settings settings;
  if (const char* policy = std::getenv("OMP_WAIT_POLICY")) {
    if (::strcasecmp(policy, "active") == 0) settings.spin_ns = kSpinNsActive;
    if (::strcasecmp(policy, "passive") == 0) settings.spin_ns = 0;
  }
  if (const char* report = std::getenv("INGOT_OPENMP_REPORT")) {
    settings.report = std::string_view(report) == "1";
    if (!settings.report && std::string_view(report) != "0" && *report != '\0') {
      complain("INGOT_OPENMP_REPORT is 0 or 1, not %s; nothing will be reported", report);
    }
  }
  if (const char* cores = std::getenv("INGOT_OPENMP_CORES")) {
    if (std::string_view(cores) == "own") settings.shared_cores = false;
    if (std::string_view(cores) == "shared") settings.shared_cores = true;
    if (!settings.shared_cores.has_value() && *cores != '\0') {
      complain("INGOT_OPENMP_CORES is own or shared, not %s; processors are counted instead", cores);
    }
  }
  const char* machine = std::getenv("INGOT_OPENMP_MACHINE");
  if (machine != nullptr && *machine != '\0') read_machine_file(machine, settings);
  return settings;
}

// Prints nothing in a program without parallel regions, which may not use OpenMP.
[[gnu::destructor]] void report_at_end() {
  const Counters& c = counters();
  if (c.regions.load() == 0 || !settings().report) return;
  const auto number = [](const std::atomic<std::uint64_t>& n) { return static_cast<unsigned long long>(n.load()); };
  std::fprintf(stderr, "ingot openmp: %llu regions, %llu tree barriers, %llu of libgomp's, %llu trees planned\n",
               number(c.regions), number(c.tree_barriers), number(c.libgomp_barriers), number(c.trees_planned));
}

}  // namespace

const Settings& settings() {
  static const Settings* const all = new Settings(read_settings());  // never freed: regions may outlive statics
  return *all;
}

Counters& counters() {
  static Counters* const all = new Counters;
  return *all;
}

void complain(const char* format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "ingot openmp: %s\n", line);
}

}  // namespace ingot::openmp
