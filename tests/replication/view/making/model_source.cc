#include "tests/replication/view/making/model_source.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace ingot::test {
namespace {

std::vector<ViewChange> entries_of(const std::vector<KeyState>& states) {
  std::vector<ViewChange> entries;
  for (const KeyState& state : states) entries.push_back(change_of(state));
  return entries;
}

}  // namespace

void ModelSource::write(std::size_t value_bytes_max) {
  ++revision_;
  const std::uint64_t changes = 1 + prng_.below(prng_.chance(0.1) ? 30 : 4);
  for (std::uint32_t place = 0; place < changes; ++place) {
    const std::string& key = keys_[prng_.below(keys_.size())];
    const KeyState* const before = model_.changed(key, revision_);
    const bool exists = before != nullptr && !before->deleted;
    KeyState state{.key = key, .deleted = exists && prng_.chance(0.4), .revision = revision_};
    if (!state.deleted) {
      state.value = std::to_string(revision_) + std::string(prng_.below(value_bytes_max + 1), 'v');
      state.created = exists ? before->created : revision_;
      state.version = exists ? before->version + 1 : 1;
      state.lease = static_cast<std::int64_t>(prng_.below(3));
    }
    model_.add(state);
    changes_.push_back({{revision_, place}, state});
  }
}

PageAnswer ModelSource::page(const AskPage& ask, ViewRevision at, std::size_t entries_max) const {
  PageAnswer answer;
  answer.revision = at;
  answer.states = model_.range(ask.from, "", at);
  if (answer.states.size() > entries_max) {
    answer.next = answer.states[entries_max].key;
    answer.states.resize(entries_max);
  }
  answer.entries = entries_of(answer.states);
  return answer;
}

bool ModelSource::newest_to_compacted(const Placed& change) const {
  return std::none_of(changes_.begin(), changes_.end(), [&](const Placed& other) {
    return other.state.key == change.state.key && other.position > change.position &&
           other.position.revision <= compacted_;
  });
}

std::optional<ChangesAnswer> ModelSource::changes(const AskChanges& ask, ViewRevision to) {
  if (ask.from.revision < compacted_) return std::nullopt;
  std::vector<Placed> found;
  for (const Placed& change : changes_) {
    if (change.position < ask.from || change.position.revision > to) continue;
    if (change.position.revision == compacted_ && !newest_to_compacted(change)) continue;
    found.push_back(change);
  }
  ChangesAnswer answer{.next = std::max<SourcePosition>({to + 1, 0}, ask.from)};
  if (!found.empty() && (ask.from.place > 0 || prng_.chance(0.4))) {  // a part of the first one's revision, or its rest
    const ViewRevision first = found.front().position.revision;
    const auto other = std::find_if(found.begin(), found.end(),
                                    [&](const Placed& change) { return change.position.revision > first; });
    found.erase(other, found.end());
    answer.next = {first + 1, 0};
    const std::uint64_t kept = 1 + prng_.below(found.size());
    if (kept < found.size()) {
      answer.next = found[kept].position;
      found.resize(kept);
    }
  }
  const bool coalesced = prng_.chance(0.5);
  std::set<std::string> later;
  for (auto change = found.rbegin(); change != found.rend(); ++change) {
    if (later.insert(change->state.key).second || !coalesced) answer.states.push_back(change->state);
  }
  std::reverse(answer.states.begin(), answer.states.end());
  answer.entries = entries_of(answer.states);
  return answer;
}

}  // namespace ingot::test
