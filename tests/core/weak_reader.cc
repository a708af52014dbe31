#include "tests/core/weak_reader.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "core/check.h"

namespace ingot::test {
namespace {

constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kRunsMax = 3'000'000;  // more: the case is too large to try everything

std::uint64_t word_at(const std::byte* base, std::size_t offset) {
  std::uint64_t word;
  std::memcpy(&word, base + offset / kWordBytes * kWordBytes, kWordBytes);
  return word;
}

}  // namespace

DrawnChoices::DrawnChoices(std::uint64_t seed, std::size_t all_stores)
    : prng_(seed),
      all_stores_(all_stores),
      change_(1.0 / static_cast<double>(2 << prng_.below(8))),
      now_(prng_.below(all_stores + 1)) {}

std::size_t DrawnChoices::pick(std::span<const std::uint32_t> stores, std::size_t oldest, std::size_t newest) {
  if (prng_.chance(change_)) now_ = prng_.below(all_stores_ + 1);
  const auto then = std::lower_bound(stores.begin(), stores.end(), now_) - stores.begin();
  return std::clamp(static_cast<std::size_t>(then), oldest, newest);
}

std::size_t AllChoices::pick(std::span<const std::uint32_t>, std::size_t oldest, std::size_t newest) {
  if (oldest == newest) return oldest;
  const std::size_t count = newest - oldest + 1;
  if (depth_ == choices_.size()) choices_.push_back({0, count});
  INGOT_CHECK(choices_[depth_].count == count, "a run depends on its choices alone");
  return oldest + choices_[depth_++].taken;
}

bool AllChoices::next() {
  depth_ = 0;
  while (!choices_.empty() && ++choices_.back().taken == choices_.back().count) choices_.pop_back();
  return !choices_.empty();
}

// ---- The writer ----------------------------------------------------------------------------------------------------

StoreLog::StoreLog(std::size_t bytes, const void* base)
    : bytes_((bytes + kWordBytes - 1) / kWordBytes * kWordBytes), base_(static_cast<const std::byte*>(base)) {
  void* const reserved = ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  INGOT_CHECK(reserved != MAP_FAILED);
  phantom_ = static_cast<std::byte*>(reserved);
}

StoreLog::~StoreLog() { ::munmap(phantom_, bytes_); }

std::size_t StoreLog::offset_of(const void* at) const {
  const auto* const byte = static_cast<const std::byte*>(at);
  if (byte >= phantom_ && byte < phantom_ + bytes_) return static_cast<std::size_t>(byte - phantom_);
  INGOT_CHECK(base_ != nullptr && byte >= base_ && byte < base_ + bytes_, "an access outside the memory");
  return static_cast<std::size_t>(byte - base_);
}

void StoreLog::load(const void* at, void* out, std::size_t bytes, std::memory_order) { std::memcpy(out, at, bytes); }

void StoreLog::store(const void* at, const void* in, std::size_t bytes, std::memory_order order) {
  if (base_ == nullptr) {
    base_ = static_cast<const std::byte*>(at) - reinterpret_cast<std::uintptr_t>(at) % kPageBytes;
  }
  const std::size_t offset = offset_of(at);
  std::uint64_t word = word_at(base_, offset);
  std::memcpy(reinterpret_cast<std::byte*>(&word) + offset % kWordBytes, in, bytes);
  std::vector<std::uint32_t>& numbers = by_word_[offset / kWordBytes];
  const bool release = order == std::memory_order_release;
  const std::uint64_t before = numbers.empty() ? 0 : stores_[numbers.back()].word;
  // No reader can tell, unless the last store was a release: what acquires this one instead learns nothing.
  if (word == before && !release) {
    const auto last = std::find_if(numbers.rbegin(), numbers.rend(),
                                   [&](std::uint32_t number) { return stores_[number].offset == offset; });
    if (last == numbers.rend() || !stores_[*last].release) return;
  }
  numbers.push_back(static_cast<std::uint32_t>(stores_.size()));
  stores_.push_back({offset, word, release, fenced_});
}

std::uint64_t StoreLog::update(void* at, std::size_t bytes, const Update& next) {
  std::uint64_t old = 0;
  std::memcpy(&old, at, bytes);
  const std::uint64_t value = next(old);
  store(at, &value, bytes, std::memory_order_relaxed);
  std::memcpy(at, &value, bytes);
  return old;
}

std::span<const std::uint32_t> StoreLog::to_word(std::size_t offset) const {
  const auto found = by_word_.find(offset / kWordBytes);
  return found == by_word_.end() ? std::span<const std::uint32_t>() : found->second;
}

std::set<OrderedAccess> StoreLog::releases() const {
  std::set<OrderedAccess> releases;
  for (const Store& store : stores_) {
    if (store.release) releases.insert({store.offset, true});
  }
  return releases;
}

void StoreLog::cut(std::size_t count) {
  stores_.resize(count);
  for (auto& [word, numbers] : by_word_) {
    while (!numbers.empty() && numbers.back() >= count) numbers.pop_back();
  }
}

std::optional<std::size_t> StoreLog::changed_unseen(std::size_t from, std::size_t to) const {
  for (std::size_t offset = 0; offset < bytes_; ++offset) {
    if (offset >= from && offset < to) continue;
    const auto numbers = to_word(offset);
    const std::uint64_t word = numbers.empty() ? 0 : stores_[numbers.back()].word;
    if (reinterpret_cast<const std::byte*>(&word)[offset % kWordBytes] != base_[offset]) return offset;
  }
  return std::nullopt;
}

// ---- The reader ----------------------------------------------------------------------------------------------------

// Among the stores that no order hides.
std::size_t WeakReader::pick(std::span<const std::uint32_t> stores, std::size_t oldest, bool acquire) {
  const std::size_t newest = stores.size();
  if (followed_ == nullptr) return choices_.pick(stores, oldest, newest);
  const std::size_t number = taken_.size();
  const bool follows = number < followed_->size() && (acquire || !acquires_only_);
  const std::size_t wanted = follows ? (*followed_)[number] : oldest;
  return wanted < oldest || wanted > newest ? oldest : wanted;
}

bool WeakReader::orders(std::size_t offset, std::memory_order order, const StoreLog::Store& store) const {
  if (machine_ == Machine::kInterleaving) return true;
  return order == std::memory_order_acquire && store.release && weakened_ != OrderedAccess{offset, false} &&
         weakened_ != OrderedAccess{store.offset, true};
}

void WeakReader::load(const void* at, void* out, std::size_t bytes, std::memory_order order) {
  const std::size_t offset = log_.offset_of(at);
  const bool acquire = order == std::memory_order_acquire;
  if (acquire) acquires_.insert({offset, false});
  const std::span<const std::uint32_t> stores = log_.to_word(offset);
  const auto happened = std::lower_bound(stores.begin(), stores.end(), known_) - stores.begin();
  std::size_t& seen = seen_[offset / kWordBytes];
  seen = pick(stores, std::max(seen, static_cast<std::size_t>(happened)), acquire);
  taken_.push_back(seen);
  std::uint64_t word = 0;
  if (seen > 0) {
    const StoreLog::Store& store = log_[stores[seen - 1]];
    word = store.word;
    if (orders(offset, order, store)) known_ = std::max<std::size_t>(known_, stores[seen - 1] + 1);
    if (acquire && weakened_ != OrderedAccess{offset, false}) known_ = std::max(known_, store.fenced);
  }
  std::memcpy(out, reinterpret_cast<const std::byte*>(&word) + offset % kWordBytes, bytes);
}

void WeakReader::store(const void*, const void*, std::size_t, std::memory_order) {
  INGOT_CHECK(false, "a reader stores nothing");
}

std::uint64_t WeakReader::update(void*, std::size_t, const Update&) { INGOT_CHECK(false, "a reader stores nothing"); }

// ---- Runs ----------------------------------------------------------------------------------------------------------

namespace {

std::string text_of(WeakReader& run, const StoreLog& log, const Reader& reader) {
  return with_memory(run, [&] { return reader(log.for_readers()); });
}

}  // namespace

void for_each_run(const StoreLog& log, Machine machine, const Reader& reader, std::optional<OrderedAccess> weakened,
                  const std::function<bool(const std::string&, const WeakReader&)>& visit) {
  AllChoices choices;
  std::size_t runs = 0;
  do {
    INGOT_CHECK(++runs <= kRunsMax, "too many runs: make the case smaller");
    WeakReader run(log, machine, weakened, choices);
    if (!visit(text_of(run, log, reader), run)) return;
  } while (choices.next());
}

std::set<std::string> interleaved(const StoreLog& log, const Reader& reader) {
  std::set<std::string> texts;
  for_each_run(log, Machine::kInterleaving, reader, {}, [&](const std::string& text, const WeakReader&) {
    texts.insert(text);
    return true;
  });
  return texts;
}

std::optional<std::string> shown_by_weakness(const StoreLog& log, const Reader& reader,
                                             std::optional<OrderedAccess> weakened, std::set<OrderedAccess>* acquires) {
  const std::set<std::string> allowed = interleaved(log, reader);
  std::optional<std::string> shown;
  for_each_run(log, Machine::kWeak, reader, weakened, [&](const std::string& text, const WeakReader& run) {
    if (acquires != nullptr) acquires->insert(run.acquires().begin(), run.acquires().end());
    if (!allowed.contains(text)) shown = text;
    return !shown;
  });
  return shown;
}

std::optional<std::string> drawn_by_weakness(const StoreLog& log, const Reader& reader, std::uint64_t seed,
                                             std::optional<OrderedAccess> weakened) {
  DrawnChoices choices(seed, log.size());
  const std::size_t known = Prng(~seed).below(log.size() + 1);
  WeakReader run(log, Machine::kWeak, weakened, choices, known);
  const std::string text = text_of(run, log, reader);
  if (text.empty()) return std::nullopt;
  for (const bool acquires_only : {true, false}) {
    WeakReader again(log, Machine::kInterleaving, {}, choices, known);
    again.follow(run, acquires_only);
    if (text_of(again, log, reader) == text) return std::nullopt;
  }
  return text;
}

}  // namespace ingot::test
