#include "services/etcd/errors.h"

#include <array>
#include <string>

#include "core/check.h"
#include "core/limits.h"

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

grpc::Status answer_too_large(std::size_t bytes_max) {
  return {grpc::StatusCode::RESOURCE_EXHAUSTED, "the answer would be longer than " + std::to_string(bytes_max) +
                                                    " bytes, so nothing was done; ask for fewer keys, or use limit"};
}

grpc::Status to_status(kv::Code code) {
  switch (code) {
    case kv::Code::kOk:
      break;
    case kv::Code::kEmptyKey:
      return to_status(Error::kEmptyKey);
    case kv::Code::kKeyNotFound:
      return to_status(Error::kKeyNotFound);
    case kv::Code::kValueProvided:
      return to_status(Error::kValueProvided);
    case kv::Code::kLeaseProvided:
      return to_status(Error::kLeaseProvided);
    case kv::Code::kLeaseNotFound:
      return to_status(Error::kLeaseNotFound);
    case kv::Code::kTooManyOps:
    case kv::Code::kTooDeep:  // etcd has no bound on depth; its nearest error is this
      return to_status(Error::kTooManyOperations);
    case kv::Code::kDuplicateKey:
      return to_status(Error::kDuplicateKey);
    case kv::Code::kCompacted:
      return to_status(Error::kCompacted);
    case kv::Code::kFutureRevision:
      return to_status(Error::kFutureRevision);
    case kv::Code::kResultTooLarge:
      return answer_too_large(kResultBytesMax);
    case kv::Code::kMalformed:
      return {grpc::StatusCode::INTERNAL, "the store could not read the request; it was not carried out"};
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
