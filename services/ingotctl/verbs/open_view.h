// How a verb reads an instance's view in place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/etcd/kv.pb.h"
#include "replication/view/handle/handle.h"
#include "replication/view/tickets/connect.h"
#include "services/ingotctl/options.h"

namespace ingot::inline services_ingotctl_verbs {

// A view of an instance as this process reads it, beside a connection of its own to the view socket.
struct OpenView {
  std::string path;  // of the view socket
  ViewConnection connection;
  std::unique_ptr<ViewHandle> handle;
};

// Finds the instance's view socket, and waits for a view. Errors: one sentence that says why there is none, or that this
// user may not read it.
absl::StatusOr<OpenView> open_view(const CtlOptions& options);

// Connects to a view socket, and waits until that gives a view. Errors: as open_view.
absl::StatusOr<ViewConnection> connect_for_view(const std::string& path, const CtlOptions& options);

// As etcd has it: of a deleted key, its name and the revision.
mvccpb::KeyValue key_value_of(const ViewEntry& entry);

// What came of a read, in a sentence.
absl::Status status_of(ViewError error, const ViewHandle& handle);

// How long a verb waits for one answer.
int wait_ms(const CtlOptions& options);

// Waits until the view shows a revision, such as that of a write's answer.
absl::Status wait_for_revision(OpenView& view, std::int64_t revision, const CtlOptions& options);

}  // namespace ingot::services_ingotctl_verbs
