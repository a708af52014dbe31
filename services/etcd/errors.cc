#include "services/etcd/errors.h"

#include <array>
#include <string>

#include "core/check.h"
#include "replication/store/limits.h"

namespace ingot::etcd {
namespace {

struct Entry {
  grpc::StatusCode code;
  const char* text;
};

constexpr std::array kEntries{
#define INGOT_X(name, code, text) Entry{grpc::StatusCode::code, text},
    INGOT_ETCD_ERRORS(INGOT_X)
#undef INGOT_X
};

const Entry& entry(Error error) { return kEntries[static_cast<std::size_t>(error)]; }

}  // namespace

const char* text_of(Error error) { return entry(error).text; }

grpc::Status to_status(Error error) { return {entry(error).code, entry(error).text}; }

grpc::Status malformed_request() {
  return {grpc::StatusCode::INTERNAL,
          "grpc: error unmarshalling request: malformed Protocol Buffers message; nothing was done"};
}

grpc::Status server_stopped() { return {grpc::StatusCode::UNAVAILABLE, "etcdserver: server stopped"}; }

grpc::Status answer_too_large(std::size_t bytes_max, const char* smaller) {
  return {grpc::StatusCode::RESOURCE_EXHAUSTED,
          "the answer would be longer than " + std::to_string(bytes_max) + " bytes, so nothing was done; " + smaller};
}

grpc::Status sort_too_large(std::size_t bytes_max) {
  return {grpc::StatusCode::RESOURCE_EXHAUSTED, "the results to be sorted would take more than " +
                                                    std::to_string(bytes_max) + " bytes, so nothing was done; " +
                                                    kSmallerRange};
}

grpc::Status overtaken_by_compactions() {
  return {grpc::StatusCode::UNAVAILABLE,
          "compactions kept overtaking this read; ask again, for fewer keys, or at a named revision"};
}

grpc::Status caller_gone() { return {grpc::StatusCode::CANCELLED, "the caller has gone"}; }

grpc::Status to_status(kv::Code code) {
  using enum grpc::StatusCode;
  switch (code) {
    case kv::Code::kOk:
      break;
    case kv::Code::kEmptyKey:
      return {INVALID_ARGUMENT, "etcdserver: key is not provided"};
    case kv::Code::kKeyNotFound:
      return {INVALID_ARGUMENT, "etcdserver: key not found"};
    case kv::Code::kValueProvided:
      return {INVALID_ARGUMENT, "etcdserver: value is provided"};
    case kv::Code::kLeaseProvided:
      return {INVALID_ARGUMENT, "etcdserver: lease is provided"};
    case kv::Code::kLeaseNotFound:
      return {NOT_FOUND, "etcdserver: requested lease not found"};
    case kv::Code::kTooManyOps:
    case kv::Code::kTooDeep:  // etcd has no bound on depth; its nearest error is this
      return {INVALID_ARGUMENT, "etcdserver: too many operations in txn request"};
    case kv::Code::kDuplicateKey:
      return {INVALID_ARGUMENT, "etcdserver: duplicate key given in txn request"};
    case kv::Code::kCompacted:
      return {OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted"};
    case kv::Code::kFutureRevision:
      return {OUT_OF_RANGE, "etcdserver: mvcc: required revision is a future revision"};
    case kv::Code::kNoSpace:
      return {RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded"};
    case kv::Code::kLeaseExists:
      return {FAILED_PRECONDITION, "etcdserver: lease already exists"};
    case kv::Code::kLeaseTtlTooLarge:
      return {OUT_OF_RANGE, "etcdserver: too large lease TTL"};
    case kv::Code::kTooManyLeases:
      return {RESOURCE_EXHAUSTED, "there are " + std::to_string(kLeasesMax) +
                                      " leases, the most that Ingot holds, so none was granted; revoke some"};
    case kv::Code::kResultTooLarge:
      return answer_too_large(kResultBytesMax, "ask for less");
    case kv::Code::kMalformed:
      return {INTERNAL, "the store could not read the request; it was not carried out"};
  }
  INGOT_CHECK(false, "success is not an error, and every other code is listed above");
}

grpc::Status to_status(const ReplicaReply& reply) {
  switch (reply.outcome) {
    case ReplicaReply::Outcome::kOk:
      return grpc::Status::OK;
    case ReplicaReply::Outcome::kOverloaded:
      return to_status(Error::kTooManyRequests);
    case ReplicaReply::Outcome::kBlocked:
      return {grpc::StatusCode::UNAVAILABLE, "nothing was done: " + std::string(reply.payload)};
    case ReplicaReply::Outcome::kUnknown:
      return to_status(Error::kTimeout);
  }
  INGOT_CHECK(false, "every outcome is listed above");
}

}  // namespace ingot::etcd
