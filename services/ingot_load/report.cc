#include "services/ingot_load/report.h"

#include <cstdio>
#include <string>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/enum_names.h"
#include "services/cli/table.h"
#include "services/ingot_load/quantities.h"

namespace ingot::load {
namespace {

using Align = Table::Align;

std::string code_name(std::size_t code) { return absl::StatusCodeToString(static_cast<absl::StatusCode>(code)); }

void add_row(Table& table, const std::string& title, const LatencyHistogram& latency, double elapsed_s) {
  const double rate = elapsed_s > 0 ? static_cast<double>(latency.count()) / elapsed_s : 0;
  table.add_row({title, absl::StrCat(latency.count()), absl::StrFormat("%.0f", rate),
                 readable(latency.quantile_ns(0.5)), readable(latency.quantile_ns(0.9)),
                 readable(latency.quantile_ns(0.99)), readable(latency.quantile_ns(0.999)),
                 readable(latency.max_ns())});
}

std::string errors_line(const LoadTotals& totals) {
  if (totals.failed + totals.unknown == 0) return "no errors";
  std::string line = absl::StrCat(totals.failed, " failed, ", totals.unknown, " of unknown outcome:");
  for (std::size_t code = 1; code < totals.by_code.size(); ++code) {
    if (totals.by_code[code] > 0) absl::StrAppend(&line, " ", code_name(code), " ", totals.by_code[code]);
  }
  return line;
}

std::string watches_line(int watchers, const WatchTotals& watches, double elapsed_s) {
  std::string line = absl::StrFormat("%d watches: %d events, %.0f/s", watchers, watches.events,
                                     elapsed_s > 0 ? static_cast<double>(watches.events) / elapsed_s : 0.0);
  if (watches.reopened > 0) absl::StrAppend(&line, "; streams were opened again ", watches.reopened, " times");
  return line + "\n";
}

std::string leases_line(int leases, const LeaseTotals& totals) {
  std::string line = absl::StrCat(leases, " leases: ", totals.kept.count(), " keep-alives, p50 ",
                                  readable(totals.kept.quantile_ns(0.5)), ", p99 ",
                                  readable(totals.kept.quantile_ns(0.99)));
  if (totals.reopened > 0) absl::StrAppend(&line, "; streams were opened again ", totals.reopened, " times");
  if (totals.ended > 0) absl::StrAppend(&line, "; ", totals.ended, " ended since no keep-alive came in time");
  return line + "\n";
}

std::string check_lines(const CheckReport& check) {
  if (check.wrote_nothing) return "check FAILED: no write was acknowledged, so there was nothing to check\n";
  std::string lines =
      check.held()
          ? absl::StrCat("check held: ", check.keys, " keys have their last acknowledged write or a newer one\n")
          : absl::StrCat("check FAILED: of ", check.keys, " keys ", check.lost, " lost an acknowledged write and ",
                         check.wrong, " are wrong otherwise; ", check.bad_reads, " reads were stale or corrupt; ",
                         check.bad_watches, " events were missing, doubled or out of order; ", check.early_leases,
                         " leases ended early\n");
  for (const std::string& example : check.examples) absl::StrAppend(&lines, "  ", example, "\n");
  return lines;
}

}  // namespace

void ProgressLine::show(const LoadProgress& progress) {
  const LatencyHistogram all = progress.totals.latency();
  const LatencyHistogram recent = all.since(last_);
  const double interval_s = progress.elapsed_s - last_s_;
  const std::string until = expected_s_ > 0 ? absl::StrFormat("/%.0f", expected_s_) : "";
  const std::string line = absl::StrFormat(
      "%5.1f%s s  %8.0f/s  p99 %9s  errors %d", progress.elapsed_s, until,
      interval_s > 0 ? static_cast<double>(recent.count()) / interval_s : 0.0, readable(recent.quantile_ns(0.99)),
      progress.totals.failed + progress.totals.unknown);
  std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", line.c_str());
  std::fflush(stderr);
  last_s_ = progress.elapsed_s;
  last_ = all;
}

void ProgressLine::end() {
  if (terminal_) std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
}

std::string json_report(const LoadOptions& options, const LoadResult& result,
                        const std::optional<CheckReport>& check) {
  const LoadTotals& totals = result.totals;
  const LatencyHistogram latency = totals.latency();
  nlohmann::ordered_json object = {
      {"operations", totals.operations()},
      {"acknowledged", totals.acknowledged},
      {"failed", totals.failed},
      {"unknown", totals.unknown},
      {"lost", check ? check->lost : 0},
      {"throughput_per_s", to_tenths(result.throughput_per_s())},
      {"gap_ms_max", to_tenths(result.gap_ms_max)},
      {"p50_us", microseconds(latency.quantile_ns(0.5))},
      {"p90_us", microseconds(latency.quantile_ns(0.9))},
      {"p99_us", microseconds(latency.quantile_ns(0.99))},
      {"p999_us", microseconds(latency.quantile_ns(0.999))},
      {"max_us", microseconds(latency.max_ns())},
      {"reads", totals.reads.count()},
      {"writes", totals.writes.count()},
      {"elapsed_s", result.elapsed_s},
      {"not_started", result.not_started},
      {"check", !check ? "off" : check->held() ? "held" : "failed"},
      {"wrong", check ? check->wrong : 0},
      {"stale_reads", totals.stale_reads},
      {"corrupt_reads", totals.corrupt_reads},
      {"seed", options.seed},
      {"prefix", options.prefix},
  };
  if (result.watches) {
    object["watches"] = {{"watchers", options.watchers}, {"events", result.watches->events},
                         {"wrong", result.watches->wrong}, {"behind", result.watches->behind},
                         {"reopened", result.watches->reopened}};
  }
  if (result.leases) {
    object["leases"] = {{"leases", options.leases}, {"keep_alives", result.leases->kept.count()},
                        {"p50_us", microseconds(result.leases->kept.quantile_ns(0.5))},
                        {"p99_us", microseconds(result.leases->kept.quantile_ns(0.99))},
                        {"ended", result.leases->ended}, {"ended_early", result.leases->ended_early},
                        {"reopened", result.leases->reopened}};
  }
  object["errors"] = nlohmann::ordered_json::object();
  for (std::size_t code = 1; code < totals.by_code.size(); ++code) {
    if (totals.by_code[code] > 0) object["errors"][code_name(code)] = totals.by_code[code];
  }
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string table_report(const LoadOptions& options, const LoadResult& result,
                         const std::optional<CheckReport>& check) {
  const LoadTotals& totals = result.totals;
  Table table({{"", Align::kLeft},
               {"done", Align::kRight},
               {"per s", Align::kRight},
               {"p50", Align::kRight},
               {"p90", Align::kRight},
               {"p99", Align::kRight},
               {"p99.9", Align::kRight},
               {"max", Align::kRight}});
  if (totals.writes.count() > 0) add_row(table, "writes", totals.writes, result.elapsed_s);
  if (totals.reads.count() > 0) {
    add_row(table, absl::StrCat("reads (", name_of(options.read_kind), ")"), totals.reads, result.elapsed_s);
  }
  add_row(table, "all", totals.latency(), result.elapsed_s);
  std::string text = table.str();
  absl::StrAppendFormat(&text, "%.1f s; %s; longest time without an acknowledged write %.1f ms\n", result.elapsed_s,
                        errors_line(totals), result.gap_ms_max);
  if (result.not_started > 0) {
    absl::StrAppendFormat(&text, "%d requests were due but not started: every client was busy\n", result.not_started);
  }
  if (result.watches) text += watches_line(options.watchers, *result.watches, result.elapsed_s);
  if (result.leases) text += leases_line(options.leases, *result.leases);
  if (check) text += check_lines(*check);
  return text;
}

}  // namespace ingot::load
