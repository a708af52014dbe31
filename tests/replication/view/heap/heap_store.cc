#include "tests/replication/view/heap/heap_store.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/rule.h"
#include "tests/replication/view/heap/books.h"

namespace ingot::test {
namespace {

constexpr std::string_view kReclaimsAlone = "reclaims-alone";

HeapRef ref_of(std::uint64_t content) { return HeapRef(static_cast<std::uint32_t>(content)); }

std::uint64_t table_word_of(std::size_t key) {
  return table_word(key % 2 * 256 + key / 2);  // keys 2i and 2i + 1 push each other out of what Words remembers
}

std::size_t value_words(std::size_t key, std::uint64_t revision) {
  Prng prng(revision * 1000 + key);
  return prng.chance(0.97) ? prng.below(12) : prng.below(kValueWordsMax + 1);
}

std::uint64_t value_word(std::size_t key, std::uint64_t revision, std::size_t i) {
  return mix(revision * 1000 + key, i);
}

std::uint64_t word_at(const Scalars& scalars, std::size_t key) {
  if (key < kMovingKeys) return table_word_of(key) + (scalars.moved >> key & 1) * 4096;
  if (key < kTableKeys) return table_word_of(key);
  return content_offset(ref_of(scalars.directory), 1 + key - kTableKeys);
}

// The version of a key at a revision: its own revision, 0 for none; nothing: garbage. `counts` becomes false if the
// key's word may have moved.
std::optional<std::uint64_t> find(const HeapReader& reader, const Scalars& scalars, std::size_t key, bool& counts) {
  const std::uint64_t revision = scalars.revision;
  auto at = reader.content(word_at(scalars, key));
  if (key < kMovingKeys && at == 0 && reader.content(kSplitsBegunOffset) != scalars.splits) counts = false;
  std::array<std::uint64_t, kHeapNodeBytesMax / kWordBytes> image;
  for (int steps = 0; at && steps < 10'000; ++steps) {
    if (*at == 0) return 0;
    const HeapRef ref = ref_of(*at);
    const auto head = std::span(image).first(kNodeHeaderWords + kVersionWords);
    if (!reader.copy(ref, head)) return std::nullopt;
    const std::uint64_t words = image[kNodeHeaderWords + 3];
    if (words > kValueWordsMax) return std::nullopt;
    const auto node = std::span(image).first(head.size() + words);
    if (!reader.copy(ref, node) || node[kNodeHeaderWords + 3] != words || !node_fits(ref, node)) return std::nullopt;
    const auto content = node.subspan(kNodeHeaderWords);
    const NodeKind kind = kind_of(node[0]);
    if (kind.kind != kVersionKind || content[1] != key) return std::nullopt;
    if (content[0] > revision) {
      at = content[2];
      continue;
    }
    if (kind.flags == kTombstoneFlag) return 0;
    for (std::size_t i = 0; i < words; ++i) {
      if (content[kVersionWords + i] != value_word(key, content[0], i)) return std::nullopt;
    }
    return content[0];
  }
  return std::nullopt;
}

}  // namespace

std::string to_text(const Revisions& revisions) {
  std::string text = "store";
  for (const auto& [key, revision] : revisions) text += " " + std::to_string(key) + ":" + std::to_string(revision);
  return text;
}

std::string read_pinned(HeapReader& reader, const HeapRoot& root) {
  Revisions found;
  bool counts = true;
  for (std::size_t key = 0; key < kKeys; ++key) {
    const auto revision = find(reader, root.user_as<Scalars>(), key, counts);
    if (!counts) return "";
    if (!revision) return "garbage at key " + std::to_string(key);
    if (*revision != 0) found[key] = *revision;
  }
  return to_text(found);
}

std::string read_store(std::span<const std::byte> memory, std::optional<std::uint64_t>& number) {
  auto reader = HeapReader::open(memory, kIdentity);
  if (!reader.ok()) return "";
  const auto root = reader->begin();
  if (!root || root->heap.user_words == 0) return "";
  number = root->heap.number;
  const std::string text = read_pinned(*reader, *root);
  return reader->counts() ? text : "";
}

// ---- The writer ----------------------------------------------------------------------------------------------------

bool StoreWriter::begin(std::uint64_t now_ms) {
  const std::array<std::uint64_t, 1 + kDirectoryKeys> content{};
  const auto directory = heap_.add({.kind = kDirectoryKind}, content, kDirectoryWords);
  if (!directory) return false;
  heap_.set_user(Scalars{.revision = 1, .directory = directory->value()});
  return heap_.publish(now_ms);
}

std::uint64_t StoreWriter::word_of(std::size_t key) {
  return word_at(heap_.user<Scalars>(), key);
}

// First the number of moves, then the copy, then the old word: a reader that misses the key sees the number.
void StoreWriter::move(std::size_t key) {
  Scalars scalars = heap_.user<Scalars>();
  const std::uint64_t from = word_at(scalars, key);
  scalars.moved ^= std::uint64_t{1} << key;
  heap_.set(kSplitsBegunOffset, ++scalars.splits);
  heap_.set(word_at(scalars, key), heap_.content(from));
  heap_.set(from, 0);
  heap_.set_user(scalars);
}

// Reads a version, whose check the heap looks at.
NodeKind StoreWriter::version(HeapRef ref, std::size_t& key) {
  std::array<std::uint64_t, kHeapNodeBytesMax / kWordBytes> image;
  const std::uint64_t words = std::min(heap_.raw(content_offset(ref, 3)), kValueWordsMax);
  if (!heap_.read(ref, std::span(image).first(kNodeHeaderWords + kVersionWords + words))) return {};
  key = image[kNodeHeaderWords + 1];
  return kind_of(image[0]);
}

void StoreWriter::put(std::size_t key, bool deletes) {
  Scalars scalars = heap_.user<Scalars>();
  const std::uint64_t before = heap_.content(word_of(key));
  std::size_t known_key = key;
  const bool was_tombstone = before != 0 && version(ref_of(before), known_key).flags == kTombstoneFlag;
  if (!heap_.status().ok()) return;
  if (deletes && (before == 0 || was_tombstone)) return;
  ++scalars.revision;
  std::vector<std::uint64_t> content{scalars.revision, key, before, deletes ? 0 : value_words(key, scalars.revision)};
  for (std::size_t i = 0; i < content[3]; ++i) content.push_back(value_word(key, scalars.revision, i));
  const auto version = heap_.add({kVersionKind, deletes ? kTombstoneFlag : std::uint8_t{0}, 0}, content);
  if (!version) return;  // full: the state stays
  heap_.set(word_of(key), version->value());
  heap_.set_user(scalars);
  // A tombstone is the unlinking's to retire: it waits in the queue by its reference.
  if (before != 0 && !was_tombstone) heap_.retire(ref_of(before));
  if (deletes) heap_.retire(*version, kUnlink);
}

void StoreWriter::replace_directory() {
  Scalars scalars = heap_.user<Scalars>();
  const HeapRef before = ref_of(scalars.directory);
  std::array<std::uint64_t, kNodeHeaderWords + 1 + kDirectoryKeys> image;
  if (!heap_.read(before, image, kDirectoryWords)) return;
  std::array<std::uint64_t, 1 + kDirectoryKeys> content{};
  content[0] = scalars.revision;
  for (std::size_t i = 1; i < content.size(); ++i) content[i] = heap_.content(content_offset(before, i));
  const auto directory = heap_.add({.kind = kDirectoryKind}, content, kDirectoryWords);
  if (!directory) return;
  scalars.directory = directory->value();
  heap_.set_user(scalars);
  heap_.retire(before);
}

void StoreWriter::change(std::map<std::uint64_t, Revisions>& states) {
  Revisions now = states.at(heap_.published().heap.number);
  for (std::uint64_t left = 1 + prng_.below(5); left > 0 && heap_.has_room(64 * 1024); --left) {
    if (!heap_.status().ok()) return;
    const std::uint64_t dice = prng_.below(100);
    const std::size_t key = prng_.below(kKeys);
    const std::uint64_t revision = heap_.user<Scalars>().revision;
    if (dice < 10) {
      replace_directory();
      continue;
    }
    if (dice < 20) {
      move(prng_.below(kMovingKeys));
      continue;
    }
    put(key, dice < 40);
    const std::uint64_t newest = heap_.user<Scalars>().revision;
    if (newest == revision) continue;
    if (dice < 40) {
      now.erase(key);
    } else {
      now[key] = newest;
    }
  }
  states[heap_.batch()] = now;
}

bool StoreWriter::reclaim(std::uint64_t now_ms, std::map<std::uint64_t, Revisions>& states) {
  states[heap_.batch()] = states.at(heap_.published().heap.number);
  if (heap_.reclaim(now_ms, [this](const Retired& retired) { unlink(retired); }) == 0) return false;
  if (left_out == kReclaimsAlone) change(states);
  return true;
}

void StoreWriter::unlink(const Retired& retired) {
  std::size_t key = kKeys;
  version(retired.ref, key);
  if (key >= kKeys) return;  // damage
  if (heap_.content(word_of(key)) == retired.ref.value()) heap_.set(word_of(key), 0);
  heap_.retire(retired.ref);
}

// ---- The books -----------------------------------------------------------------------------------------------------

std::string check_books(Heap& heap, std::span<const std::byte> memory) {
  Reached reached;
  const HeapRoot& root = heap.published();
  reached.add(ref_of(root.user_as<Scalars>().directory), "");
  for (std::size_t key = 0; key < kKeys; ++key) {
    const std::uint64_t head = heap.content(word_at(root.user_as<Scalars>(), key));
    if (head != 0) reached.add(ref_of(head), "a version is reached twice");
  }
  Scalars others = root.user_as<Scalars>();
  others.moved = ~others.moved;
  for (std::size_t key = 0; key < kMovingKeys; ++key) {
    if (heap.content(word_at(others, key)) != 0) return "a moved word was not cleared";
  }
  return compare_books(heap, memory, std::move(reached));
}

}  // namespace ingot::test
