#include "services/sockets/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "transport/host/descriptor.h"

namespace ingot {
namespace {

// A service manager's socket.
class Manager {
 public:
  explicit Manager(const std::string& name) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    REQUIRE(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  }
  // Empty: nothing has come.
  std::string heard() {
    char text[100];
    const ssize_t size = ::recv(socket_.get(), text, sizeof text, 0);
    return std::string(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  }

 private:
  Descriptor socket_;
};

TEST_CASE("the service manager hears by a path and by an abstract name") {
  const std::string pid = std::to_string(::getpid());
  const std::string path = "/tmp/ingot-manager-" + pid;
  for (const std::string& name : {path, "@ingot-manager-" + pid}) {
    Manager manager(name);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    tell_service_manager("READY=1");
    CHECK(manager.heard() == "READY=1");
    CHECK(manager.heard() == "");
  }
  ::unlink(path.c_str());
}

TEST_CASE("without a service manager, or one that listens, nothing happens") {
  ::unsetenv("NOTIFY_SOCKET");
  tell_service_manager("READY=1");
  for (const std::string& name : {std::string(), std::string("@"), std::string("relative"), std::string("/nobody/there"),
                                  "/" + std::string(200, 'x')}) {
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    tell_service_manager("READY=1");
  }
  ::unsetenv("NOTIFY_SOCKET");
}

}  // namespace
}  // namespace ingot
