#include "services/ingot_load/final_check.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/etcd/rpc.pb.h"
#include "services/ingot_load/key_names.h"
#include "services/ingot_load/limits.h"
#include "services/ingot_load/methods.h"
#include "services/ingot_load/nothing_answers.h"
#include "services/rpc/client/blocking_channel.h"

namespace ingot::load {
namespace {

using etcdserverpb::RangeRequest;
using etcdserverpb::RangeResponse;
using Clock = std::chrono::steady_clock;

// Reads one page, with retries until `deadline`.
absl::StatusOr<RangeResponse> read_page(rpc::client::BlockingChannel& channel, const RangeRequest& request,
                                        Clock::time_point deadline, std::chrono::nanoseconds timeout) {
  while (true) {
    RangeResponse reply;
    const grpc::Status status = channel.call(kRangePath, request, reply, {.timeout = timeout});
    if (status.ok()) return reply;
    if (Clock::now() >= deadline) {
      return absl::UnavailableError(absl::StrCat("the keys could not be read back, so nothing is known of them: ",
                                                 status.error_message()));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kLoadRetryPauseMs));
  }
}

void verify(std::uint32_t key, const LoadOptions& options, const WriteLedger& ledger,
           const std::optional<Observed>& observed, CheckReport& report) {
  const std::string name = key_name(options.prefix, key);
  if (observed || ledger.floor(key) > 0) ++report.keys;
  const Verdict verdict = ledger.verify(key, name, observed);
  if (verdict == Verdict::kHeld) return;
  ++(verdict == Verdict::kLost ? report.lost : report.wrong);
  if (report.examples.size() == CheckReport::kExamplesMax) return;
  report.examples.push_back(absl::StrCat("key ", name, " ", describe(verdict), " (acknowledged at revision ",
                                         ledger.floor(key), ", found ",
                                         observed ? absl::StrCat("at ", observed->mod_revision) : "nothing", ")"));
}

}  // namespace

absl::StatusOr<CheckReport> check_store(const LoadOptions& options, const LoadTotals& totals,
                                        const WriteLedger& ledger, std::chrono::nanoseconds patience) {
  const auto target = rpc::client::resolve_target(options.endpoint);
  if (!target.ok()) return target.status();
  rpc::client::BlockingChannel channel(*target, {.answer_bytes_max = kLoadAnswerBytesMax});
  if (!channel.connect(patience)) return nothing_answers(options.endpoint, patience);
  const auto deadline = Clock::now() + patience;

  CheckReport report;
  report.wrote_nothing = ledger.acknowledged_count() == 0;
  report.bad_reads = totals.stale_reads + totals.corrupt_reads;
  std::uint32_t next = 0;  // keys below it are checked
  RangeRequest request;
  request.set_key(key_name(options.prefix, 0));
  request.set_range_end(options.prefix + ":");  // ':' follows '9'
  request.set_limit(std::clamp(kLoadCheckPageBytes / std::max(options.value_bytes, 1), 1, kLoadCheckPageKeys));
  for (bool more = true; more;) {
    const auto page = read_page(channel, request, deadline, options.timeout);
    if (!page.ok()) return page.status();
    for (const auto& kv : page->kvs()) {
      const std::optional<std::uint32_t> key = key_index(options.prefix, kv.key());
      // A run with more keys may have used the same prefix.
      if (!key || *key < next || *key >= ledger.key_count()) continue;
      while (next < *key) verify(next++, options, ledger, std::nullopt, report);
      verify(next++, options, ledger, Observed{kv.mod_revision(), kv.value()}, report);
    }
    more = page->more() && page->kvs_size() > 0;
    if (more) request.set_key(page->kvs(page->kvs_size() - 1).key() + '\0');
  }
  while (next < ledger.key_count()) verify(next++, options, ledger, std::nullopt, report);
  return report;
}

}  // namespace ingot::load
