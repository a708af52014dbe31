// Sends the same random requests to two servers of etcd's API and compares their answers field by field: values,
// revisions, counts, order, and of errors the code and the text. Ids and terms need not be equal, only not 0. Exit code
// 0: no difference. 1: a difference, printed with its seed; or a server did not answer a request in time ("the first
// server gave up"): then its outcome is unknown, and the comparison ends.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "proto/etcd/rpc.grpc.pb.h"
#include "services/cli/cli.h"
#include "tests/services/etcd/compared_servers.h"
#include "tests/services/etcd/random_requests.h"

namespace ingot {
namespace {

namespace pb = etcdserverpb;

// One server's answer. `text` is compared, and printed.
struct Answer {
  bool ok = false;
  std::int64_t revision = 0;
  std::string text;
};

class Server {
 public:
  explicit Server(const std::string& endpoint)
      : channel_(grpc::CreateChannel(endpoint, grpc::InsecureChannelCredentials())),
        kv_(pb::KV::NewStub(channel_)),
        lease_(pb::Lease::NewStub(channel_)) {}

  Answer ask(const KvRequest& request) {
    return std::visit([this](const auto& r) { return ask(r); }, request);
  }

 private:
  Answer ask(const pb::RangeRequest& r) { return call(*kv_, &pb::KV::Stub::Range, r, pb::RangeResponse()); }
  Answer ask(const pb::PutRequest& r) { return call(*kv_, &pb::KV::Stub::Put, r, pb::PutResponse()); }
  Answer ask(const pb::DeleteRangeRequest& r) {
    return call(*kv_, &pb::KV::Stub::DeleteRange, r, pb::DeleteRangeResponse());
  }
  Answer ask(const pb::TxnRequest& r) { return call(*kv_, &pb::KV::Stub::Txn, r, pb::TxnResponse()); }
  Answer ask(const pb::CompactionRequest& r) { return call(*kv_, &pb::KV::Stub::Compact, r, pb::CompactionResponse()); }
  Answer ask(const pb::LeaseGrantRequest& r) {
    return call(*lease_, &pb::Lease::Stub::LeaseGrant, r, pb::LeaseGrantResponse());
  }
  Answer ask(const pb::LeaseRevokeRequest& r) {
    return call(*lease_, &pb::Lease::Stub::LeaseRevoke, r, pb::LeaseRevokeResponse());
  }
  Answer ask(const pb::LeaseTimeToLiveRequest& r) {
    return call(*lease_, &pb::Lease::Stub::LeaseTimeToLive, r, pb::LeaseTimeToLiveResponse());
  }
  Answer ask(const pb::LeaseLeasesRequest& r) {
    return call(*lease_, &pb::Lease::Stub::LeaseLeases, r, pb::LeaseLeasesResponse());
  }

  // What depends on time, and etcd's order, which is that of its maps.
  template <typename Response>
  static void make_comparable(Response&) {}
  static void make_comparable(pb::LeaseTimeToLiveResponse& response) {
    if (response.ttl() > 0) response.set_ttl(1);
    std::sort(response.mutable_keys()->begin(), response.mutable_keys()->end());
  }
  static void make_comparable(pb::LeaseLeasesResponse& response) {
    std::sort(response.mutable_leases()->begin(), response.mutable_leases()->end(),
              [](const auto& a, const auto& b) { return a.id() < b.id(); });
  }

  template <typename Stub, typename Method, typename Request, typename Response>
  Answer call(Stub& stub, Method method, const Request& request, Response response) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    const grpc::Status status = (stub.*method)(&context, request, &response);
    if (!status.ok()) {
      return {false, 0, "error " + std::to_string(status.error_code()) + ": " + status.error_message()};
    }
    pb::ResponseHeader& header = *response.mutable_header();
    const std::int64_t revision = header.revision();
    if (header.cluster_id() == 0 || header.member_id() == 0 || header.raft_term() == 0) {
      return {false, revision, "a header with a zero: " + header.ShortDebugString()};
    }
    header.clear_cluster_id();
    header.clear_member_id();
    header.clear_raft_term();
    make_comparable(response);
    return {true, revision, response.DebugString()};
  }

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<pb::KV::Stub> kv_;
  std::unique_ptr<pb::Lease::Stub> lease_;
};

std::string describe(const KvRequest& request) {
  return std::visit([](const auto& r) { return r.GetDescriptor()->name() + " {\n" + r.DebugString() + "}"; }, request);
}

// Whether the server's error is that of a busy machine, on which a request waited for too long.
bool gave_up(const Answer& answer) {
  return !answer.ok && (answer.text.find("request timed out") != std::string::npos ||
                        answer.text.find("too many requests") != std::string::npos);
}

// A transaction may have several faults; etcd 3.6 tells of the first one, before of the first of a put.
bool another_fault(const KvRequest& request, const Answer& a, const Answer& b) {
  return std::holds_alternative<pb::TxnRequest>(request) && !a.ok && !b.ok;
}

absl::Status compare(const ComparedServers& servers, bool serializable) {
  const auto& [a, b, seed, count, of_3_6] = servers;
  Server server_a(a), server_b(b);
  RandomRequests requests(seed, serializable);
  int errors = 0;
  for (int i = 0; i < count; ++i) {
    const KvRequest request = requests.next();
    const Answer from_a = server_a.ask(request);
    const Answer from_b = server_b.ask(request);
    if (gave_up(from_a) || gave_up(from_b)) {
      const char* which = gave_up(from_b) ? "second" : "first";
      std::printf("seed %llu, request %d: the %s server gave up\n", static_cast<unsigned long long>(seed), i, which);
      return absl::UnavailableError("a server gave up");
    }
    if (from_a.text != from_b.text && !(of_3_6 && another_fault(request, from_a, from_b))) {
      std::printf("seed %llu, request %d:\n%s\n\n%s answered:\n%s\n\n%s answered:\n%s\n",
                  static_cast<unsigned long long>(seed), i, describe(request).c_str(), a.c_str(), from_a.text.c_str(),
                  b.c_str(), from_b.text.c_str());
      return absl::InternalError("the servers differ");
    }
    errors += !from_a.ok;
    requests.observe(from_a.revision);
    const auto* compaction = std::get_if<pb::CompactionRequest>(&request);
    if (compaction != nullptr && from_a.ok) requests.observe_compaction(compaction->revision());
  }
  std::printf("seed %llu: %d requests, %d of them refused, no difference\n", static_cast<unsigned long long>(seed),
              count, errors);
  return absl::OkStatus();
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  CLI::App app("Compares two servers of etcd's API, request by random request. Both must be empty.");
  ingot::ComparedServers servers;
  bool serializable = false;
  servers.add_flags(app);
  servers.add_3_6_flag(app);
  app.add_flag("--serializable", serializable, "some reads are; neither server may lag behind itself");
  return ingot::run_cli(app, argc, argv, [&] { return ingot::compare(servers, serializable); });
}
