// Metadata of a call that is passed on, in both directions.
#pragma once

#include <map>

#include <grpcpp/client_context.h>
#include <grpcpp/support/string_ref.h>

#include "services/access/caller.h"
#include "services/rpc/server/call.h"

namespace ingot::rpc::inline passing {

// Adds the caller's metadata to `context`, at most kPassedMetadataBytesMax, and the caller under kCallerKey. Left
// out: what the transport itself uses, what gRPC would not take, and what the client sent under kCallerKey.
void pass_metadata(const Call& call, const Caller& from, grpc::ClientContext& context);

// What a server has sent, without what the transport itself uses and the status.
Metadata metadata_of(const std::multimap<grpc::string_ref, grpc::string_ref>& sent);

}  // namespace ingot::rpc::passing
