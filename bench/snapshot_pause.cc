// The time for which making a snapshot stops a replica's loop, and the time that the child then writes, by size of the
// state: with a fork, and written by the loop itself.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/check.h"
#include "replication/replica/applier.h"
#include "replication/replica/snapshots/writer.h"
#include "replication/requests/request.h"
#include "replication/store/codec.h"
#include "replication/store/kv_store.h"

namespace ingot {
namespace {

constexpr std::size_t kMib = 1024 * 1024;
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

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  using namespace ingot;
  std::vector<std::size_t> sizes{1, 16, 128, 1024};
  if (argc > 1) sizes.clear();
  for (int i = 1; i < argc; ++i) {
    const long mib = std::atol(argv[i]);
    if (mib < 1 || mib > 65536) {
      std::fprintf(stderr, "snapshot_pause: sizes are numbers of MiB from 1 to 65536, ascending, not '%s'\n", argv[i]);
      return 2;
    }
    sizes.push_back(static_cast<std::size_t>(mib));
  }
  kv::KvStore store;
  Applier applier(store);
  for (const std::size_t mib : sizes) {
    grow(applier, store, mib * kMib);
    for (const auto how : {SnapshotWriter::How::kFork, SnapshotWriter::How::kInline}) {
      std::vector<Sample> samples;
      for (int i = 0; i < kSamples; ++i) samples.push_back(measure(how, applier));
      report(how == SnapshotWriter::How::kFork ? "fork" : "inline", mib * kMib, samples);
    }
  }
  return 0;
}
