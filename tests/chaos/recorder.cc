#include "tests/chaos/recorder.h"

#include <algorithm>
#include <deque>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/prng.h"
#include "tests/chaos/store_client.h"

namespace ingot::chaos {
namespace {

using std::chrono::milliseconds;

// State that all clients of a run share.
struct Run {
  const RecorderOptions& options;
  const std::atomic<bool>& stop;
  const std::uint64_t start_ns = now_ns();
  std::atomic<std::uint32_t> next_number{1};

  std::string key(std::uint64_t era, std::uint64_t index) const { return absl::StrCat("chaos/", era, "/", index); }
  std::uint64_t era() const { return (now_ns() - start_ns) / static_cast<std::uint64_t>(options.era.count()); }
};

class Client {
 public:
  Client(Run& run, int index)
      : run_(run), index_(index), prng_(run.options.seed * 1000 + static_cast<std::uint64_t>(index)),
        store_(run.options.endpoint) {}

  void run() {
    while (!run_.stop.load(std::memory_order_relaxed)) {
      if (!store_.connected(milliseconds(50))) continue;
      Recorded operation = choose();
      note(std::move(operation));
      const auto pause_ns = static_cast<std::uint64_t>(run_.options.pause.count());
      std::this_thread::sleep_for(std::chrono::nanoseconds(prng_.below(2 * pause_ns + 1)));
    }
  }

  Records records;
  std::uint64_t failed = 0;
  std::uint64_t open_reads = 0;

 private:
  Recorded choose() {
    Recorded operation;
    operation.client = index_;
    operation.key = run_.key(run_.era(), prng_.below(static_cast<std::uint64_t>(run_.options.keys)));
    const std::uint64_t dice = prng_.below(3);
    operation.kind = static_cast<Recorded::Kind>(dice);
    if (operation.key != seen_key_) seen_value_ = 0;
    if (operation.kind != Recorded::Kind::kGet) operation.written = run_.next_number.fetch_add(1);
    if (operation.kind == Recorded::Kind::kCas) operation.expected = seen_value_;
    return operation;
  }

  void note(Recorded operation) {
    const load::Outcome outcome = store_.carry_out(operation);
    if (outcome == load::Outcome::kFailed) {
      ++failed;
    } else if (outcome == load::Outcome::kUnknown && operation.kind == Recorded::Kind::kGet) {
      ++open_reads;
    } else {
      seen_key_ = operation.key;
      seen_value_ = operation.wrote() ? operation.written : operation.found;
      records.push_back(std::move(operation));
    }
  }

  Run& run_;
  const int index_;
  Prng prng_;
  StoreClient store_;
  std::string seen_key_;
  std::uint32_t seen_value_ = 0;  // of seen_key_
};

// Tries until it succeeds or the time limit is over.
template <typename Try>
bool patiently(std::uint64_t deadline_ns, Try attempt) {
  while (!attempt()) {
    if (now_ns() > deadline_ns) return false;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return true;
}

absl::Status read_all_keys(const RecorderOptions& options, Recording& recording) {
  std::set<std::string> keys;
  for (const Recorded& each : recording.records) keys.insert(each.key);
  StoreClient store(options.endpoint);
  const std::uint64_t deadline_ns = now_ns() + static_cast<std::uint64_t>(options.patience.count());
  for (const std::string& key : keys) {
    Recorded read;
    read.client = options.clients;
    read.key = key;
    const bool done = patiently(deadline_ns, [&] {
      return store.connected(milliseconds(100)) && store.carry_out(read) == load::Outcome::kAcknowledged;
    });
    if (!done) return absl::UnavailableError(absl::StrCat("the keys could not be read back: ", store.last_error()));
    recording.records.push_back(std::move(read));
  }
  return absl::OkStatus();
}

// Looks up every `stride`-th acknowledged write, beginning with `first`.
absl::Status look_up_some(const RecorderOptions& options, const Records& records, std::size_t first,
                          std::size_t stride, Recording& found) {
  StoreClient store(options.endpoint);
  const std::uint64_t deadline_ns = now_ns() + static_cast<std::uint64_t>(options.patience.count());
  for (std::size_t i = first; i < records.size(); i += stride) {
    const Recorded& write = records[i];
    if (!write.wrote()) continue;
    std::optional<StoreClient::Version> version;
    const bool done = patiently(deadline_ns, [&] {
      if (store.connected(milliseconds(100))) version = store.look_up(write.key, write.revision);
      return version.has_value();
    });
    if (!done)
      return absl::UnavailableError(absl::StrCat("what was written could not be looked up: ", store.last_error()));
    ++found.looked_up;
    if (version->value == write.written && version->revision == write.revision) continue;
    found.lost.push_back(absl::StrCat("write ", write.written, " of ", write.key, ", acknowledged at revision ",
                                      write.revision, ": found ", version->value, " of revision ", version->revision));
  }
  return absl::OkStatus();
}

absl::Status look_up_all(const RecorderOptions& options, Recording& recording) {
  const auto threads = static_cast<std::size_t>(options.clients);
  std::vector<Recording> parts(threads);
  std::vector<absl::Status> outcomes(threads);
  std::vector<std::thread> crew;
  for (std::size_t i = 0; i < threads; ++i) {
    crew.emplace_back([&, i] { outcomes[i] = look_up_some(options, recording.records, i, threads, parts[i]); });
  }
  for (std::thread& thread : crew) thread.join();
  absl::Status outcome;
  for (std::size_t i = 0; i < threads; ++i) {
    recording.looked_up += parts[i].looked_up;
    recording.lost.insert(recording.lost.end(), parts[i].lost.begin(), parts[i].lost.end());
    outcome.Update(outcomes[i]);
  }
  return outcome;
}

}  // namespace

Recording record(const RecorderOptions& options, const std::atomic<bool>& stop) {
  Run run{options, stop};
  std::deque<Client> clients;
  std::vector<std::thread> threads;
  for (int i = 0; i < options.clients; ++i) clients.emplace_back(run, i);
  for (Client& client : clients) threads.emplace_back([&client] { client.run(); });
  for (std::thread& thread : threads) thread.join();

  Recording recording;
  recording.elapsed_s = static_cast<double>(now_ns() - run.start_ns) * 1e-9;
  for (Client& client : clients) {
    recording.failed += client.failed;
    recording.open_reads += client.open_reads;
    recording.records.insert(recording.records.end(), client.records.begin(), client.records.end());
  }
  return recording;
}

absl::Status look_up(const RecorderOptions& options, Recording& recording) {
  if (auto status = read_all_keys(options, recording); !status.ok()) return status;
  return look_up_all(options, recording);
}

}  // namespace ingot::chaos
