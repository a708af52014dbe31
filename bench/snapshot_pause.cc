// The time for which making a snapshot stops a replica's loop, and the time that the child then writes, by size of the
// state: with a fork, and written by the loop itself.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "core/check.h"
#include "replication/replica/applier.h"
#include "replication/replica/snapshots/writer.h"
#include "replication/requests/request.h"
#include "replication/store/codec.h"
#include "replication/store/kv_store.h"
#include "services/cli/cli.h"

namespace ingot {
namespace {

constexpr std::size_t kMib = 1024 * 1024;
constexpr int kMibMax = 65536;
constexpr std::size_t kValueBytes = 1024;
constexpr int kSamples = 5;

double ms_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
}

void grow(Applier& applier, const kv::KvStore& store, std::size_t bytes) {
  std::uint64_t n = applier.applied_commands();
  while (static_cast<std::size_t>(store.bytes()) < bytes) {
    kv::PutRequest put;
    put.key = "key-" + std::to_string(n);
    put.value = std::string(kValueBytes, 'v');
    const std::string payload = kv::encode(kv::Request(put));
    Request request;
    request.client = 1;
    request.sequence = n;
    request.acknowledged_below = n++;
    request.payload = payload;
    std::string batch;
    append_command(batch, request);
    applier.apply(applier.applied(), batch, [](const Applier::Applied&) {});
  }
}

struct Sample {
  double pause_ms;
  double whole_ms;
};

Sample measure(SnapshotWriter::How how, const Applier& applier) {
  SnapshotWriter writer(how);
  const auto begun = std::chrono::steady_clock::now();
  INGOT_CHECK(writer.start(applier).ok());
  auto outcome = writer.poll();
  for (; !outcome; outcome = writer.poll()) ::usleep(500);
  INGOT_CHECK(outcome->ok());
  return {static_cast<double>(writer.pause_ns()) / 1e6, ms_since(begun)};
}

void report(const char* how, std::size_t bytes, std::vector<Sample> samples) {
  const auto middle = [&](auto part) {
    std::sort(samples.begin(), samples.end(), [&](const Sample& a, const Sample& b) { return part(a) < part(b); });
    return samples[samples.size() / 2];
  };
  const double pause = middle([](const Sample& s) { return s.pause_ms; }).pause_ms;
  const double worst = samples.back().pause_ms;
  const double whole = middle([](const Sample& s) { return s.whole_ms; }).whole_ms;
  std::printf("%6zu MiB  %-6s  pause %9.3f ms (max %9.3f)  until published %9.1f ms\n", bytes / kMib, how, pause, worst,
              whole);
  std::fflush(stdout);
}

absl::Status run(const std::vector<std::size_t>& sizes_mib) {
  if (!std::is_sorted(sizes_mib.begin(), sizes_mib.end())) {
    return absl::InvalidArgumentError("the sizes must ascend: the state grows from each to the next");
  }
  kv::KvStore store;
  Applier applier(store);
  for (const std::size_t mib : sizes_mib) {
    grow(applier, store, mib * kMib);
    for (const auto how : {SnapshotWriter::How::kFork, SnapshotWriter::How::kInline}) {
      std::vector<Sample> samples;
      for (int i = 0; i < kSamples; ++i) samples.push_back(measure(how, applier));
      report(how == SnapshotWriter::How::kFork ? "fork" : "inline", mib * kMib, samples);
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  CLI::App app("How long making a snapshot stops a replica's loop, by size of the state.", "snapshot_pause");
  std::vector<std::size_t> sizes_mib{1, 16, 128, 1024};
  app.add_option("MIB", sizes_mib, "Sizes of the state, ascending; default: 1 16 128 1024")
      ->check(ingot::whole_number(1, ingot::kMibMax))
      ->type_name("");
  app.footer(
      "For each size two lines, the median of five snapshots: \"fork\", as replicas make them, where the loop stops\n"
      "for the fork alone, and \"inline\", where the loop writes the snapshot itself.\n"
      "Memory: twice the largest size, and more while a snapshot is made.\n"
      "Example: snapshot_pause 64 256");
  return ingot::run_cli(app, argc, argv, [&] { return ingot::run(sizes_mib); });
}
