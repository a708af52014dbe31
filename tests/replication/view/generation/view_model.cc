#include "tests/replication/view/generation/view_model.h"

#include <algorithm>
#include <set>

namespace ingot::test {
namespace {

std::vector<KeyState> states_of(const ViewAnswer& answer) {
  std::vector<KeyState> states;
  for (std::size_t i = 0; i < answer.size(); ++i) states.push_back(state_of(answer[i]));
  return states;
}

// An answer as it should be, or what it is.
std::string differs(const std::string& question, const std::vector<KeyState>& found,
                    const std::vector<KeyState>& expected) {
  if (found == expected) return "";
  return question + ": " + to_text(found) + " instead of " + to_text(expected);
}

std::string drawn_key(const std::vector<std::string>& keys, Prng& prng) {
  std::string key = keys[prng.below(keys.size())];
  if (prng.chance(0.2)) key.resize(prng.below(key.size() + 1));
  if (prng.chance(0.1)) key += '\0';
  return key;
}

class Questions {
 public:
  Questions(ViewReader& reader, const ViewModel& model, const std::vector<std::string>& keys, Prng& prng)
      : reader_(reader), model_(model), keys_(keys), prng_(prng) {}

  ReadOutcome ask(std::string& wrong) {
    answer_.clear();
    switch (prng_.below(6)) {
      case 0: return ask_range(wrong);
      case 1: return ask_count(wrong);
      case 2: return ask_changes(wrong);
      default: return ask_key(wrong);
    }
  }

 private:
  ReadOutcome ask_key(std::string& wrong) {
    const std::string key = drawn_key(keys_, prng_);
    const ReadOutcome outcome = reader_.get(key, answer_);
    if (outcome != ReadOutcome::kOk) return outcome;
    const KeyState* const state = model_.changed(key, reader_.revision());
    std::vector<KeyState> expected;
    if (state != nullptr && !state->deleted) expected.push_back(*state);
    wrong = differs("get " + key, states_of(answer_), expected);
    return outcome;
  }

  ReadOutcome ask_range(std::string& wrong) {
    ViewRange range;
    const std::string begin = drawn_key(keys_, prng_);
    std::string end = prng_.chance(0.3) ? prefix_end(begin) : prng_.chance(0.3) ? "" : drawn_key(keys_, prng_);
    range.begin = begin;
    range.end = end;
    if (prng_.chance(0.3)) range.limit = prng_.below(10);
    if (prng_.chance(0.3)) range.bytes_max = prng_.below(600);
    const ReadOutcome outcome = reader_.range(range, answer_);
    if (outcome != ReadOutcome::kOk) return outcome;
    std::vector<KeyState> expected = model_.range(begin, end, reader_.revision());
    const bool more = answer_.more() && answer_.size() < expected.size();
    if (more && (answer_.size() == range.limit || answer_.bytes() >= range.bytes_max)) expected.resize(answer_.size());
    wrong = differs("range " + begin + " to " + end, states_of(answer_), expected);
    return outcome;
  }

  ReadOutcome ask_count(std::string& wrong) {
    const std::string begin = prng_.chance(0.3) ? "" : drawn_key(keys_, prng_);
    const std::string end = prng_.chance(0.3) ? "" : drawn_key(keys_, prng_);
    std::uint64_t count = 0;
    const ReadOutcome outcome = reader_.count(begin, end, count);
    if (outcome != ReadOutcome::kOk) return outcome;
    const std::size_t expected = model_.range(begin, end, reader_.revision()).size();
    if (count != expected) wrong = "count: " + std::to_string(count) + " instead of " + std::to_string(expected);
    return outcome;
  }

  ReadOutcome ask_changes(std::string& wrong) {
    const auto back = static_cast<ViewRevision>(prng_.below(prng_.chance(0.5) ? 5 : 40));
    const ViewRevision since = std::max<ViewRevision>(0, reader_.revision() - back);
    std::vector<KeyState> found;
    ViewChanges changes{.since = since};
    if (prng_.chance(0.5)) changes.limit = 1 + prng_.below(4);
    for (bool more = true; more;) {
      const ReadOutcome outcome = reader_.changes(changes, answer_);
      if (outcome != ReadOutcome::kOk) return outcome;
      const auto part = states_of(answer_);
      found.insert(found.end(), part.begin(), part.end());
      more = answer_.more();
      changes.position = answer_.position();
      answer_.clear();
    }
    const auto by_revision = [](const KeyState& a, const KeyState& b) { return a.revision < b.revision; };
    if (!std::is_sorted(found.begin(), found.end(), by_revision)) wrong = "changes in disorder: " + to_text(found);
    std::sort(found.begin(), found.end(), [](const KeyState& a, const KeyState& b) { return a.key < b.key; });
    if (wrong.empty()) {
      wrong = differs("changes since " + std::to_string(since), found, model_.changes(since, reader_.revision()));
    }
    return ReadOutcome::kOk;
  }

  ViewReader& reader_;
  const ViewModel& model_;
  const std::vector<std::string>& keys_;
  Prng& prng_;
  ViewAnswer answer_;
};

}  // namespace

KeyState state_of(const ViewEntry& entry) {
  return {std::string(entry.key), std::string(entry.value), entry.deleted, entry.revision,
          entry.created,          entry.version,            entry.lease};
}

ViewChange change_of(const KeyState& state) {
  return {.key = state.key,
          .value = state.value,
          .deleted = state.deleted,
          .revision = state.revision,
          .created = state.created,
          .version = state.version,
          .lease = state.lease};
}

std::string to_text(const std::vector<KeyState>& states) {
  std::string text = "[";
  for (const KeyState& state : states) {
    text += state.key + (state.deleted ? " deleted" : "") + "@" + std::to_string(state.revision) + " ";
  }
  return text + "]";
}

const KeyState* ViewModel::changed(const std::string& key, ViewRevision at) const {
  const auto found = changes_.find(key);
  if (found == changes_.end()) return nullptr;
  const KeyState* newest = nullptr;
  for (const KeyState& state : found->second) {
    if (state.revision <= at && (newest == nullptr || state.revision >= newest->revision)) newest = &state;
  }
  return newest;
}

std::vector<KeyState> ViewModel::range(const std::string& begin, const std::string& end, ViewRevision at) const {
  std::vector<KeyState> states;
  for (auto it = changes_.lower_bound(begin); it != changes_.end() && (end.empty() || it->first < end); ++it) {
    const KeyState* const state = changed(it->first, at);
    if (state != nullptr && !state->deleted) states.push_back(*state);
  }
  return states;
}

std::vector<KeyState> ViewModel::changes(ViewRevision since, ViewRevision at) const {
  std::vector<KeyState> states;
  for (const auto& [key, all] : changes_) {
    const KeyState* const state = changed(key, at);
    if (state != nullptr && state->revision > since) states.push_back(*state);
  }
  return states;
}

std::vector<std::string> drawn_keys(Prng& prng, std::size_t count) {
  constexpr std::string_view kBytes("a\0b\xff/k", 6);
  std::set<std::string> keys;
  while (keys.size() < count) {
    std::string key;
    if (!keys.empty() && prng.chance(0.6)) key = *std::next(keys.begin(), static_cast<std::ptrdiff_t>(
                                                       prng.below(keys.size())));
    key.resize(prng.below(key.size() + 1));
    const std::size_t more = 1 + prng.below(prng.chance(0.2) ? 24 : 4);
    for (std::size_t i = 0; i < more; ++i) key += kBytes[prng.below(kBytes.size())];
    keys.insert(key);
  }
  return {keys.begin(), keys.end()};
}

std::string check_reads(ViewReader& reader, const ViewModel& model, const std::vector<std::string>& keys, Prng& prng,
                        int questions, std::uint64_t& overtaken) {
  Questions ask(reader, model, keys, prng);
  for (int i = 0; i < questions; ++i) {
    std::string wrong;
    switch (ask.ask(wrong)) {
      case ReadOutcome::kOk:
      case ReadOutcome::kTooOld:
        break;
      case ReadOutcome::kOvertaken:
        ++overtaken;
        return "";
      case ReadOutcome::kGone: return "the generation is gone";
      case ReadOutcome::kDamaged: return "the generation is damaged";
    }
    if (!wrong.empty()) return "at revision " + std::to_string(reader.revision()) + ": " + wrong;
  }
  return "";
}

}  // namespace ingot::test
