// Sends the same wrong requests of Lease, Lock and Election to two servers of etcd's API and compares their answers: of
// errors the code and the text, of others each field. Of a request that is no message the texts only begin alike, since
// etcd's goes on in Go's words. Exit code 0: no difference. 1: a difference, printed with its seed; or a server did not
// answer in time ("the first server gave up").
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "proto/etcd/election.grpc.pb.h"
#include "proto/etcd/lock.grpc.pb.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "services/cli/cli.h"
#include "tests/services/etcd/compared_servers.h"
#include "tests/services/etcd/wrong_requests.h"

namespace ingot {
namespace {

namespace ep = v3electionpb;
namespace pb = etcdserverpb;

constexpr std::int64_t kLease = 7;
constexpr const char* kElection = "led";
constexpr const char* kUnreadable = "grpc: ";  // the begin of both servers' texts

struct Answer {
  grpc::Status status;
  std::string text;  // what is compared
};

grpc::ByteBuffer buffer_of(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string bytes_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return "";
  std::string bytes;
  for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

// Field 1 of each answer is the header, whose ids are each server's own.
std::string comparable(const std::string& bytes) {
  pb::LeaseRevokeResponse response;  // a header alone: the other fields stay as they are
  if (!response.ParseFromString(bytes)) return "no message";
  pb::ResponseHeader& header = *response.mutable_header();
  if (header.cluster_id() == 0 || header.member_id() == 0 || header.raft_term() == 0) return "a header with a zero";
  header.clear_cluster_id();
  header.clear_member_id();
  header.clear_raft_term();
  return response.DebugString();
}

class Server {
 public:
  explicit Server(const std::string& endpoint)
      : channel_(grpc::CreateChannel(endpoint, grpc::InsecureChannelCredentials())), stub_(channel_) {}

  // What all requests find: a lease that ends by no time, and its leader.
  ep::LeaderKey prepare() {
    pb::LeaseGrantRequest grant;
    grant.set_id(kLease);
    grant.set_ttl(36'000);
    pb::LeaseGrantResponse granted;
    INGOT_CHECK(call([&](grpc::ClientContext* context) {
                  return pb::Lease::NewStub(channel_)->LeaseGrant(context, grant, &granted);
                }).ok());
    ep::CampaignRequest campaign;
    campaign.set_name(kElection);
    campaign.set_lease(kLease);
    ep::CampaignResponse won;
    INGOT_CHECK(call([&](grpc::ClientContext* context) {
                  return ep::Election::NewStub(channel_)->Campaign(context, campaign, &won);
                }).ok());
    return won.leader();
  }

  Answer ask(const WrongRequest& request) {
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const grpc::ByteBuffer bytes = buffer_of(request.bytes);
    const auto call = stub_.PrepareUnaryCall(&context, request.path, bytes, &queue);
    call->StartCall();
    grpc::ByteBuffer answered;
    Answer answer;
    call->Finish(&answered, &answer.status, this);
    void* tag = nullptr;
    bool ok = false;
    INGOT_CHECK(queue.Next(&tag, &ok) && tag == this);
    answer.text = answer.status.ok() ? comparable(bytes_of(answered)) : text_of(request, answer.status);
    return answer;
  }

  // All keys.
  std::string state() {
    pb::RangeRequest all;
    all.set_key(std::string(1, '\0'));
    all.set_range_end(std::string(1, '\0'));
    return ask({"/etcdserverpb.KV/Range", all.SerializeAsString(), ""}).text;
  }

 private:
  template <typename Call>
  static grpc::Status call(Call make) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    return make(&context);
  }

  static std::string text_of(const WrongRequest& request, const grpc::Status& status) {
    const bool begins = !request.readable && absl::StartsWith(status.error_message(), kUnreadable);
    return absl::StrCat("error ", status.error_code(), ": ", begins ? kUnreadable : status.error_message());
  }

  std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
};

// Whether the server's error is that of a busy machine, on which a request waited for too long.
bool gave_up(const Answer& answer) {
  return absl::StrContains(answer.status.error_message(), "request timed out") ||
         absl::StrContains(answer.status.error_message(), "too many requests");
}

absl::Status differ(std::uint64_t seed, const std::string& what, const std::string& a, const std::string& b) {
  std::printf("seed %llu, %s:\nthe first:  %s\nthe second: %s\n", static_cast<unsigned long long>(seed), what.c_str(),
              a.c_str(), b.c_str());
  return absl::InternalError("the servers differ");
}

absl::Status compare(const std::string& a, const std::string& b, std::uint64_t seed, int count) {
  Server server_a(a), server_b(b);
  const ep::LeaderKey leader = server_a.prepare(), other = server_b.prepare();
  if (leader.DebugString() != other.DebugString()) {
    return differ(seed, "the leader", leader.DebugString(), other.DebugString());
  }
  WrongRequests requests(seed, kLease, leader);
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    const WrongRequest request = requests.next();
    const Answer from_a = server_a.ask(request), from_b = server_b.ask(request);
    if (gave_up(from_a) || gave_up(from_b)) {
      std::printf("seed %llu, request %d: the %s server gave up\n", static_cast<unsigned long long>(seed), i,
                  gave_up(from_b) ? "second" : "first");
      return absl::UnavailableError("a server gave up");
    }
    const std::string what = absl::StrCat("request ", i, ", ", request.path, " ", request.text);
    if (from_a.text != from_b.text) return differ(seed, what, from_a.text, from_b.text);
    refused += !from_a.status.ok();
  }
  if (server_a.state() != server_b.state()) return differ(seed, "at the end", server_a.state(), server_b.state());
  std::printf("seed %llu: %d wrong requests, %d refused, no difference\n", static_cast<unsigned long long>(seed), count,
              refused);
  return absl::OkStatus();
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  CLI::App app("Compares how two servers of etcd's API answer wrong requests of leases, locks and elections. Both must "
               "be empty.");
  ingot::ComparedServers servers;
  servers.add_flags(app);
  return ingot::run_cli(app, argc, argv, [&] {
    return ingot::compare(servers.a, servers.b, servers.seed, servers.count);
  });
}
