#include "tests/replication/view/handle/churn_judge.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace ingot::test {

namespace {

std::string name_of(ViewError error) { return enum_names(error)[static_cast<std::size_t>(error)]; }

}  // namespace

std::string ChurnJudge::read() {
  const ViewRevision least = prng_.chance(0.05) ? bounds_.answered.load() : 0;  // as of a write that was answered
  if (least > 0) handle_.require(least);
  const ViewRevision before = handle_.revision();
  std::string wrong = prng_.chance(0.05) ? read_all() : read_some();
  const ViewRevision now = handle_.revision();
  if (!wrong.empty()) return wrong + ", at revision " + std::to_string(now);
  if (now < std::max(before, least)) return "back in time, to revision " + std::to_string(now);
  return now <= bounds_.begun ? "" : "what was never decided, at revision " + std::to_string(now);
}

std::string ChurnJudge::read_some() {
  std::vector<ViewRevision> drawn;
  std::vector<std::string> keys;
  for (int i = 0; i < 3; ++i) {
    drawn.push_back(static_cast<ViewRevision>(prng_.below(kChurnedKeys)));
    keys.push_back(churned_key(drawn.back()));
  }
  const std::vector<std::string_view> asked(keys.begin(), keys.end());
  const ViewError error = handle_.get_several(asked, answer_);
  if (error != ViewError::kNone) return error == ViewError::kTooLong ? "" : name_of(error);
  std::size_t found = 0;
  for (const ViewRevision key : drawn) {
    if (!fits(key, found)) return "key " + churned_key(key);
  }
  return found == answer_.size() ? "" : "too many keys";
}

std::string ChurnJudge::read_all() {
  const ViewError error = handle_.prefix("/churn/", answer_);
  if (error != ViewError::kNone) return error == ViewError::kTooLong ? "" : name_of(error);
  std::size_t found = 0;
  for (ViewRevision key = 0; key < kChurnedKeys; ++key) {
    if (!fits(key, found)) return "a range at " + churned_key(key);
  }
  return found == answer_.size() ? "" : "a range with too many keys";
}

// Whether the next entry is the key's, if it exists at the revision.
bool ChurnJudge::fits(ViewRevision key, std::size_t& found) {
  const ViewRevision changed = last_(key, handle_.revision());
  if (changed < bounds_.first || churn_deletes(changed)) return true;
  if (found == answer_.size()) return false;
  const ViewEntry entry = answer_[found++];
  return entry.key == churned_key(key) && entry.revision == changed && entry.value == churned_value(changed);
}

}  // namespace ingot::test
