// The launch document: what a process is told at its start, and what a handover carries.
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "services/launch/launch_spec.h"
#include "tests/services/handover/made_instance.h"

namespace ingot {
namespace {

TEST_CASE("a launch document is read as it was written, whatever bytes its texts hold") {
  Made made(3);
  made.spec.config.machine = "odd \xff\xfe path";
  made.spec.config.fence = true;
  made.spec.config.orphan_grace_ms = 12345;
  made.spec.config.cluster_id = ~std::uint64_t{0};
  made.spec.control_fd = 4;
  made.spec.replica = 2;
  made.spec.shared_cores = false;
  made.spec.front_end_incarnation = 7;
  made.spec.publisher_incarnation = 9;
  made.spec.snapshot_fd = 9;
  made.spec.snapshot_slot = std::uint64_t{1} << 62;
  made.spec.replicas[1].core = 5;
  made.spec.replicas[1].earlier.push_back({made.spec.replicas[1].incarnation++, 8});
  made.spec.trees = {std::string("\0\xc7", 2), "{}", {1, 0, 2}};
  made.spec.trace_folders = {"/run/\xff", ""};
  const auto read = decode_launch_spec(encode_launch_spec(made.spec));
  REQUIRE(read.ok());
  CHECK(read->config.name == "made");
  CHECK(read->config.machine == made.spec.config.machine);
  CHECK((read->config.fence && read->config.orphan_grace_ms == 12345 && read->config.cluster_id == ~std::uint64_t{0}));
  CHECK((read->listen_fd == made.spec.listen_fd && read->socket.fd == made.spec.socket.fd));
  CHECK((read->socket.binding == 1 && read->socket.file == SocketFile{7, 8}));
  CHECK((read->control_fd == 4 && read->replica == 2 && !read->shared_cores && read->front_end_incarnation == 7));
  CHECK((read->publisher_incarnation == 9 && read->view_page_fd == made.spec.view_page_fd));
  CHECK((read->view_socket.fd == made.spec.view_socket.fd && read->view_socket.file == SocketFile{7, 9}));
  CHECK((read->snapshot_fd == 9 && read->snapshot_slot == std::uint64_t{1} << 62));
  const ReplicaLaunch& launch = read->replicas[1];
  CHECK((launch.core == 5 && launch.incarnation == 2 && launch.earlier[0].stable_fd == 8));
  CHECK((read->trees.initial == made.spec.trees.initial && read->trees.machine == "{}"));
  CHECK(read->trees.cores == made.spec.trees.cores);
  CHECK(read->trace_folders == made.spec.trace_folders);
  CHECK(read->descriptors() == made.spec.descriptors());
  CHECK(read->fabric_fds == made.spec.fabric_fds);
}

TEST_CASE("a launch document whose parts do not fit each other is refused") {
  const auto accepted = [](void (*spoil)(LaunchSpec&)) {
    Made made(3);
    spoil(made.spec);
    return decode_launch_spec(encode_launch_spec(made.spec)).ok();
  };
  CHECK(accepted([](LaunchSpec&) {}));
  CHECK_FALSE(accepted([](LaunchSpec& spec) { spec.config.replicas = 4; }));
  CHECK_FALSE(accepted([](LaunchSpec& spec) { spec.replicas.clear(); }));
  CHECK_FALSE(accepted([](LaunchSpec& spec) { spec.fabric_fds.pop_back(); }));
  CHECK_FALSE(accepted([](LaunchSpec& spec) { std::swap(spec.replicas[0], spec.replicas[1]); }));
  CHECK_FALSE(accepted([](LaunchSpec& spec) { spec.replica = 3; }));
  CHECK_FALSE(accepted([](LaunchSpec& spec) { spec.replica = -2; }));
  CHECK_FALSE(accepted([](LaunchSpec& spec) { spec.replicas[1].core = -1; }));
  CHECK_FALSE(accepted([](LaunchSpec& spec) { spec.replicas[1].incarnation = 0; }));
  CHECK_FALSE(accepted([](LaunchSpec& spec) { spec.replicas[1].earlier.push_back({1u, 3}); }));
  CHECK_FALSE(accepted([](LaunchSpec& spec) { spec.front_end_incarnation = 0; }));
  CHECK_FALSE(accepted([](LaunchSpec& spec) { spec.publisher_incarnation = 0; }));
}

TEST_CASE("a launch document cut short is refused or keeps its fabric; an empty, too long or foreign one is refused") {
  const Made made(2);
  const std::string bytes = encode_launch_spec(made.spec);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto read = decode_launch_spec(std::string_view(bytes).substr(0, length));
    CHECK((!read.ok() || read->fabric_fds == made.spec.fabric_fds));
  }
  CHECK_FALSE(decode_launch_spec("").ok());
  CHECK_FALSE(decode_launch_spec(R"({"config":{}})").ok());
  const Descriptor empty(::memfd_create("empty", MFD_CLOEXEC));
  CHECK(absl::IsInvalidArgument(read_launch_spec(empty.get()).status()));
  REQUIRE(::ftruncate(empty.get(), static_cast<off_t>(kLaunchDocumentBytesMax) + 1) == 0);
  CHECK(absl::IsInvalidArgument(read_launch_spec(empty.get()).status()));
}

}  // namespace
}  // namespace ingot
