#include "services/ingotctl/instance_socket.h"

#include <grpcpp/grpcpp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/ingot/control/v1/control.grpc.pb.h"
#include "services/cli/endpoint.h"
#include "services/config/limits.h"
#include "services/sockets/socket_path.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_ingotctl {
namespace {

using ::ingot::control::v1::Control;
using ::ingot::control::v1::GetStatusResponse;
using Deadline = std::chrono::system_clock::time_point;

bool is_ipv4_loopback(const std::string& host) { return host == "localhost" || absl::StartsWith(host, "127."); }

bool is_loopback(const std::string& host) { return is_ipv4_loopback(host) || host == "::1"; }

// Whether a process listens there to which this user may connect. It may have no room for further connections now.
bool can_connect(const std::string& path) {
  sockaddr_un address{};
  if (!path.starts_with('/') || path.size() > kSocketPathBytesMax) return false;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
}

std::optional<control::v1::Instance> ask(const std::shared_ptr<grpc::Channel>& channel, Deadline until) {
  grpc::ClientContext context;
  context.set_deadline(until);
  GetStatusResponse status;
  if (!Control::NewStub(channel)->GetStatus(&context, {}, &status).ok()) return std::nullopt;
  return status.instance();
}

bool leads_to(const std::string& path, const std::string& asked, Deadline until) {
  if (!can_connect(path)) return false;
  const auto instance = ask(open_channel("unix:" + path), until);
  return instance && reaches(asked, instance->listen());
}

}  // namespace

bool reaches(const std::string& asked, const std::string& listens) {
  const auto from = parse_host_port(asked), to = parse_host_port(listens);
  if (!from.ok() || !to.ok() || from->port != to->port || !is_loopback(from->host)) return false;
  if (from->host == to->host || to->host == "::") return true;
  if (to->host == "0.0.0.0") return is_ipv4_loopback(from->host);
  // A daemon that listens on a name takes the name's IPv4 address.
  const auto is_first = [](const std::string& host) { return host == "127.0.0.1" || host == "localhost"; };
  return is_first(from->host) && is_first(to->host);
}

std::string find_instance_socket(const std::string& asked, const std::shared_ptr<grpc::Channel>& tcp,
                                 std::chrono::nanoseconds timeout) {
  const auto address = parse_host_port(asked);
  if (!address.ok() || !is_loopback(address->host)) return "";
  const Deadline until = std::chrono::system_clock::now() + std::chrono::duration_cast<Deadline::duration>(timeout);
  std::vector<std::string> paths = default_socket_paths(default_instance_name(address->port));
  if (const char* given = std::getenv("INGOT_SOCKET"); given != nullptr && given != std::string(kAutomaticSocket)) {
    if (*given == '\0') return "";
    paths.insert(paths.begin(), given);
  }
  for (const std::string& path : paths) {
    if (leads_to(path, asked, until)) return path;
  }
  const auto instance = ask(tcp, until);
  return instance && leads_to(instance->socket(), asked, until) ? instance->socket() : "";
}

std::shared_ptr<grpc::Channel> open_channel(const std::string& endpoint) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // the daemon is on this machine
  const auto path = unix_path(endpoint);
  return grpc::CreateCustomChannel(path ? unix_target(*path) : endpoint, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace ingot::services_ingotctl
