// Readers in threads and in other processes while the writer goes on as fast as it can.
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/check.h"
#include "core/prng.h"
#include "core/shared_cell.h"
#include "replication/view/generation/reader.h"
#include "replication/view/generation/writer.h"
#include "tests/replication/view/generation/churn_truth.h"
#include "tests/seeds.h"
#include "tests/transport/host/child.h"

namespace ingot::test {
namespace {

constexpr std::size_t kBytes = std::size_t{8} << 20;
constexpr std::uint64_t kMarkEnough = 4'000;  // so many roots: memory was used again many times

void write_until(std::span<std::byte> memory, const std::function<bool(std::uint64_t roots)>& end) {
  auto created = GenerationWriter::create(memory, {.seed = testing::drawn_seed()});
  INGOT_CHECK(created.ok());
  GenerationWriter& writer = **created;
  const auto now_ms = [] {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
  };
  Prng prng(testing::drawn_seed());
  ViewRevision revision = 0;
  for (std::uint64_t roots = 0; !end(roots); ++roots) {
    for (std::uint64_t changes = 1 + prng.below(6); changes > 0; --changes) {
      ++revision;
      const std::string key = churned_key(churned_by(revision));
      const std::string value = churn_deletes(revision) ? "" : churned_value(revision);
      INGOT_CHECK(writer.apply({.key = key,
                                .value = value,
                                .deleted = churn_deletes(revision),
                                .revision = revision,
                                .created = revision,
                                .version = 1}).ok());
    }
    INGOT_CHECK(writer.publish(revision, now_ms()).ok());
    while (writer.free_bytes() < kBytes / 4) {  // until the grace of what is retired has passed
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      INGOT_CHECK(writer.publish(revision, now_ms()).ok());
    }
  }
}

// What a reader sees wrong until `end`; empty: nothing.
class Judge {
 public:
  Judge(std::span<const std::byte> memory, std::uint64_t seed) : reader_(*ViewReader::open(memory)), prng_(seed) {}

  std::string read_until(const std::function<bool()>& end) {
    std::string wrong;
    while (wrong.empty() && !end()) wrong = read();
    return wrong;
  }

 private:
  std::string read() {
    const ReadOutcome outcome = reader_.begin();
    if (outcome == ReadOutcome::kOvertaken) return "";
    if (outcome != ReadOutcome::kOk) return "outcome " + std::to_string(static_cast<int>(outcome));
    if (reader_.revision() < revision_) return "back in time";
    revision_ = reader_.revision();
    if (prng_.chance(0.1)) return read_all();
    if (prng_.chance(0.1)) return read_changes();
    for (int i = 0; i < 4; ++i) {  // at one root
      const auto key = static_cast<ViewRevision>(prng_.below(kChurnedKeys));
      answer_.clear();
      if (!counts(reader_.get(churned_key(key), answer_))) return wrong_;
      const ViewRevision changed = last_(key, revision_);
      const bool exists = changed >= 1 && !churn_deletes(changed);
      if (exists != !answer_.empty()) return "key " + churned_key(key) + " at " + std::to_string(revision_);
      if (exists && !is(answer_[0], key, changed)) return wrong_;
    }
    return "";
  }

  std::string read_all() {
    answer_.clear();
    if (!counts(reader_.range({}, answer_))) return wrong_;
    std::size_t found = 0;
    for (ViewRevision key = 0; key < kChurnedKeys; ++key) {
      const ViewRevision changed = last_(key, revision_);
      if (changed < 1 || churn_deletes(changed)) continue;
      if (found == answer_.size() || !is(answer_[found++], key, changed)) return "a range at " + wrong_;
    }
    std::uint64_t count = 0;
    if (found != answer_.size()) return "a range has too many";
    if (!counts(reader_.count("", "", count))) return wrong_;
    return count == found ? "" : "a count of " + std::to_string(count);
  }

  std::string read_changes() {
    const ViewRevision since = std::max<ViewRevision>(0, revision_ - static_cast<ViewRevision>(prng_.below(50)));
    answer_.clear();
    const ReadOutcome outcome = reader_.changes({.since = since}, answer_);
    if (outcome == ReadOutcome::kTooOld || !counts(outcome)) return wrong_;
    std::size_t found = 0;  // fewer revisions than keys: each has changed one
    for (ViewRevision revision = since + 1; revision <= revision_; ++revision) {
      if (found == answer_.size() || !is(answer_[found++], churned_by(revision), revision)) {
        return "changes since " + std::to_string(since) + " at " + std::to_string(revision_);
      }
    }
    return found == answer_.size() ? "" : "too many changes";
  }

  bool counts(ReadOutcome outcome) {
    if (outcome != ReadOutcome::kOk && outcome != ReadOutcome::kOvertaken) {
      wrong_ = "outcome " + std::to_string(static_cast<int>(outcome));
    }
    return outcome == ReadOutcome::kOk;
  }
  bool is(const ViewEntry& entry, ViewRevision key, ViewRevision changed) {
    const bool same = entry.key == churned_key(key) && entry.revision == changed &&
                      entry.deleted == churn_deletes(changed) &&
                      entry.value == (churn_deletes(changed) ? "" : churned_value(changed));
    if (!same) wrong_ = std::string(entry.key) + " of " + std::to_string(entry.revision);
    return same;
  }

  const LastChurn last_;
  ViewReader reader_;
  Prng prng_;
  ViewAnswer answer_;
  ViewRevision revision_ = 0;
  std::string wrong_;
};

std::span<std::byte> shared_memory() {
  void* const mapped = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  INGOT_CHECK(mapped != MAP_FAILED);
  return {static_cast<std::byte*>(mapped), kBytes};
}
std::uint64_t word(std::span<const std::byte> memory, std::uint64_t at) {
  return reinterpret_cast<const SharedCell<std::uint64_t>*>(memory.data())[at].load(std::memory_order_acquire);
}

TEST_CASE("readers in threads see each key as it was at their root") {
  const auto memory = shared_memory();
  std::atomic<bool> stop{false};
  std::thread writer([&] { write_until(memory, [&](std::uint64_t) { return word(memory, kMarkWord) >= kMarkEnough; });
                           stop = true; });
  while (word(memory, kNumberWord) == 0) std::this_thread::yield();
  std::vector<std::string> wrong(2);
  std::vector<std::thread> readers;
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    readers.emplace_back([&, i] { wrong[i] = Judge(memory, i).read_until([&] { return stop.load(); }); });
  }
  for (std::thread& reader : readers) reader.join();
  writer.join();
  for (const std::string& each : wrong) CHECK(each == "");
  ::munmap(memory.data(), memory.size());
}

// A forked reader keeps the mappings and needs nothing else. Some are killed at once.
TEST_CASE("readers in forked processes see each key as it was at their root, whoever is killed") {
  const auto memory = shared_memory();
  Child writer([&] {
    write_until(memory, [&](std::uint64_t) { return word(memory, kMarkWord) >= kMarkEnough; });
    return EXIT_SUCCESS;
  });
  while (word(memory, kNumberWord) == 0) std::this_thread::yield();
  std::vector<std::unique_ptr<Child>> readers;
  for (std::uint64_t i = 0; i < 3; ++i) {
    readers.push_back(std::make_unique<Child>([&, i] {
      const std::string wrong = Judge(memory, i).read_until([&] { return word(memory, kMarkWord) >= kMarkEnough; });
      if (!wrong.empty()) std::fprintf(stderr, "reader %d: %s\n", static_cast<int>(i), wrong.c_str());
      return wrong.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
    }));
  }
  for (int i = 0; i < 20; ++i) {
    Child killed([&] {
      Judge(memory, 9).read_until([] { return false; });
      return EXIT_FAILURE;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    killed.kill();
    CHECK(killed.wait() == -SIGKILL);
  }
  CHECK(writer.wait() == EXIT_SUCCESS);
  for (const auto& reader : readers) CHECK(reader->wait() == EXIT_SUCCESS);
  ::munmap(memory.data(), memory.size());
}

// The writer is killed in the middle of anything: its last root stays readable, as it was.
TEST_CASE("the last root of a killed writer is whole") {
  for (const std::uint64_t seed : testing::seeds(20)) {
    INFO("seed " << seed);
    const auto memory = shared_memory();
    Child writer([&] {
      write_until(memory, [](std::uint64_t) { return false; });
      return EXIT_SUCCESS;
    });
    const std::uint64_t roots = 1 + Prng(seed).below(3000);
    while (word(memory, kNumberWord) < roots) std::this_thread::yield();
    writer.kill();
    writer.wait();
    const std::uint64_t number = word(memory, kNumberWord);
    int reads = 0;
    CHECK(Judge(memory, seed).read_until([&] { return ++reads > 200; }) == "");
    CHECK(word(memory, kNumberWord) == number);
    ::munmap(memory.data(), memory.size());
  }
}

}  // namespace
}  // namespace ingot::test
