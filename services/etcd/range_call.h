// One Range call: asks the replicas page by page and ends with the whole answer, all of one revision.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proto/etcd/rpc.pb.h"
#include "replication/client/replica_client.h"
#include "replication/store/api.h"
#include "services/etcd/header.h"
#include "services/etcd/loop_call.h"

namespace ingot::etcd {

// Whether the answer to a RangeRequest (its encoded bytes) may be longer than a page: it asks for more than one key and
// not only for their number. Malformed bytes are not large. Reads the fields' heads only.
bool may_be_large(std::string_view request);

// Lives as long as a request to the replicas is in flight, and is used by the loop's thread only.
//
// The first page fixes the revision; its read is linearizable unless the call is serializable. The other pages ask for
// exactly that revision, so any replica that has reached it may answer. A replica that has not reached it refuses, and
// the page is asked for again as a linearizable query, which a replica that lags cannot answer. If a compaction passes
// the revision between two pages, and the caller did not ask for that very revision, the call begins again, at most
// kRangeRestartsMax times.
//
// Each page is serialized as it arrives, and these bytes are what is sent: an answer of many pages exists once, and no
// step of it handles more than a page, so that other calls wait for a page at most. A caller that has gone is asked no
// more pages for.
class RangeCall : public std::enable_shared_from_this<RangeCall> {
 public:
  // `request` is validated. `header` and `client` outlive the call.
  static void start(ReplicaClient& client, const HeaderSource& header, kv::RangeRequest request, bool serializable,
                    const LoopCall& call);

 private:
  RangeCall(ReplicaClient& client, const HeaderSource& header, kv::RangeRequest request, bool serializable,
            const LoopCall& call);

  void begin();
  void begin_again();
  void ask(RequestKind kind);
  void take(const ReplicaReply& reply);
  void take_page(kv::Result&& result);

  bool is_first_page() const { return request_.offset == 0; }

  ReplicaClient& client_;
  const HeaderSource& header_;
  kv::RangeRequest request_;
  const kv::Revision asked_revision_;  // 0 or less: the newest
  const bool serializable_;
  RequestKind last_kind_ = RequestKind::kLinearizableQuery;
  const LoopCall call_;
  std::vector<std::string> answer_;  // the pages so far, encoded
  std::size_t answer_bytes_ = 0;     // of keys and values
  int restarts_ = 0;
};

}  // namespace ingot::etcd
