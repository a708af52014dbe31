#include "services/locks/contender.h"

#include <memory>
#include <utility>
#include <vector>

#include "services/etcd/lease_methods.h"
#include "services/locks/ask.h"
#include "services/locks/limits.h"
#include "services/locks/recipes.h"

namespace ingot::locks {

namespace pb = etcdserverpb;

void Contender::begin() {
  if (wish_.lease != 0) return enter();
  const kv::LeaseGrantRequest request{etcd::draw_lease_id(), kSessionTtlS};
  ask<kv::LeaseGrantResult>(environment_.client, RequestKind::kCommand, request,
                            [this, self = shared_from_this()](const grpc::Status& status, kv::Revision,
                                                              kv::LeaseGrantResult&& granted) {
                              if (over()) return;
                              if (!status.ok()) return fail(status);
                              wish_.lease = granted.id;
                              granted_ = true;
                              enter();
                            });
}

void Contender::enter() {
  prefix_ = prefix_of(wish_.name);
  key_ = key_of(wish_.name, wish_.lease);
  ask<kv::TxnResult>(environment_.client, RequestKind::kCommand,
                     locks::enter(prefix_, key_, wish_.value, wish_.lease),
                     [this, self = shared_from_this()](const grpc::Status& status, kv::Revision revision,
                                                       kv::TxnResult&& result) {
                       if (!status.ok()) return fail(status);
                       entered(revision, std::move(result));
                     });
}

// The key is there; whether it is the first one is known, too.
void Contender::entered(kv::Revision revision, kv::TxnResult&& result) {
  const kv::KeyValue* found = result.succeeded ? nullptr : &read_by(result, 0).front();
  const std::vector<kv::KeyValue>& first = read_by(result, 1);
  entered_ = revision;
  created_ = found == nullptr ? revision : found->create_revision;
  const bool is_first = first.empty() || first.front().create_revision == created_;
  const bool proclaims = found != nullptr && wants_value(found->value);
  leaves_ = granted_ || !is_first;
  if (over()) return leave();
  if (proclaims) return proclaim(is_first);
  is_first ? win(revision) : look();
}

void Contender::proclaim(bool first) {
  ask<kv::TxnResult>(environment_.client, RequestKind::kCommand,
                     locks::proclaim(key_, created_, wish_.value, wish_.lease),
                     [this, first, self = shared_from_this()](const grpc::Status& status, kv::Revision revision,
                                                              kv::TxnResult&& result) {
                       if (over()) return;
                       if (!status.ok()) return fail(status);
                       if (!result.succeeded) return fail(lost());
                       first ? win(revision) : look();
                     });
}

void Contender::look() {
  std::string().swap(wish_.value);  // the store has it: calls may wait for long, and their bytes are not counted
  ask<kv::TxnResult>(environment_.client, RequestKind::kLinearizableQuery, locks::look(prefix_, key_, created_),
                     [this, self = shared_from_this()](const grpc::Status& status, kv::Revision revision,
                                                       kv::TxnResult&& result) {
                       if (over()) return;
                       if (!status.ok()) return fail(status);
                       looked(revision, std::move(result));
                     });
}

// A key of another create revision than the one that was entered has another place: keys that were created in between
// go first, and this call has not waited for them.
void Contender::looked(kv::Revision revision, kv::TxnResult&& result) {
  const std::vector<kv::KeyValue>& before = read_by(result, 0);
  const std::vector<kv::KeyValue>& own = read_by(result, 1);
  if (!before.empty()) return wait_for(before.front().key, revision + 1);
  if (own.empty() || own.front().create_revision != created_) return fail(lost());
  win(revision);
}

void Contender::wait_for(const std::string& key, kv::Revision revision) {
  pb::WatchCreateRequest request;
  request.set_key(key);
  request.set_start_revision(revision);
  request.add_filters(pb::WatchCreateRequest::NOPUT);
  woken_ = false;
  const grpc::Status status = watch(
      std::move(request), [this](const pb::WatchResponse& response) { take(response); },
      [this](const grpc::Status& over) { fail(over); });
  if (!status.ok()) fail(status);
}

// The key is gone; or the watch is, because of a compaction, and the next look finds out.
void Contender::take(const pb::WatchResponse& response) {
  const bool tells = response.events_size() > 0 || response.canceled();
  if (over() || !tells || std::exchange(woken_, true)) return;
  leave_watch([this] { look(); });
}

void Contender::win(kv::Revision last) {
  leaves_ = false;
  answer(entered_, last);
  finish(grpc::Status::OK);
}

void Contender::fail(const grpc::Status& status) {
  if (over()) return;
  leave();
  finish(status);
}

void Contender::gone() { leave(); }

// A server that stops leaves the keys of those who wait: they try the next one with their leases, and have their
// places.
void Contender::leave() {
  if (!std::exchange(leaves_, false) || environment_.stopped) return;
  environment_.leaves.add(granted_ ? locks::leave(key_, created_) : leave_unless_first(prefix_, key_, created_));
}

}  // namespace ingot::locks
