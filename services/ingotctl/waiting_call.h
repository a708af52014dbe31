// A call that may wait for long, and what it has brought, for a verb that has a lease.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/interruption.h"
#include "services/ingotctl/lease_session.h"
#include "services/ingotctl/options.h"

namespace ingot::inline services_ingotctl {

// Makes the call, as Connection::call, without a deadline; again, if the daemon's front end dies meanwhile: with the
// same lease a call has the place that the one before had. An interruption, and the end of the lease, cancel it.
template <typename Call>
absl::Status wait_for(const CtlOptions& options, const Connection& connection, const LeaseSession& session,
                      Interruption& interruption, Call make_call) {
  while (true) {
    grpc::ClientContext context;
    std::atomic<bool> over{false};
    std::thread look([&] {
      while (!over && !session.ended() && !interruption.wait(std::chrono::milliseconds(50))) {
      }
      if (!over) context.TryCancel();
    });
    const grpc::Status status = make_call(&context);
    over = true;
    look.join();
    if (status.ok()) return absl::OkStatus();
    if (interruption.came()) return absl::CancelledError("interrupted before its turn came");
    if (session.ended()) return absl::AbortedError("its lease has ended before its turn came; try again");
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE) return connection.explain(status);
    if (!connection.channel()->WaitForConnected(std::chrono::system_clock::now() + options.timeout)) {
      return absl::UnavailableError(absl::StrCat("the daemon at ", options.endpoint, " has gone"));
    }
    interruption.wait(std::chrono::milliseconds(100));  // so that a daemon that ends each at once is not flooded
  }
}

// Waits for an interruption or the end of the lease. Returns whether the lease has ended.
inline bool hold_until_interrupted(const LeaseSession& session, Interruption& interruption) {
  while (!session.ended() && !interruption.wait(std::chrono::milliseconds(100))) {
  }
  return session.ended();
}

}  // namespace ingot::services_ingotctl
