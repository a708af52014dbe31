#include "tests/replication/view/generation/patches.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "core/check.h"
#include "tests/replication/view/generation/view_world.h"

namespace ingot::test {
namespace {

constexpr std::size_t kCommandBytes = 10;

// A generation with some levels, some roots and some deletions, the same each time.
struct Target {
  Target() : memory(kGenerationBytesMin), world(3, memory.bytes(), 400, 60) {
    INGOT_CHECK(world.load());
    for (int i = 0; i < 100; ++i) INGOT_CHECK(world.batch());
    nodes_end = word(kHighWaterWord) * kUnitWords;
  }

  std::uint64_t& word(std::uint64_t at) const {
    return reinterpret_cast<std::uint64_t*>(memory.bytes().data())[at];
  }
  // Half of the places are in the header, the first changes of the log, or the first nodes.
  std::uint64_t place(std::uint64_t drawn) const {
    const std::uint64_t first_node = first_node_word(log_entries_in(memory.bytes().size()));
    if (drawn % 8 == 0) return drawn / 8 % kHeaderWords;
    if (drawn % 8 == 1) return kHeaderWords + drawn / 8 % 512;
    return first_node + drawn / 8 % (nodes_end - first_node);
  }

  GuardedMemory memory;
  ViewWorld world;
  std::uint64_t nodes_end = 0;
};

void read(ViewReader& reader, const Target& target, std::uint64_t kind, std::uint64_t drawn) {
  const std::vector<std::string>& keys = target.world.keys();
  const std::string& key = keys[drawn % keys.size()];
  const std::size_t bytes_max = drawn / 1000 % 5000;
  ViewAnswer answer;
  std::uint64_t count = 0;
  switch (kind) {
    case 0:
    case 1: (void)reader.begin(); break;
    case 2:
    case 3:
    case 4: (void)reader.get(key, answer); break;
    case 5: (void)reader.range({.begin = key, .bytes_max = bytes_max}, answer); break;
    case 6: (void)reader.count(key, keys[drawn / 1000 % keys.size()], count); break;
    default:
      (void)reader.changes({.since = reader.revision() - static_cast<ViewRevision>(drawn / 1000 % 50),
                            .bytes_max = bytes_max}, answer);
  }
  // The last version may have all of the memory's words.
  INGOT_CHECK(answer.bytes() <= bytes_max + 2 * kViewBytesMax + 4096, "an answer has its bounds");
  std::size_t seen = 0;
  for (std::size_t i = 0; i < answer.size(); ++i) seen += answer[i].key.size() + answer[i].value.size();
  INGOT_CHECK(seen <= answer.bytes());
}

}  // namespace

std::optional<PatchCommand> take_patch(std::string_view& bytes) {
  if (bytes.size() < kCommandBytes) return std::nullopt;
  PatchCommand next;
  std::memcpy(&next.command, bytes.data(), 2);
  std::memcpy(&next.value, bytes.data() + 2, 8);
  bytes.remove_prefix(kCommandBytes);
  return next;
}

void run_generation_patches(std::string_view bytes) {
  static Target target;
  auto reader = ViewReader::open(target.memory.bytes());
  INGOT_CHECK(reader.ok() && reader->begin() == ReadOutcome::kOk);
  bool begun = true;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> before;  // words that were changed
  while (const auto next = take_patch(bytes)) {
    const std::uint64_t kind = next->kind();
    if (kind < kPatchReads) {
      if (kind < 2) begun = reader->begin() == ReadOutcome::kOk;
      if (begun) read(*reader, target, kind, next->value ^ next->command);
      continue;
    }
    const std::uint64_t at = target.place((next->command / 16) | (kind % 2 == 1 ? next->value >> 40 << 12 : 0));
    before.emplace_back(at, target.word(at));
    target.word(at) = next->changed(target.word(at));
  }
  std::reverse(before.begin(), before.end());
  for (const auto& [at, word] : before) target.word(at) = word;
}

std::string sample_patches(Prng& prng) {
  std::string bytes(kCommandBytes * (1 + prng.below(40)), '\0');
  for (char& byte : bytes) byte = static_cast<char>(prng());
  for (std::size_t at = 0; at < bytes.size(); at += kCommandBytes) {
    const std::uint64_t value = prng() >> prng.below(64);
    if (prng.chance(0.7)) std::memcpy(bytes.data() + at + 2, &value, sizeof value);
  }
  return bytes;
}

}  // namespace ingot::test
