// Faults that generations have had, each named after what went wrong.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "replication/view/generation/reader.h"
#include "replication/view/generation/writer.h"
#include "tests/replication/view/generation/view_world.h"

namespace ingot::test {
namespace {

std::unique_ptr<GenerationWriter> writer_of(const GuardedMemory& memory) {
  auto created = GenerationWriter::create(memory.bytes(), {.seed = 11});
  REQUIRE(created.ok());
  return *std::move(created);
}

absl::Status put(GenerationWriter& writer, const std::string& key, const std::string& value, ViewRevision revision) {
  return writer.apply({.key = key, .value = value, .revision = revision, .created = revision, .version = 1});
}

std::string numbered(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(8 - digits.size(), '0') + digits;
}

// 16384 keys fill 4096 buckets; the next key wants 512 KiB for twice as many, which what is retired leaves no room for.
TEST_CASE("fault: a hash index that could not grow made the writer refuse for good, and was not nearly full before") {
  const GuardedMemory memory(kGenerationBytesMin);
  const auto writer = writer_of(memory);
  const std::string value(60, 'v');
  std::uint64_t keys = 0;
  for (; keys < 4096 * kBucketLoadMax; ++keys) REQUIRE(put(*writer, numbered(keys), value, 1).ok());
  REQUIRE(writer->publish(1, 0).ok());
  ViewRevision revision = 1;
  for (std::uint64_t i = 0; writer->free_bytes() > 300 * 1024; i = (i + 61) % keys) {
    ++revision;
    REQUIRE(put(*writer, numbered(i), value, revision).ok());
    REQUIRE(writer->publish(revision, 0).ok());
  }
  REQUIRE(!writer->nearly_full());
  for (std::uint64_t i = 0; i < 100; ++i) REQUIRE(put(*writer, numbered(keys++), value, revision + 1).ok());
  CHECK(writer->nearly_full());  // that is when the next one is begun
  REQUIRE(writer->publish(revision + 1, 0).ok());
  CHECK(writer->keys() == keys);
  auto reader = ViewReader::open(memory.bytes());
  REQUIRE(reader.ok());
  REQUIRE(reader->begin() == ReadOutcome::kOk);
  ViewAnswer answer;
  for (std::uint64_t i = 0; i < keys; ++i) {
    answer.clear();
    REQUIRE(reader->get(numbered(i), answer) == ReadOutcome::kOk);
    REQUIRE(answer.size() == 1);
  }
}

TEST_CASE("fault: a tombstone that a put had superseded counted as retired twice") {
  const GuardedMemory memory(kGenerationBytesMin);
  const auto writer = writer_of(memory);
  constexpr std::uint64_t kKeys = 200;
  const std::string long_part(1000, 'k');
  const auto key = [&](std::uint64_t i) { return numbered(i) + long_part; };
  ViewRevision revision = 0;
  std::uint64_t now_ms = 0;
  for (int turn = 0; turn < 12; ++turn) {
    for (const bool erased : {false, true, false}) {
      ++revision;
      for (std::uint64_t i = 0; i < kKeys; ++i) {
        const auto status = erased ? writer->apply({.key = key(i), .deleted = true, .revision = revision})
                                   : put(*writer, key(i), "v", revision);
        REQUIRE(status.ok());
      }
      now_ms += 2 * kGraceMs;
      REQUIRE(writer->publish(revision, now_ms).ok());
    }
    CHECK(writer->live_bytes() > kKeys * long_part.size());
  }
}

std::string value_at(ViewRevision revision) { return std::to_string(revision) + std::string(1000, 'v'); }

TEST_CASE("fault: a publisher that reclaimed took the supervisor's mark of a generation that is gone away") {
  const GuardedMemory memory(kGenerationBytesMin);
  const auto writer = writer_of(memory);
  REQUIRE(put(*writer, "a", value_at(1), 1).ok());
  REQUIRE(writer->publish(1, 0).ok());
  auto reader = ViewReader::open(memory.bytes());
  REQUIRE(reader.ok());
  GenerationWriter::mark_gone(memory.bytes());
  for (ViewRevision revision = 2; revision < 2000; ++revision) {
    REQUIRE(put(*writer, "a", value_at(revision), revision).ok());
    REQUIRE(writer->publish(revision, static_cast<std::uint64_t>(revision) * kGraceMs).ok());
  }
  const auto* const words = reinterpret_cast<const std::uint64_t*>(memory.bytes().data());
  REQUIRE(words[kMarkWord] > 0);  // it has reclaimed
  CHECK(reader->begin() == ReadOutcome::kGone);
}

class TreeNodes {
 public:
  TreeNodes() : memory_(kGenerationBytesMin), nodes_(memory_.bytes(), kHeaderWords), tree_(nodes_) {}

  void put(const std::string& key) {
    std::vector<std::uint64_t> words(version_words(key.size(), 0));
    words[0] = kind_bits(NodeKind::kVersion);
    words[1] = two_halves(static_cast<std::uint32_t>(key.size()), 0);
    std::memcpy(words.data() + kVersionHeadWords, key.data(), key.size());
    const NodeRef ref = nodes_.add(words);
    REQUIRE(ref != 0);
    tree_.put(ref);
  }

  // Of all nodes but the last of each level.
  std::size_t fewest() const { return fewest_below(tree_.root(), true); }

 private:
  std::size_t fewest_below(NodeRef ref, bool last) const {
    const TreeNode node = TreeNode::read(nodes_, ref);
    std::size_t fewest = last ? kTreeEntriesMax : node.count();
    for (std::size_t i = 0; node.level() > 0 && i < node.count(); ++i) {
      fewest = std::min(fewest, fewest_below(node.link(i), last && i + 1 == node.count()));
    }
    return fewest;
  }

  const GuardedMemory memory_;
  Nodes nodes_;
  OrderedIndex tree_;
};

// Each new key is the last of its node in the middle of the tree, and the next one lies before it.
TEST_CASE("fault: a node in the middle of the ordered index split off an entry alone") {
  TreeNodes nodes;
  for (std::uint64_t i = 0; i < 2000; ++i) nodes.put("b" + numbered(10 * i));
  CHECK(nodes.fewest() >= kTreeEntriesMax / 2);
  for (std::uint64_t i = 0; i < 2000; ++i) nodes.put("b" + numbered(10 * i) + "x");
  for (std::uint64_t i = 0; i < 2000; ++i) nodes.put("a" + numbered(i));
  CHECK(nodes.fewest() >= kTreeEntriesMax / 2);
}

}  // namespace
}  // namespace ingot::test
