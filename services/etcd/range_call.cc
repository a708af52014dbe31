#include "services/etcd/range_call.h"

#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "replication/requests/limits.h"
#include "services/etcd/errors.h"
#include "services/etcd/limits.h"
#include "services/etcd/store_answer.h"
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

void RangeCall::start(ReplicaClient& client, const HeaderSource& header, kv::RangeRequest request, bool serializable,
                      const LoopCall& call) {
  std::shared_ptr<RangeCall>(new RangeCall(client, header, std::move(request), serializable, call))->begin();
}

RangeCall::RangeCall(ReplicaClient& client, const HeaderSource& header, kv::RangeRequest request, bool serializable,
                     const LoopCall& call)
    : client_(client),
      header_(header),
      request_(std::move(request)),
      asked_revision_(request_.revision),
      serializable_(serializable),
      call_(call) {}

void RangeCall::begin() {
  request_.page = true;
  request_.offset = 0;
  request_.revision = asked_revision_;
  answer_.clear();
  answer_bytes_ = 0;
  ask(serializable_ ? RequestKind::kLocalQuery : RequestKind::kLinearizableQuery);
}

void RangeCall::ask(RequestKind kind) {
  last_kind_ = kind;
  std::string payload = kv::encode(kv::Request(request_));
  if (payload.size() > kRequestBytesMax) return call_.finish(to_status(Error::kRequestTooLarge));
  client_.submit(kind, std::move(payload), [self = shared_from_this()](const ReplicaReply& reply) { self->take(reply); });
}

void RangeCall::take(const ReplicaReply& reply) {
  kv::Result result;
  grpc::Status status = open<kv::RangeResult>(reply, result);
  if (status.ok()) return take_page(std::move(result));
  if (!is_first_page() && result.code == kv::Code::kFutureRevision && last_kind_ == RequestKind::kLocalQuery) {
    return ask(RequestKind::kLinearizableQuery);
  }
  if (!is_first_page() && result.code == kv::Code::kCompacted && asked_revision_ <= 0) return begin_again();
  call_.finish(status);
}

// An encoded message may be cut between its fields: parts that follow one another are one message.
void RangeCall::take_page(kv::Result&& result) {
  auto& page = std::get<kv::RangeResult>(result.body);
  const std::int64_t next_offset = page.next_offset;
  for (const kv::KeyValue& entry : page.kvs) answer_bytes_ += entry.key.size() + entry.value.size();
  if (answer_bytes_ > kRangeBytesMax) return call_.finish(answer_too_large(kRangeBytesMax));
  pb::RangeResponse response;
  if (is_first_page()) {
    header_.fill(response.mutable_header());
    response.mutable_header()->set_revision(result.revision);
    if (asked_revision_ <= 0) request_.revision = result.revision;
  }
  const bool only = is_first_page() && next_offset == 0;
  translate(std::move(page), &response);
  if (only) return call_.answer(response);
  if (next_offset != 0) {
    response.clear_more();
    response.clear_count();
  }
  answer_.push_back(response.SerializePartialAsString());
  if (next_offset == 0) return call_.answer_pieces(std::move(answer_));
  if (!call_.open()) return call_.finish({grpc::StatusCode::CANCELLED, "the caller has gone"});
  request_.offset = next_offset;
  ask(RequestKind::kLocalQuery);
}

void RangeCall::begin_again() {
  if (++restarts_ > kRangeRestartsMax) {
    return call_.finish({grpc::StatusCode::UNAVAILABLE,
                         "compactions kept overtaking this range while it was read; ask again, or for fewer keys"});
  }
  begin();
}

}  // namespace ingot::etcd
