// The verb `view`, and the reading of keys in place for `get --view`.
#pragma once

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "proto/etcd/rpc.pb.h"
#include "services/ingotctl/command.h"

namespace ingot::inline services_ingotctl_verbs {

void register_view(CLI::App& app, Command& chosen);

// Answers a range request from the instance's view: of its fields only key, range_end, limit and count_only. Errors:
// one sentence that says why there is no view, or that this user may not read it.
absl::Status read_view(const CtlOptions& options, const etcdserverpb::RangeRequest& request,
                       etcdserverpb::RangeResponse& response);

}  // namespace ingot::services_ingotctl_verbs
