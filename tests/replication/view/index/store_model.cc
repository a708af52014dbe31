#include "tests/replication/view/index/store_model.h"

#include <algorithm>

#include "core/check.h"
#include "core/stable_hash.h"

namespace ingot::test {

SeenVersion seen(std::string_view key, std::string_view value, const VersionFields& fields) {
  return {std::string(key),  std::string(value), fields.revision, fields.sub,
          fields.created(), fields.version,     fields.lease};
}

std::string to_text(const std::optional<SeenVersion>& seen) {
  if (!seen) return "none";
  const std::string& whole = seen->key;
  const std::string key = whole.size() < 8 ? whole : whole.substr(0, 4) + ".." + whole.substr(whole.size() - 2);
  return key + "@" + std::to_string(seen->revision) + "." + std::to_string(seen->sub) + "/" +
         std::to_string(seen->created) + "/" + std::to_string(seen->version) + "/" + std::to_string(seen->lease) + "=" +
         std::to_string(hash_bytes(seen->value, hash_bytes(seen->key)) % 1000);
}

std::string to_text(const std::vector<SeenVersion>& seen) {
  std::string text = "[";
  for (const SeenVersion& version : seen) text += " " + to_text(version);
  return text + " ]";
}

void StoreModel::go_back(const ModelRoot& root) {
  for (; changes_.size() > root.changes; changes_.pop_back()) by_key_[changes_.back().key].pop_back();
  root_ = root;
}

void StoreModel::add(SeenVersion version) {
  root_.revision = version.revision;
  by_key_[version.key].push_back(changes_.size());
  changes_.push_back(std::move(version));
  root_.changes = changes_.size();
}

void StoreModel::put(const std::string& key, const std::string& value, StoreRevision revision, std::uint32_t sub,
                     std::int64_t lease) {
  const auto before = get(root_, key, root_.revision);
  add({key, value, revision, sub, before ? before->created : revision, before ? before->version + 1 : 1, lease});
}

void StoreModel::erase(const std::string& key, StoreRevision revision, std::uint32_t sub) {
  INGOT_CHECK(exists(key));
  add({key, "", revision, sub, 0, 0, 0});
}

void StoreModel::take_back(StoreRevision revision) {
  by_key_[changes_.back().key].pop_back();
  changes_.pop_back();
  root_.changes = changes_.size();
  root_.revision = revision;
}

StoreRevision StoreModel::changed(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() || found->second.empty() ? 0 : changes_[found->second.back()].revision;
}

std::optional<SeenVersion> StoreModel::get(const ModelRoot& root, const std::string& key,
                                           StoreRevision revision) const {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  for (auto at = found->second.rbegin(); at != found->second.rend(); ++at) {
    const SeenVersion& change = changes_[*at];
    if (*at >= root.changes || change.revision > revision) continue;
    return change.version == 0 ? std::nullopt : std::optional(change);
  }
  return std::nullopt;
}

std::vector<SeenVersion> StoreModel::range(const ModelRoot& root, const std::string& begin,
                                           const std::optional<std::string>& end, StoreRevision revision) const {
  std::vector<SeenVersion> found;
  for (auto at = by_key_.lower_bound(begin); at != by_key_.end() && (!end || at->first < *end); ++at) {
    if (auto version = get(root, at->first, revision)) found.push_back(*std::move(version));
  }
  return found;
}

std::vector<SeenVersion> StoreModel::events(const ModelRoot& root, StoreRevision revision, std::size_t most) const {
  std::vector<SeenVersion> found;
  for (std::size_t i = 0; i < root.changes && found.size() < most; ++i) {
    if (changes_[i].revision >= revision) found.push_back(changes_[i]);
  }
  return found;
}

VersionSum StoreModel::held(const ModelRoot& root) const {
  VersionSum sum;
  std::map<std::string, StoreRevision> newer;  // by key: the revision that superseded what comes next
  for (std::size_t i = root.changes; i-- > 0;) {
    const SeenVersion& change = changes_[i];
    const auto superseded = newer.find(change.key);
    const bool removed = (superseded != newer.end() && superseded->second <= root.compacted) ||
                         (change.version == 0 && change.revision <= root.compacted);
    newer[change.key] = change.revision;
    if (removed) continue;
    VersionFields fields;
    fields.revision = change.revision;
    fields.created_or_before = change.created;
    fields.version = change.version;
    fields.sub = change.sub;
    fields.value_bytes = static_cast<std::uint32_t>(change.value.size());
    fields.lease = change.lease;
    fields.share = fields.share_of(change.key, change.value);
    sum += sum_of(fields, change.key.size());
  }
  return sum;
}

std::uint64_t StoreModel::live_keys(const ModelRoot& root) const {
  return range(root, "", std::nullopt, root.revision).size();
}

StoreAnswers answers_of(const StoreModel& model, const ModelRoot& root) {
  return {
      [&model, root](const std::string& key, StoreRevision revision) {
        return to_text(model.get(root, key, revision));
      },
      [&model, root](const std::string& begin, const std::optional<std::string>& end, StoreRevision revision) {
        return to_text(model.range(root, begin, end, revision));
      },
      [&model, root](StoreRevision revision, std::size_t most) {
        return to_text(model.events(root, revision, most));
      },
  };
}

std::string ask(const StoreAnswers& store, const std::vector<std::string>& keys, StoreRevision revision,
                StoreRevision compacted, std::uint64_t seed, int questions) {
  Prng prng(seed);
  std::string text = "store";
  for (; questions > 0; --questions) {
    const auto span = static_cast<std::uint64_t>(revision - compacted);
    const StoreRevision at = prng.chance(0.5) ? revision : compacted + static_cast<StoreRevision>(prng.below(span + 1));
    const std::string& key = keys[prng.below(keys.size())];
    std::optional<std::string> answer;
    if (prng.chance(0.7)) {
      answer = store.get(key, at);
    } else if (prng.chance(0.5)) {
      const std::string& other = keys[prng.below(keys.size())];
      const bool open = prng.chance(0.3);
      answer = store.range(std::min(key, other), open ? std::nullopt : std::optional(std::max(key, other)), at);
    } else {
      answer = store.events(std::max(at, compacted + 1), 1 + prng.below(12));
    }
    if (!answer) return "";
    text += " " + *answer;
  }
  return text;
}

}  // namespace ingot::test
