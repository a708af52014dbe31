#include "replication/view/making/maker.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/check.h"

namespace ingot::inline replication_view_making {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

bool below_end(std::string_view key, std::string_view end) { return end.empty() || key < end; }

}  // namespace

std::uint64_t bytes_for_live(std::uint64_t live_bytes, std::uint64_t bytes_max) {
  const std::uint64_t most = bytes_max / kPageBytes * kPageBytes;
  if (live_bytes > most / 2) return std::max(most, kViewBytesMin);
  return std::max((2 * live_bytes + kPageBytes - 1) / kPageBytes * kPageBytes, kViewBytesMin);
}

std::uint64_t bytes_for_source(const SourceSize& size, std::uint64_t bytes_max) {
  const std::uint64_t keys = std::min(size.keys, bytes_max / kEntryExtraBytes);
  return bytes_for_live(std::min(size.bytes, bytes_max) + keys * kEntryExtraBytes, bytes_max);
}

// ---- Inputs --------------------------------------------------------------------------------------------------------

MakerEffects GenerationMaker::start(std::uint64_t now_ms) {
  INGOT_CHECK(!published() && !page_from_, "a maker is started once, upon an empty generation");
  return tick(now_ms);
}

MakerEffects GenerationMaker::tick(std::uint64_t now_ms) {
  MakerEffects effects;
  ask(now_ms, effects);
  return effects;
}

bool GenerationMaker::waits_for_time() const {
  return !given_up_ && ((!page_from_ && !listed()) || (!changes_open_ && position_.revision > 0));
}

MakerEffects GenerationMaker::on_page(const SourcePage& page, std::uint64_t now_ms) {
  MakerEffects effects;
  if (given_up_) return effects;
  INGOT_CHECK(page_from_.has_value(), "a page answers a question");
  if (!valid(page)) {
    give_up(WhyReplaced::kDamaged, effects);
    return effects;
  }
  if (position_.revision == 0) {  // the first page tells from where on changes are kept
    position_ = {page.revision + 1, 0};
    floor_ = page.revision;
  }
  if (page.revision < floor_) {
    ++pages_asked_again_;
    ask_page_ms_ = now_ms + kAskAgainMs;
  } else {
    cover(page, effects);
  }
  page_from_.reset();
  publish(now_ms, effects);
  ask(now_ms, effects);
  return effects;
}

MakerEffects GenerationMaker::on_changes(const SourceChanges& changes, std::uint64_t now_ms) {
  MakerEffects effects;
  if (given_up_) return effects;
  INGOT_CHECK(changes_open_, "changes answer a question");
  changes_open_ = false;
  if (!valid(changes)) {
    give_up(WhyReplaced::kDamaged, effects);
    return effects;
  }
  for (const ViewChange& change : changes.entries) take(change, effects);
  position_ = changes.next;
  publish(now_ms, effects);
  ask(now_ms, effects);
  return effects;
}

// What was changed from the position on, below `compacted`, is known only where a page has it.
MakerEffects GenerationMaker::on_compacted(ViewRevision compacted, std::uint64_t now_ms) {
  MakerEffects effects;
  if (given_up_) return effects;
  INGOT_CHECK(changes_open_, "it answers a question for changes");
  changes_open_ = false;
  if (published()) {
    give_up(WhyReplaced::kOvertaken, effects);
    return effects;
  }
  if (compacted > position_.revision) {
    position_ = {compacted, 0};
    floor_ = std::max(floor_, whole_to());
    waiting_.clear();  // each is older than the pages that will cover it
    waiting_bytes_ = 0;
    for (auto& [first, part] : parts_) {
      if (part.revision == kMissing || part.revision >= floor_) continue;
      part = {.revision = kMissing, .stale = true};
      ++missing_;
      ++pages_asked_again_;
    }
  }
  ask(now_ms, effects);
  return effects;
}

MakerEffects GenerationMaker::on_page_failed(std::uint64_t now_ms) {
  page_from_.reset();
  ask_page_ms_ = now_ms + kAskAgainMs;
  return tick(now_ms);
}

MakerEffects GenerationMaker::on_changes_failed(std::uint64_t now_ms) {
  changes_open_ = false;
  ask_changes_ms_ = now_ms + kAskAgainMs;
  return tick(now_ms);
}

// ---- Pages ---------------------------------------------------------------------------------------------------------

bool GenerationMaker::valid(const SourcePage& page) const {
  if (page.revision < 1 || (!page.next.empty() && page.next <= *page_from_)) return false;
  std::string_view least = *page_from_;
  bool first = true;
  for (const ViewChange& entry : page.entries) {
    const bool ascends = first ? entry.key >= least : entry.key > least;
    if (!ascends || entry.key.empty() || !below_end(entry.key, page.next) || entry.deleted || entry.revision < 1 ||
        entry.revision > page.revision) {
      return false;
    }
    least = entry.key;
    first = false;
  }
  return true;
}

// Of the page counts what lies in the missing part that it was asked for.
void GenerationMaker::cover(const SourcePage& page, MakerEffects& effects) {
  const auto part = parts_.find(*page_from_);
  INGOT_CHECK(part != parts_.end() && part->second.revision == kMissing, "the part is missing until its page comes");
  const auto behind = std::next(part);
  const std::string part_end = behind == parts_.end() ? "" : behind->first;
  const bool ends_within = !page.next.empty() && below_end(page.next, part_end);
  const std::string end = ends_within ? std::string(page.next) : part_end;
  for (const ViewChange& entry : page.entries) {
    if (!below_end(entry.key, end)) break;
    if (!apply(entry, effects)) return;
  }
  if (part->second.stale && !remove_stale(end, page, effects)) return;
  if (!apply_waiting(end, page.revision, effects)) return;
  if (ends_within) {
    parts_.emplace_hint(behind, end, part->second);
  } else {
    --missing_;
  }
  part->second = {.revision = page.revision, .stale = false};
  newest_page_ = std::max(newest_page_, page.revision);
}

// Keys that an older page had, and this one has no more. What was changed after it stays (GenerationWriter::apply).
bool GenerationMaker::remove_stale(std::string_view end, const SourcePage& page, MakerEffects& effects) {
  std::vector<std::string> keys;
  writer_.list(*page_from_, end, keys);
  auto entry = page.entries.begin();
  for (const std::string& key : keys) {
    while (entry != page.entries.end() && entry->key < key) ++entry;
    if (entry != page.entries.end() && entry->key == key) continue;
    if (!apply({.key = key, .deleted = true, .revision = page.revision}, effects)) return false;
  }
  return true;
}

bool GenerationMaker::apply_waiting(std::string_view end, ViewRevision above, MakerEffects& effects) {
  const auto first = waiting_.lower_bound(*page_from_);
  auto it = first;
  for (; it != waiting_.end() && below_end(it->first, end); ++it) {
    waiting_bytes_ -= it->first.size() + it->second.value.size() + kEntryExtraBytes;
    ViewChange change = it->second.change;
    change.key = it->first;
    change.value = it->second.value;
    if (change.revision > above && !apply(change, effects)) return false;
  }
  waiting_.erase(first, it);
  return true;
}

// ---- Changes -------------------------------------------------------------------------------------------------------

bool GenerationMaker::valid(const SourceChanges& changes) const {
  if (changes.next < position_) return false;
  ViewRevision least = position_.revision;
  const ViewRevision most = changes.next.place > 0 ? changes.next.revision : changes.next.revision - 1;
  for (const ViewChange& entry : changes.entries) {
    if (entry.key.empty() || entry.revision < least || entry.revision > most) return false;
    least = entry.revision;
  }
  return true;
}

void GenerationMaker::take(const ViewChange& change, MakerEffects& effects) {
  if (!published()) {
    const Part& part = std::prev(parts_.upper_bound(change.key))->second;
    if (part.revision == kMissing) return wait(change);
    if (part.revision >= change.revision) return;
  }
  apply(change, effects);
}

void GenerationMaker::wait(const ViewChange& change) {
  if (change.revision <= floor_) return;  // the page will have it
  auto [it, added] = waiting_.try_emplace(std::string(change.key));
  Waiting& waiting = it->second;
  if (added) waiting_bytes_ += change.key.size() + kEntryExtraBytes;
  waiting_bytes_ += change.value.size();
  waiting_bytes_ -= waiting.value.size();
  waiting.value.assign(change.value);
  waiting.change = change;
  waiting.change.key = waiting.change.value = {};
  if (waiting_bytes_ <= options_.waiting_bytes_max) return;
  floor_ = std::max(floor_, change.revision);  // none that was forgotten is newer
  waiting_.clear();
  waiting_bytes_ = 0;
}

bool GenerationMaker::apply(const ViewChange& change, MakerEffects& effects) {
  if (given_up_) return false;
  const auto status = writer_.apply(change);
  if (status.ok()) return true;
  const bool full = status.code() == absl::StatusCode::kResourceExhausted;
  give_up(full ? WhyReplaced::kFull : WhyReplaced::kDamaged, effects);
  return false;
}

// ---- What follows --------------------------------------------------------------------------------------------------

void GenerationMaker::publish(std::uint64_t now_ms, MakerEffects& effects) {
  if (given_up_ || !listed() || position_.place > 0 || whole_to() < newest_page_) return;
  const bool first = !published();
  if (!first && whole_to() == writer_.revision()) return;
  if (const auto status = writer_.publish(whole_to(), now_ms); !status.ok()) {
    return give_up(WhyReplaced::kFull, effects);
  }
  effects.published = whole_to();
  effects.ready = first;
  if (first) parts_.clear();  // all changes from here on are newer than any page
  if (replace_told_) return;
  const std::uint64_t bytes = writer_.bytes();
  if (writer_.nearly_full() && bytes < options_.bytes_max / kPageBytes * kPageBytes) {
    effects.replace = WhyReplaced::kFull;
  } else if (bytes > kViewBytesMin && writer_.live_bytes() < bytes / kSparseShare) {
    effects.replace = WhyReplaced::kSparse;
  }
  replace_told_ = effects.replace.has_value();
}

// Not before what is retired can be used again. In the middle of a revision there is no root, so nothing to wait for.
bool GenerationMaker::has_room(std::uint64_t now_ms, MakerEffects& effects) {
  const auto waits = [&] {
    return published() && position_.place == 0 && writer_.free_bytes() < writer_.bytes() / kRoomShare &&
           writer_.retired_bytes() > writer_.bytes() / kRetiredShare;
  };
  if (!waits()) return true;
  if (!writer_.publish(writer_.revision(), now_ms).ok()) give_up(WhyReplaced::kFull, effects);
  return !given_up_ && !waits();
}

void GenerationMaker::ask(std::uint64_t now_ms, MakerEffects& effects) {
  if (!given_up_ && !page_from_ && !listed() && now_ms >= ask_page_ms_) {
    const auto missing = [](const Parts::value_type& part) { return part.second.revision == kMissing; };
    auto next = std::find_if(parts_.lower_bound(search_from_), parts_.end(), missing);
    if (next == parts_.end()) next = std::find_if(parts_.begin(), parts_.end(), missing);
    page_from_ = search_from_ = next->first;
    effects.ask_page = AskPage{*page_from_};
  }
  if (given_up_ || changes_open_ || position_.revision == 0 || now_ms < ask_changes_ms_) return;
  if (!has_room(now_ms, effects)) return;
  changes_open_ = true;
  effects.ask_changes = AskChanges{position_, std::min(kChangesBytesMax, writer_.free_bytes() / kChangesShare)};
}

void GenerationMaker::give_up(WhyReplaced why, MakerEffects& effects) {
  given_up_ = true;
  effects.ask_page.reset();
  effects.ask_changes.reset();
  effects.replace.reset();
  effects.give_up = why;
}

}  // namespace ingot::replication_view_making
