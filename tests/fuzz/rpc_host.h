// What sessions are fed with: a host without a socket, and methods that answer, keep their calls, or stream.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "services/rpc/server/session.h"
#include "services/rpc/server/shared.h"

namespace ingot::fuzz {

class Host final : public rpc::SessionHost {
 public:
  void has_output() override {}
  void read_on() override {}
  const Caller& caller() const override { return caller_; }
  std::size_t unsent_bytes() const override { return 0; }

 private:
  const Caller caller_{Caller::Door::kTcp, "127.0.0.1:1", std::nullopt};
};

// All others are streams that a Handler serves. `held`: the calls that are kept; it outlives the methods.
template <typename Handler>
rpc::Methods methods_with(std::vector<rpc::Call>& held) {
  rpc::Methods methods;
  methods.add("/t.T/Echo", {.unary = [](rpc::Call call, std::string_view request) {
                call.send_bytes(request);
                call.finish(grpc::Status::OK);
              }});
  methods.add("/t.T/Hold", {.weight = rpc::Method::Weight::kLarge,
                            .unary = [&held](rpc::Call call, std::string_view) { held.push_back(call); }});
  methods.set_fallback([&held](rpc::Call call, std::string_view) {
    held.push_back(call);
    return std::make_unique<Handler>(call);
  });
  return methods;
}

// As the owner of some calls ends the newest one, now and then.
inline void end_newest(std::vector<rpc::Call>& held) {
  if (held.empty()) return;
  held.back().resume();
  held.back().finish({grpc::StatusCode::UNKNOWN, "text"});
  held.pop_back();
}

// Once a connection has ended.
inline void check_nothing_is_left(rpc::Shared& shared, const std::vector<rpc::Call>& held) {
  shared.handlers_over.clear();
  const std::size_t kept = shared.received_bytes + shared.head_bytes + shared.output_bytes + shared.bounded_bytes;
  INGOT_CHECK(shared.calls.open_calls() == 0 && kept == 0, "nothing of a connection outlives it");
  for (const rpc::Call& call : held) INGOT_CHECK(!call.open());
}

}  // namespace ingot::fuzz
