#include "tests/replication/view/generation/view_world.h"

#include <sys/mman.h>

#include <algorithm>

#include "core/check.h"

namespace ingot::test {
namespace {

constexpr std::size_t kPageBytes = 4096;

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes) {
  void* const mapped = ::mmap(nullptr, bytes + kPageBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  INGOT_CHECK(mapped != MAP_FAILED && bytes % kPageBytes == 0);
  bytes_ = {static_cast<std::byte*>(mapped), bytes};
  INGOT_CHECK(::mprotect(bytes_.data() + bytes, kPageBytes, PROT_NONE) == 0);
}

GuardedMemory::~GuardedMemory() { ::munmap(bytes_.data(), bytes_.size() + kPageBytes); }

ViewWorld::ViewWorld(std::uint64_t seed, std::span<std::byte> memory, std::size_t keys, std::size_t value_bytes_max)
    : prng_(seed), memory_(memory), keys_(drawn_keys(prng_, keys)), value_bytes_max_(value_bytes_max) {
  auto writer = GenerationWriter::create(memory, {.seed = prng_(), .expected_keys = prng_.below(keys)});
  INGOT_CHECK(writer.ok());
  writer_ = *std::move(writer);
}

std::uint64_t ViewWorld::mark() const {
  return reinterpret_cast<const std::uint64_t*>(memory_.data())[kMarkWord];
}

bool ViewWorld::published(ViewRevision revision) const {
  return std::binary_search(roots_.begin(), roots_.end(), revision);
}

KeyState ViewWorld::drawn_change(const std::string& key, ViewRevision revision) {
  KeyState state{.key = key, .revision = revision};
  const KeyState* const before = model_.changed(key, revision);
  const bool exists = before != nullptr && !before->deleted;
  state.deleted = exists && prng_.chance(0.35);
  if (state.deleted) return state;
  const std::size_t bytes = prng_.below(value_bytes_max_ + 1);
  state.value = key.substr(0, bytes) + std::to_string(revision) + std::string(bytes, 'v');
  state.created = exists ? before->created : revision;
  state.version = exists ? before->version + 1 : 1;
  state.lease = static_cast<std::int64_t>(prng_.below(3));
  return state;
}

bool ViewWorld::apply(const KeyState& change) {
  const auto status = writer_->apply(change_of(change));
  INGOT_CHECK(status.ok() || status.code() == absl::StatusCode::kResourceExhausted);
  if (status.ok()) model_.add(change);
  return status.ok();
}

bool ViewWorld::publish() {
  now_ms_ += prng_.below(prng_.chance(0.2) ? 40 : 10);
  const auto status = writer_->publish(revision_, now_ms_);
  INGOT_CHECK(status.ok() || status.code() == absl::StatusCode::kResourceExhausted);
  if (status.ok()) roots_.push_back(revision_);
  return status.ok();
}

// In order, with gaps; some twice, the older version last.
bool ViewWorld::load() {
  revision_ = 10;
  for (const std::string& key : keys_) {
    if (prng_.chance(0.4)) continue;
    const auto revision = static_cast<ViewRevision>(5 + prng_.below(5));
    if (!apply(drawn_change(key, revision))) return false;
    if (!prng_.chance(0.1)) continue;
    KeyState older{.key = key, .value = "older", .revision = revision - 2, .created = 1, .version = 1};
    if (!apply(older)) return false;
  }
  return publish();
}

bool ViewWorld::batch() {
  const std::uint64_t revisions = prng_.below(4);
  for (std::uint64_t i = 0; i < revisions; ++i) {
    revision_ += 1 + static_cast<ViewRevision>(prng_.below(2));
    const std::uint64_t changes = 1 + prng_.below(prng_.chance(0.1) ? 20 : 4);
    std::string key = keys_[prng_.below(keys_.size())];
    for (std::uint64_t j = 0; j < changes; ++j) {
      if (!apply(drawn_change(key, revision_))) return false;
      if (prng_.chance(0.8)) key = keys_[prng_.below(keys_.size())];
    }
  }
  return publish();
}

}  // namespace ingot::test
