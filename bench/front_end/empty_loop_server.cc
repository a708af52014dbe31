#include "bench/front_end/empty_loop_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <google/protobuf/arena.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/etcd/rpc.pb.h"
#include "services/cli/endpoint.h"
#include "services/rpc/loop/asio_waiter.h"
#include "services/rpc/server/server.h"
#include "transport/host/event_loop.h"

namespace ingot::bench {
namespace {

namespace pb = etcdserverpb;

absl::StatusOr<Descriptor> listening_socket(const std::string& address) {
  const auto endpoint = parse_host_port(address);
  if (!endpoint.ok()) return endpoint.status();
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(endpoint->port));
  if (::inet_pton(AF_INET, endpoint->host.c_str(), &name.sin_addr) != 1) {
    return absl::InvalidArgumentError(absl::StrCat(endpoint->host, " is no IPv4 address"));
  }
  Descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!fd.valid() || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0) {
    return absl::AlreadyExistsError(absl::StrCat(address, " cannot be listened on"));
  }
  return fd;
}

// Reads the request and answers with a header, which clients need.
template <typename Request, typename Response>
rpc::Method empty_method() {
  rpc::Method method;
  method.unary = [](rpc::Call call, std::string_view bytes) {
    google::protobuf::Arena arena;
    auto* request = google::protobuf::Arena::CreateMessage<Request>(&arena);
    if (!request->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return call.finish({grpc::StatusCode::INTERNAL, "malformed"});
    }
    auto* response = google::protobuf::Arena::CreateMessage<Response>(&arena);
    response->mutable_header()->set_cluster_id(1);
    response->mutable_header()->set_member_id(1);
    response->mutable_header()->set_revision(1);
    response->mutable_header()->set_raft_term(1);
    call.send(*response);
    call.finish(grpc::Status::OK);
  };
  return method;
}

}  // namespace

absl::Status serve_empty_loop(const std::string& address) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigprocmask(SIG_BLOCK, &stop, nullptr);
  const Descriptor signals(::signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK));
  auto socket = listening_socket(address);
  if (!socket.ok()) return socket.status();

  rpc::Methods methods;
  methods.add("/etcdserverpb.KV/Put", empty_method<pb::PutRequest, pb::PutResponse>());
  methods.add("/etcdserverpb.KV/Range", empty_method<pb::RangeRequest, pb::RangeResponse>());
  boost::asio::io_context io(1);
  auto loop = EventLoop::create(WaitOptions::shared_core(), {}, std::make_unique<rpc::AsioWaiter>(io));
  if (!loop.ok()) return loop.status();
  rpc::Server server(io, {.methods = &methods});
  if (absl::Status status = server.listen(*std::move(socket), Caller::Door::kTcp); !status.ok()) return status;
  (*loop)->add(server);
  (*loop)->at_round_end([&] { server.flush(); });
  (*loop)->watch(signals.get(), [&] { (*loop)->stop(); });
  (*loop)->run();
  return absl::OkStatus();
}

}  // namespace ingot::bench
