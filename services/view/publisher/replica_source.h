// The replicas as a view's source: pages of a range that is read in steps, and the changes that watches read, too.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "replication/client/replica_client.h"
#include "replication/store/api.h"
#include "replication/view/making/source.h"

namespace ingot::inline services_view_publisher {

// Used by its session's thread only. Nothing in the group waits for it: it asks single replicas for what they have. The
// client may answer after the source's end.
class ReplicaSource final : public ViewSource {
 public:
  // `size`: what is there at present, about. Both outlive the source.
  ReplicaSource(ReplicaClient& client, SourceAnswers& answers, std::function<SourceSize()> size);

  // Whether changes are asked for by a standing question, of which the session has one, which is another source's
  // otherwise: then they are polled for.
  void set_standing(bool standing) { standing_ = standing; }

  void ask_size() override;
  void ask_page(const AskPage& ask) override;
  void ask_changes(const AskChanges& ask) override;

  // Gives the answers that have come, and asks again what is due.
  int poll(std::uint64_t now_ms);
  // When poll() has something to do without further answers, in ms; none: UINT64_MAX.
  std::uint64_t deadline_ms() const { return later_->empty() ? ask_changes_ms_ : 0; }

 private:
  using Later = std::deque<std::function<void()>>;

  void answer_later(std::function<void()> answer) { later_->push_back(std::move(answer)); }
  void submit_changes();
  void take_page(const ReplicaReply& reply);
  void take_changes(std::uint64_t question, const ReplicaReply& reply);
  void give_changes(kv::EventsResult events);

  ReplicaClient& client_;
  SourceAnswers& answers_;
  const std::function<SourceSize()> size_;
  // Answers that wait for poll(). Shared with callbacks, which find out by it that the source has ended.
  const std::shared_ptr<Later> later_ = std::make_shared<Later>();
  bool standing_ = true;
  std::uint64_t now_ms_ = 0;
  AskChanges asked_;
  std::uint64_t questions_ = 0;  // for changes, so far
  std::uint64_t ask_changes_ms_ = UINT64_MAX;  // when the same question is asked again
  kv::Revision compacted_ = -1;  // as last heard
  int page_places_ = 0, change_places_ = 0;  // from the nearest replica
};

}  // namespace ingot::services_view_publisher
