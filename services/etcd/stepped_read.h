// A read of much that asks the replicas for one step after the other: the pages of a range, the parts of a hash.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <grpcpp/support/status.h>

#include "replication/client/replica_client.h"
#include "replication/store/api.h"
#include "replication/store/limits.h"
#include "services/etcd/errors.h"
#include "services/etcd/limits.h"
#include "services/etcd/long_reads.h"
#include "services/etcd/store_answer.h"
#include "services/etcd/store_request.h"

namespace ingot::etcd {

// Lives as long as a request to the replicas is in flight or waits for its turn. Used by one thread at a time.
//
// The first step fixes the revision; it is linearizable unless the read is serializable. The other steps ask for
// exactly that revision, so any replica that has reached it may answer. One that has not reached it refuses, and the
// step is asked for again as a linearizable query, which a replica that lags cannot answer. If a compaction passes the
// revision between two steps, and the caller did not ask for that very revision, the read begins again, at most
// kReadRestartsMax times. A caller that has gone is asked no more steps for.
template <typename Request, typename Body>
class SteppedRead : public std::enable_shared_from_this<SteppedRead<Request, Body>> {
 protected:
  // `client` and `reads` outlive the read.
  SteppedRead(ReplicaClient& client, LongReads& reads, Request request, bool serializable)
      : reads_(reads),
        request_(std::move(request)),
        client_(client),
        asked_revision_(request_.revision),
        serializable_(serializable) {}
  ~SteppedRead() = default;

  void begin() {
    reset();
    first_ = true;
    request_.revision = asked_revision_;
    request_.step_entries = kFirstStepEntries;
    ask(serializable_ ? RequestKind::kLocalQuery : RequestKind::kLinearizableQuery);
  }

  // What has been read so far is of no use.
  void begin_again() { ++restarts_ <= kReadRestartsMax ? begin() : fail(overtaken_by_compactions()); }

  // With the next step, in its turn.
  void go_on() {
    first_ = false;
    request_.step_entries = kStepEntriesMax;
    reads_.enter([self = this->shared_from_this()] {
      self->in_turn_ = true;
      self->ask(RequestKind::kLocalQuery);
    });
  }

  LongReads& reads_;
  Request request_;    // of the next step
  bool first_ = true;  // the step that is asked for, or is being taken

 private:
  virtual void reset() = 0;  // nothing is read yet
  // To call go_on() or begin_again(), or to end the read. `revision`: the store's, when it answered.
  virtual void take_step(Body&& step, kv::Revision revision) = 0;
  virtual bool wanted() const = 0;  // false: nobody waits any more
  virtual void fail(const grpc::Status& status) = 0;

  // Only the first request's length is the client's: another one has a key for its position besides (kQueryBytesMax).
  void ask(RequestKind kind) {
    last_kind_ = kind;
    std::string payload;
    const grpc::Status fits = to_payload(kv::Request(request_), payload);
    if (first_ && !fits.ok()) return fail(fits);
    if (!first_ && !wanted()) {
      leave_turn();
      return fail(caller_gone());
    }
    client_.submit(kind, std::move(payload),
                   [self = this->shared_from_this()](const ReplicaReply& reply) { self->take(reply); });
  }

  void take(const ReplicaReply& reply) {
    kv::Result result;
    const grpc::Status status = open<Body>(reply, result);
    const bool lags = result.code == kv::Code::kFutureRevision && last_kind_ == RequestKind::kLocalQuery;
    if (!first_ && lags) return ask(RequestKind::kLinearizableQuery);
    leave_turn();
    if (status.ok()) {
      if (request_.revision <= 0) request_.revision = result.revision;
      return take_step(std::get<Body>(std::move(result.body)), result.revision);
    }
    if (!first_ && result.code == kv::Code::kCompacted && asked_revision_ <= 0) return begin_again();
    fail(status);
  }

  void leave_turn() {
    if (std::exchange(in_turn_, false)) reads_.leave();
  }

  ReplicaClient& client_;
  const kv::Revision asked_revision_;  // 0 or less: the newest
  const bool serializable_;
  RequestKind last_kind_ = RequestKind::kLinearizableQuery;
  bool in_turn_ = false;  // reads_ waits for leave()
  int restarts_ = 0;
};

}  // namespace ingot::etcd
