#include "services/ingot_load/target_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/cli/duration.h"
#include "services/cli/table.h"
#include "services/ingot_load/quantities.h"

namespace ingot::load {
namespace {

using Align = Table::Align;

std::string rate_text(const TargetStep& step) {
  return step.rate_per_s > 0 ? absl::StrFormat("%.0f", step.rate_per_s) : "closed loop";
}

const char* verdict(const TargetStep& step) { return step.held ? "held" : "missed"; }

std::string share(double value) { return absl::StrFormat("%.2f %%", 100 * value); }

std::string answer_line(const std::string& target, const TargetResult& result) {
  if (!result.rate_per_s) {
    if (!result.missed_per_s) return absl::StrCat("no rate was tried to its end: nothing is known\n");
    const bool lowest = *result.missed_per_s <= result.floor_per_s;
    return absl::StrFormat("no rate kept a 99th percentile of %s: %s %.0f requests a second missed it\n", target,
                           lowest ? "even the lowest that was tried," : "the search ended at", *result.missed_per_s);
  }
  std::string line = absl::StrFormat("%.0f requests a second kept a 99th percentile of %s (%s)", *result.rate_per_s,
                                     target, readable(result.p99_ns));
  if (result.missed_per_s) absl::StrAppendFormat(&line, "; %.0f did not", *result.missed_per_s);
  return line + "\n";
}

}  // namespace

std::string step_line(std::size_t number, const TargetStep& step) {
  return absl::StrFormat("step %d: %s%s: p99 %s, %s missed the target%s", number, rate_text(step),
                         step.rate_per_s > 0 ? "/s" : "", readable(step.p99_ns), share(step.missed_share),
                         step.rate_per_s > 0 ? absl::StrCat(": ", verdict(step)) : "");
}

std::string json_target_report(const LoadOptions& options, std::chrono::nanoseconds target_p99,
                               const TargetResult& result) {
  nlohmann::ordered_json object = {
      {"target_p99_us", microseconds(static_cast<std::uint64_t>(target_p99.count()))},
      {"held", result.rate_per_s.has_value()},
      {"rate_per_s", to_tenths(result.rate_per_s.value_or(0))},
      {"p99_us", microseconds(result.p99_ns)},
      {"missed_per_s", to_tenths(result.missed_per_s.value_or(0))},
      {"interrupted", result.interrupted},
      {"floor_per_s", to_tenths(result.floor_per_s)},
      {"clients_bound", result.clients_bound},
      {"ended_by_bound", result.ended_by_bound},
      {"clients", options.clients},
      {"duration_s", std::chrono::duration<double>(options.duration).count()},
      {"seed", options.seed},
      {"prefix", options.prefix},
  };
  object["steps"] = nlohmann::ordered_json::array();
  for (const TargetStep& step : result.steps) {
    object["steps"].push_back({{"rate_per_s", to_tenths(step.rate_per_s)},
                               {"done_per_s", to_tenths(step.done_per_s)},
                               {"p50_us", microseconds(step.p50_ns)},
                               {"p99_us", microseconds(step.p99_ns)},
                               {"missed_share", std::round(step.missed_share * 1e5) / 1e5},
                               {"held", step.held}});
  }
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string table_target_report(std::chrono::nanoseconds target_p99, const TargetResult& result) {
  const std::string target = format_duration(target_p99);
  Table table({{"rate per s", Align::kRight},
               {"done per s", Align::kRight},
               {"p50", Align::kRight},
               {"p99", Align::kRight},
               {"above " + target, Align::kRight},
               {"", Align::kLeft}});
  for (const TargetStep& step : result.steps) {
    table.add_row({rate_text(step), absl::StrFormat("%.0f", step.done_per_s), readable(step.p50_ns),
                   readable(step.p99_ns), share(step.missed_share), step.rate_per_s > 0 ? verdict(step) : ""});
  }
  std::string text = table.str() + answer_line(target, result);
  if (result.interrupted) text += "interrupted: the search was not at its end\n";
  if (result.ended_by_bound) text += "the search ended at its bound of measurements: they disagreed too often\n";
  if (result.rate_per_s && !result.missed_per_s && !result.interrupted) {
    text += "no higher rate was tried: the closed loop came to no more; --clients may be too few\n";
  } else if (result.clients_bound) {
    text += "above it every client was busy at times; more --clients may allow more\n";
  }
  return text;
}

}  // namespace ingot::load
