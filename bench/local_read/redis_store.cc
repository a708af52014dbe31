// Redis over a Unix socket (Debian's redis-server), which keeps nothing on disk; it ends with the benchmark.
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "bench/local_read/stores.h"
#include "core/check.h"
#include "transport/host/descriptor.h"
#include "transport/host/write_all.h"

namespace ingot::bench {
namespace {

constexpr std::size_t kPipelined = 1000;   // writes of a load that are sent at once
constexpr int kConnectAttempts = 500;      // each 10 ms after the one before

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}
std::string set_command(const std::string& key, const std::string& value) {
  return "*3\r\n" + bulk("SET") + bulk(key) + bulk(value);
}

// One connection, and what it has received and nobody has read.
class RedisConnection {
 public:
  explicit RedisConnection(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    INGOT_CHECK(path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    for (int attempt = 0; attempt < kConnectAttempts; ++attempt) {
      fd_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
      ::usleep(10'000);
    }
    std::fprintf(stderr, "local_read: redis-server does not answer at %s; is it installed?\n", path.c_str());
    std::exit(1);
  }

  void send(const std::string& commands) { INGOT_CHECK(write_all(fd_.get(), commands)); }

  // The next answer, of one line, or of a length and so many bytes: what it says.
  std::string_view receive() {
    input_.erase(0, used_);
    std::size_t end;
    while ((end = input_.find("\r\n")) == std::string::npos) more();
    used_ = end + 2;
    INGOT_CHECK(input_[0] != '-', "Redis takes what it is asked");
    if (input_[0] != '$') return std::string_view(input_).substr(1, end - 1);
    int length = -1;
    std::from_chars(input_.data() + 1, input_.data() + end, length);
    INGOT_CHECK(length >= 0, "each key is there");
    const auto bytes = static_cast<std::size_t>(length);
    while (input_.size() < used_ + bytes + 2) more();
    const std::string_view value = std::string_view(input_).substr(used_, bytes);
    used_ += bytes + 2;
    return value;
  }

 private:
  void more() {
    char bytes[1 << 16];
    const ssize_t got = ::recv(fd_.get(), bytes, sizeof bytes, 0);
    INGOT_CHECK(got > 0, "redis-server runs");
    input_.append(bytes, static_cast<std::size_t>(got));
  }

  Descriptor fd_;
  std::string input_;
  std::size_t used_ = 0;  // bytes of it that were read
};

class RedisServer {
 public:
  RedisServer() {
    char folder[] = "/tmp/local-read-XXXXXX";
    INGOT_CHECK(::mkdtemp(folder) != nullptr);
    folder_ = folder;
    pid_ = ::fork();
    INGOT_CHECK(pid_ >= 0);
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", path().c_str(), "--save", "",
             "--appendonly", "no", "--loglevel", "warning", "--dir", folder_.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ~RedisServer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  std::string path() const { return folder_ + "/redis.sock"; }

 private:
  std::string folder_;
  pid_t pid_;
};

class RedisStore final : public ReadStore {
 public:
  void load(const std::vector<std::string>& keys, const std::string& value) override {
    for (std::size_t at = 0; at < keys.size();) {
      const std::size_t end = std::min(keys.size(), at + kPipelined);
      std::string commands;
      for (std::size_t i = at; i < end; ++i) commands += set_command(keys[i], value);
      writing_.send(commands);
      for (; at < end; ++at) INGOT_CHECK(writing_.receive() == "OK");
    }
  }

  std::size_t get(const std::string& key) override {
    reading_.send("*2\r\n$3\r\nGET\r\n" + bulk(key));
    value_ = reading_.receive();
    return value_.size();
  }

  std::size_t range(const std::string&, std::size_t) override { return 0; }
  bool has_ranges() const override { return false; }  // its keys have no order

  bool put(const std::string& key, const std::string& value) override {
    writing_.send(set_command(key, value));
    return writing_.receive() == "OK";
  }

 private:
  RedisServer server_;
  RedisConnection reading_{server_.path()};
  RedisConnection writing_{server_.path()};
  std::string value_;
};

}  // namespace

std::unique_ptr<ReadStore> make_redis_store() { return std::make_unique<RedisStore>(); }

}  // namespace ingot::bench
