// One Range call: asks the replicas page by page and ends with the whole answer, all of one revision.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/etcd/rpc.pb.h"
#include "replication/client/replica_client.h"
#include "replication/store/api.h"
#include "services/etcd/header.h"
#include "services/etcd/long_reads.h"
#include "services/etcd/loop_call.h"
#include "services/etcd/sorted_pages.h"
#include "services/etcd/stepped_read.h"

namespace ingot::etcd {

// Whether the answer to a RangeRequest (its encoded bytes) may be longer than a page: it asks for more than one key and
// not only for their number. Malformed bytes are not large. Reads the fields' heads only.
bool may_be_large(std::string_view request);

// What the range calls of one loop share. All outlive the calls.
struct RangeParts {
  ReplicaClient& client;
  const HeaderSource& header;
  LongReads& reads;
  std::function<void(std::function<void()>)> later;  // calls it in a later round of the loop
};

// Lives as long as a task waits, too, and is used by the loop's thread only.
//
// Each page is serialized as it arrives, and these bytes are what is sent: an answer of many pages exists once, and no
// step of it handles more than a page, so that other calls wait for a page at most. Pages of a sorted range are merged
// first, piece by piece.
class RangeCall final : public SteppedRead<kv::RangeRequest, kv::RangeResult> {
 public:
  // `request` is validated.
  static void start(const RangeParts& parts, kv::RangeRequest request, bool serializable, const LoopCall& call);

 private:
  RangeCall(const RangeParts& parts, kv::RangeRequest request, bool serializable, const LoopCall& call);

  void reset() override;
  void take_step(kv::RangeResult&& page, kv::Revision revision) override;
  bool wanted() const override { return call_.open(); }
  void fail(const grpc::Status& status) override { call_.finish(status); }
  bool add(kv::RangeResult& page);
  void merge();
  void give(std::vector<kv::KeyValue> kvs, bool last);

  const RangeParts& parts_;
  std::string first_key_;  // once other pages are asked for
  const LoopCall call_;
  const bool strips_values_;   // the values are asked for to sort by them, and not wanted
  kv::Revision revision_ = 0;  // of the first page's answer, for the header
  std::int64_t count_ = 0;
  bool more_ = false;
  std::vector<std::string> answer_;  // its pieces so far, encoded
  std::size_t answer_bytes_ = 0;     // of keys and values
  std::optional<SortedPages> sorted_;
};

}  // namespace ingot::etcd
