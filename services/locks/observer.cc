#include "services/locks/observer.h"

#include <vector>

#include "proto/etcd/election.pb.h"
#include "services/etcd/translate.h"
#include "services/locks/ask.h"

namespace ingot::locks {

namespace pb = etcdserverpb;

void Observer::look() {
  ask<kv::TxnResult>(environment_.client, RequestKind::kLinearizableQuery, read_first(prefix_),
                     [this, self = shared_from_this()](const grpc::Status& status, kv::Revision revision,
                                                       kv::TxnResult&& result) {
                       if (over()) return;
                       if (!status.ok()) return finish(status);
                       std::vector<kv::KeyValue>& found = read_by(result, 0);
                       if (found.empty()) return await_first(revision + 1);
                       mvccpb::KeyValue leader;
                       etcd::translate(std::move(found.front()), &leader);
                       tell(leader, revision);
                       follow(leader.key(), revision + 1);
                     });
}

void Observer::follow(const std::string& key, kv::Revision revision) {
  pb::WatchCreateRequest request;
  request.set_key(key);
  request.set_start_revision(revision);
  begin_watch(std::move(request), &Observer::take_next);
}

void Observer::await_first(kv::Revision revision) {
  pb::WatchCreateRequest request;
  const kv::RangeRequest all = first_of(prefix_);
  request.set_key(all.key);
  request.set_range_end(all.range_end);
  request.set_start_revision(revision);
  request.add_filters(pb::WatchCreateRequest::NODELETE);
  begin_watch(std::move(request), &Observer::take_first);
}

void Observer::begin_watch(pb::WatchCreateRequest request, Take take) {
  leaving_ = false;
  const grpc::Status status = watch(
      std::move(request),
      [this, take](const pb::WatchResponse& response) {
        if (over() || leaving_) return;
        response.canceled() ? look_again() : (this->*take)(response);
      },
      [this](const grpc::Status& over) { finish(over); });
  if (!status.ok()) finish(status);
}

void Observer::take_first(const pb::WatchResponse& response) {
  if (response.events_size() == 0) return;
  const mvccpb::KeyValue& leader = response.events(0).kv();
  tell(leader, leader.mod_revision());
  leaving_ = true;
  leave_watch([this, key = leader.key(), revision = leader.mod_revision() + 1] { follow(key, revision); });
}

void Observer::take_next(const pb::WatchResponse& response) {
  for (const mvccpb::Event& event : response.events()) {
    if (event.type() == mvccpb::Event::DELETE) return look_again();
    tell(event.kv(), response.header().revision());
  }
}

void Observer::look_again() {
  leaving_ = true;
  leave_watch([this] { look(); });
}

// A look behind a compaction may find what is told already. Keys of one transaction share their revision.
void Observer::tell(const mvccpb::KeyValue& leader, kv::Revision revision) {
  if (leader.mod_revision() == told_ && leader.key() == told_key_) return;
  told_ = leader.mod_revision();
  told_key_ = leader.key();
  v3electionpb::LeaderResponse response;
  environment_.header.fill(response.mutable_header());
  response.mutable_header()->set_revision(revision);
  *response.mutable_kv() = leader;
  send(response);
}

}  // namespace ingot::locks
