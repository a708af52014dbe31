// What clients do, as bytes: a schedule of actions, each a byte that says which, and bytes that say how. All bytes are a
// schedule. With INGOT_FUZZ_TRACE in the environment each action is printed.
#pragma once

#include <google/protobuf/message_lite.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/prng.h"
#include "tests/fuzz/client_stage.h"

namespace ingot::fuzz {

constexpr std::array<std::size_t, 8> kValueBytes = {0, 10, 10, 1'000, 1'000, 20'000, 60'000, 200'000};
constexpr std::array<std::uint32_t, 6> kWindows = {0, 1, 1'000, 65'535, 1 << 20, 0x7fff'ffff};
constexpr const char* kLastKey = "i";  // schedules write below it
constexpr std::size_t kFirstJsonPath = 9;  // of call_service()
constexpr const char* kWatchPath = "/etcdserverpb.Watch/Watch";

// A schedule.
std::string sample_client(Prng& rng);

class Schedule {
 public:
  Schedule(std::string_view bytes, Stage& stage) : bytes_(bytes), stage_(stage) {}

  void run();
  std::size_t acted() const { return acted_; }

  struct Action {
    const char* name;
    int arguments;  // bytes
    void (Schedule::*act)();
  };
  static constexpr std::size_t kActions = 23;
  static const std::array<Action, kActions>& actions();

 private:
  bool within_bounds() const;
  void act();
  void trace(const char* what, std::size_t number = 0);

  unsigned byte() { return at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_++]) : 0; }
  std::size_t number(unsigned bits_max);
  std::string key() { return std::string(1, static_cast<char>('a' + byte() % 6)); }
  std::string value() { return std::string(kValueBytes[byte() % kValueBytes.size()], 'v'); }
  // A connection and a stream of it, often the newest; both are there. The first ones are made when they are needed.
  Client& link();
  int stream(Client& link);
  void open(Client& link, const char* path, const std::string& body, bool end, unsigned how);
  void upload(Client& link, int stream, const std::string& bytes, bool end = false);
  void upload_often(Client& link, int stream, const google::protobuf::MessageLite& message, std::size_t times);
  std::string request_of(unsigned method);
  std::string request_of_service(std::size_t which);

  // client_actions.cc
  void call();
  void call_service();
  void open_watch();
  void create();
  void create_invalid();
  void cancel();
  void ask_progress();
  void send_malformed();
  void half_close();
  void reset();
  void read_on();
  void give_window();
  void change_settings();
  void ping();
  void flood();
  void send_frame();
  void go_away();

  // client_schedule.cc
  void connect();
  void close();
  void pass();
  void write();
  void ask();
  void repeat();

  const std::string_view bytes_;
  std::size_t at_ = 0;
  Stage& stage_;
  std::size_t uploaded_bytes_ = 0;
  std::size_t acted_ = 0;
  bool repeating_ = false;
  std::array<std::size_t, 16> starts_{};  // of the last actions
};

}  // namespace ingot::fuzz
