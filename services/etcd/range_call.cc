#include "services/etcd/range_call.h"

#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "replication/store/limits.h"
#include "replication/store/sort.h"
#include "services/etcd/errors.h"
#include "services/etcd/limits.h"
#include "services/etcd/translate.h"

namespace ingot::etcd {

namespace pb = etcdserverpb;
using google::protobuf::internal::WireFormatLite;

bool may_be_large(std::string_view request) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(request.data()),
                                            static_cast<int>(request.size()));
  constexpr std::uint32_t kRangeEnd =
      WireFormatLite::MakeTag(pb::RangeRequest::kRangeEndFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  constexpr std::uint32_t kCountOnly =
      WireFormatLite::MakeTag(pb::RangeRequest::kCountOnlyFieldNumber, WireFormatLite::WIRETYPE_VARINT);
  bool many = false;
  std::uint64_t count_only = 0;
  for (std::uint32_t tag = in.ReadTag(); tag != 0; tag = in.ReadTag()) {
    many = many || tag == kRangeEnd;
    const bool read = tag == kCountOnly ? in.ReadVarint64(&count_only) : WireFormatLite::SkipField(&in, tag);
    if (!read) return false;
  }
  return many && count_only == 0;
}

namespace {

bool strips_values(const kv::RangeRequest& request) {
  return request.keys_only && request.sort_target == kv::SortTarget::kValue;
}

}  // namespace

void RangeCall::start(const RangeParts& parts, kv::RangeRequest request, bool serializable, const LoopCall& call) {
  std::shared_ptr<RangeCall>(new RangeCall(parts, std::move(request), serializable, call))->begin();
}

RangeCall::RangeCall(const RangeParts& parts, kv::RangeRequest request, bool serializable, const LoopCall& call)
    : SteppedRead(parts.client, parts.reads, std::move(request), serializable),
      parts_(parts),
      call_(call),
      strips_values_(strips_values(request_)) {
  if (strips_values_) request_.keys_only = false;
}

void RangeCall::reset() {
  if (!first_key_.empty()) request_.key = std::exchange(first_key_, {});
  request_.taken = 0;
  count_ = 0;
  more_ = false;
  answer_.clear();
  answer_bytes_ = 0;
  if (!kv::in_key_order(request_)) sorted_.emplace(request_.sort_order, request_.sort_target, request_.limit);
}

void RangeCall::take_step(kv::RangeResult&& page, kv::Revision revision) {
  std::string next_key = std::move(page.next_key);
  if (first_) revision_ = revision;
  count_ += page.count;
  more_ = more_ || page.more;
  const std::size_t results = page.kvs.size();
  if (!add(page)) return;
  const bool last = next_key.empty();
  if (sorted_) {
    if (last) return merge();
  } else {
    give(std::move(page.kvs), last);
    if (last) return;
  }
  if (first_) first_key_ = std::move(request_.key);
  if (kv::taken_by_key(request_) > 0) request_.taken += static_cast<std::int64_t>(results);
  request_.key = std::move(next_key);
  go_on();
}

// False: the call has ended, since its answer would be too large.
bool RangeCall::add(kv::RangeResult& page) {
  if (sorted_) {
    sorted_->add(std::move(page.kvs));
    if (sorted_->bytes() <= kSortBytesMax) return true;
    call_.finish(sort_too_large(kSortBytesMax));
    return false;
  }
  for (const kv::KeyValue& entry : page.kvs) answer_bytes_ += entry.key.size() + entry.value.size();
  if (answer_bytes_ <= kRangeBytesMax) return true;
  call_.finish(answer_too_large(kRangeBytesMax, kSmallerRange));
  return false;
}

// One piece, and the next one in a later round, when all that wait have had their turn.
void RangeCall::merge() {
  std::vector<kv::KeyValue> results = sorted_->take(kPageBytesMax);
  more_ = more_ || sorted_->cut();
  for (kv::KeyValue& entry : results) {
    if (strips_values_) entry.value.clear();
    answer_bytes_ += entry.key.size() + entry.value.size();
  }
  if (answer_bytes_ > kRangeBytesMax) return call_.finish(answer_too_large(kRangeBytesMax, kSmallerRange));
  const bool last = sorted_->done();
  give(std::move(results), last);
  if (last) return;
  if (!call_.open()) return call_.finish(caller_gone());
  parts_.later([this, self = shared_from_this()] {
    reads_.enter([this, self] {
      merge();
      reads_.leave();
    });
  });
}

// An encoded message may be cut between its fields: parts that follow one another are one message. Its count, and
// whether there are more results, are known with the last one, which ends the call.
void RangeCall::give(std::vector<kv::KeyValue> kvs, bool last) {
  if (kvs.empty() && !last && !answer_.empty()) return;
  kv::RangeResult piece;
  piece.kvs = std::move(kvs);
  if (last) {
    piece.count = count_;
    piece.more = more_;
  }
  pb::RangeResponse response;
  if (answer_.empty()) {
    parts_.header.fill(response.mutable_header());
    response.mutable_header()->set_revision(revision_);
  }
  translate(std::move(piece), &response);
  if (last && answer_.empty()) return call_.answer(response);
  answer_.push_back(response.SerializePartialAsString());
  if (last) call_.answer_pieces(std::move(answer_));
}

}  // namespace ingot::etcd
