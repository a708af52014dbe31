// A generation under random changes, and the model of what it must show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/prng.h"
#include "tests/replication/view/generation/view_model.h"

namespace ingot::test {

// Zeros on whole pages, with a page behind them where no access is possible.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

// Not thread-safe.
class ViewWorld {
 public:
  ViewWorld(std::uint64_t seed, std::span<std::byte> memory, std::size_t keys, std::size_t value_bytes_max);

  // Some keys, and the first root. False: there was no room for them.
  bool load();
  // Some changes, at one or more revisions, and a root. False: there is no room.
  bool batch();

  const ViewModel& model() const { return model_; }
  const std::vector<std::string>& keys() const { return keys_; }
  const GenerationWriter& writer() const { return *writer_; }
  std::uint64_t mark() const;
  // Whether a root was at that revision.
  bool published(ViewRevision revision) const;

 private:
  KeyState drawn_change(const std::string& key, ViewRevision revision);
  bool apply(const KeyState& change);
  bool publish();

  Prng prng_;
  std::span<std::byte> memory_;
  std::vector<std::string> keys_;
  std::size_t value_bytes_max_;
  std::unique_ptr<GenerationWriter> writer_;
  ViewModel model_;
  std::vector<ViewRevision> roots_;
  ViewRevision revision_ = 1;
  std::uint64_t now_ms_ = 1;
};

}  // namespace ingot::test
