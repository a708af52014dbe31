// The connection of ingotctl's verbs to one daemon.
#pragma once

#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "services/ingotctl/options.h"

namespace ingot::inline services_ingotctl {

// Not thread-safe.
class Connection {
 public:
  // To an instance on a loopback address by way of its Unix socket, if it can be (find_instance_socket).
  explicit Connection(const CtlOptions& options);

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // Makes one call, bounded by the timeout:
  //   call([&](grpc::ClientContext* context) { return stub->Put(context, request, &response); })
  // A refusal by the daemon and a failure to reach it both come back as one sentence.
  template <typename Call>
  absl::Status call(Call make_call) const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + options_.timeout);
    return explain(make_call(&context));
  }

  absl::Status explain(const grpc::Status& status) const;

 private:
  const CtlOptions& options_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace ingot::services_ingotctl
