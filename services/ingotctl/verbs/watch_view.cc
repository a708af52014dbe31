#include "services/ingotctl/verbs/watch_view.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/etcd/rpc.pb.h"
#include "services/cli/cli.h"
#include "services/ingotctl/render/kv.h"
#include "services/ingotctl/verbs/open_view.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

// Before another connection, and before another look at a view that does not show yet what the publisher has told of.
constexpr auto kAgainAfter = std::chrono::milliseconds(100);
constexpr auto kLookAfter = std::chrono::milliseconds(5);

// What is watched: keys from `begin` on, below `end` (empty: all of them), all of which begin with `prefix`.
struct Watched {
  std::string begin, end, prefix;

  bool has(std::string_view key) const { return key >= begin && (end.empty() || key < end); }
};

std::string common_prefix(std::string_view a, std::string_view b) {
  return std::string(a.begin(), std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first);
}

Watched watched_of(const KeyArguments& keys) {
  if (keys.from_key) return {keys.key, "", ""};
  if (!keys.range_end.empty()) return {keys.key, keys.range_end, common_prefix(keys.key, keys.range_end)};
  if (!keys.prefix) return {keys.key, absl::StrCat(keys.key, std::string(1, '\0')), keys.key};
  return {keys.key, prefix_end(std::string_view(keys.key)), keys.key};
}

class ViewWatch {
 public:
  ViewWatch(const CtlOptions& options, OpenView view, Watched watched, std::int64_t count)
      : options_(options), view_(std::move(view)), watched_(std::move(watched)), count_(count) {}

  absl::Status run(std::int64_t revision) {
    if (auto status = list(); !status.ok()) return status;
    known_ = std::move(listed_);
    since_ = revision == 0 ? handle().revision() : revision - 1;
    print_watching(since_ + 1, options_.json());
    bool first = true;
    while (count_ == 0 || events_ < count_) {
      if (auto status = take(std::exchange(first, false) && revision != 0); !status.ok()) return status;
      if (auto status = flush_output(); !status.ok()) return status;
      if (count_ > 0 && events_ >= count_) break;
      if (auto status = wait(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  using Known = std::map<std::string, std::int64_t, std::less<>>;  // keys and their revisions

  ViewHandle& handle() { return *view_.handle; }

  // All keys, at one root, into listed_.
  absl::Status list() {
    ViewRange range;
    range.begin = watched_.begin;
    range.end = watched_.end;
    const ViewError error = handle().range(range, answer_);
    if (error != ViewError::kNone) return status_of(error, handle());
    if (answer_.more()) {
      return absl::OutOfRangeError(absl::StrCat("the keys have more than the ", range.bytes_max,
                                                " bytes that are read in place at once; watch without --view"));
    }
    listed_.clear();
    for (std::size_t i = 0; i < answer_.size(); ++i) {
      listed_.emplace_hint(listed_.end(), answer_[i].key, answer_[i].revision);
    }
    return absl::OkStatus();
  }

  // Shows what has changed since the last look.
  absl::Status take(bool of_the_past) {
    const ViewError error = handle().changes(since_, answer_);
    if (error == ViewError::kTooOld && of_the_past) {
      return absl::OutOfRangeError(absl::StrCat("the view keeps no changes from revision ", since_ + 1,
                                                " on; watch without --view, or without --rev"));
    }
    if (error == ViewError::kTooOld) return compare();
    if (error != ViewError::kNone) return status_of(error, handle());
    for (std::size_t i = 0; i < answer_.size(); ++i) show(answer_[i]);
    since_ = std::max(since_, handle().revision());
    return absl::OkStatus();
  }

  // The log has lost some changes: finds them.
  absl::Status compare() {
    if (auto status = list(); !status.ok()) return status;
    const std::int64_t revision = handle().revision();
    for (std::size_t i = 0; i < answer_.size(); ++i) {
      const auto before = known_.find(answer_[i].key);
      if (before == known_.end() || before->second != answer_[i].revision) show(answer_[i]);
    }
    const Known before = known_;  // show() changes it
    for (const auto& [key, seen] : before) {
      ViewEntry gone;
      gone.key = key;
      gone.deleted = true;
      gone.revision = revision;
      if (!listed_.contains(key)) show(gone);
    }
    since_ = std::max(since_, revision);
    return absl::OkStatus();
  }

  void show(const ViewEntry& entry) {
    if (!watched_.has(entry.key) || (count_ > 0 && events_ >= count_)) return;
    if (entry.deleted) {
      if (const auto found = known_.find(entry.key); found != known_.end()) known_.erase(found);
    } else {
      known_.insert_or_assign(std::string(entry.key), entry.revision);
    }
    mvccpb::Event event;
    event.set_type(entry.deleted ? mvccpb::Event::DELETE : mvccpb::Event::PUT);
    *event.mutable_kv() = key_value_of(entry);
    print_event(event, false, options_.json());
    ++events_;
  }

  // Until something may have changed. A view that the publisher is ahead of is looked at again.
  absl::Status wait() {
    if (std::exchange(told_, since_) == since_ && woken_) std::this_thread::sleep_for(kLookAfter);
    woken_ = view_.connection.ask_wait(watched_.prefix, since_) && wait_for_byte();
    return woken_ ? absl::OkStatus() : connect_again();
  }

  // False: the connection has ended.
  bool wait_for_byte() {
    for (;;) {
      pollfd readable{view_.connection.fd(), POLLIN, 0};
      ::poll(&readable, 1, -1);
      const auto changed = view_.connection.changed();
      if (!changed.ok()) return false;
      if (*changed) return true;
    }
  }

  absl::Status connect_again() {
    std::this_thread::sleep_for(kAgainAfter);
    auto connection = connect_for_view(view_.path, options_);
    if (!connection.ok()) {
      return absl::UnavailableError(absl::StrCat("the view has gone, at revision ", since_, ": ",
                                                 connection.status().message()));
    }
    view_.connection = *std::move(connection);
    return absl::OkStatus();
  }

  const CtlOptions& options_;
  OpenView view_;
  const Watched watched_;
  const std::int64_t count_;
  std::int64_t events_ = 0;
  std::int64_t since_ = 0;   // changes up to this revision were shown
  std::int64_t told_ = -1;   // since_ at the last wait
  bool woken_ = false;       // the last wait ended with a byte
  Known known_, listed_;     // as shown, and as just found
  ViewAnswer answer_;
};

}  // namespace

absl::Status watch_view(const CtlOptions& options, const KeyArguments& keys, std::int64_t revision,
                        std::int64_t count) {
  auto view = open_view(options);
  if (!view.ok()) return view.status();
  return ViewWatch(options, *std::move(view), watched_of(keys), count).run(revision);
}

}  // namespace ingot::services_ingotctl_verbs
