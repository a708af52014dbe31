#include "services/supervision/flag_agreement.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>

namespace ingot {
namespace {

DaemonConfig running() {
  DaemonConfig config;
  config.name = "x";
  config.listen = "127.0.0.1:4001";
  config.metrics_listen = "127.0.0.1:4002";
  config.replicas = 3;
  config.voters = 3;
  config.socket = "/run/ingot/x.sock";
  config.quota_backend_bytes = 1'000'000;
  return config;
}

std::string disagreement(const std::function<void(DaemonConfig&)>& change) {
  DaemonConfig given = running();
  change(given);
  const absl::Status status = flags_agree(given, running());
  CHECK((status.ok() || absl::IsFailedPrecondition(status)));
  return std::string(status.message());
}

TEST_CASE("the same flags agree, whether defaults are spelled out or not") {
  CHECK(disagreement([](DaemonConfig&) {}) == "");
  CHECK(disagreement([](DaemonConfig& given) { given.voters = 0; }) == "");
  CHECK(disagreement([](DaemonConfig& given) { given.listen = "127.0.0.1:0"; }) == "");
  CHECK(disagreement([](DaemonConfig& given) { given.name = ""; }) == "");
  CHECK(disagreement([](DaemonConfig& given) { given.socket = "auto"; }) == "");
  CHECK(disagreement([](DaemonConfig& given) { given.quota_backend_bytes = 0; }) == "");
}

TEST_CASE("a flag that differs is named with both values") {
  struct Case {
    std::function<void(DaemonConfig&)> change;
    const char *running, *given;
  };
  const Case cases[] = {
      {[](DaemonConfig& c) { c.replicas = 5; }, "--replicas=3,", "--replicas=5;"},
      {[](DaemonConfig& c) { c.voters = 1; }, "--voters=3,", "--voters=1;"},
      {[](DaemonConfig& c) { c.agreement = AgreementKind::kTwoPhaseCommit; }, "--agreement=1paxos,",
       "--agreement=2pc;"},
      {[](DaemonConfig& c) { c.transport = TransportKind::kSrbp; }, "--transport=nvp,", "--transport=srbp;"},
      {[](DaemonConfig& c) { c.isolation = Isolation::kThread; }, "--isolation=process,", "--isolation=thread;"},
      {[](DaemonConfig& c) { c.tree = "star"; }, "--tree=best,", "--tree=star;"},
      {[](DaemonConfig& c) { c.machine = "m.json"; }, "--machine=,", "--machine=m.json;"},
      {[](DaemonConfig& c) { c.listen = "127.0.0.1:4003"; }, "--listen=127.0.0.1:4001,", "--listen=127.0.0.1:4003;"},
      {[](DaemonConfig& c) { c.listen = "[::1]:0"; }, "--listen=127.0.0.1:4001,", "--listen=[::1]:0;"},
      {[](DaemonConfig& c) { c.socket = "/y"; }, "--socket=/run/ingot/x.sock,", "--socket=/y;"},
      {[](DaemonConfig& c) { c.socket = ""; }, "--socket=/run/ingot/x.sock,", "--socket=;"},
      {[](DaemonConfig& c) { c.socket_mode = "0600"; }, "--socket-mode=0660,", "--socket-mode=0600;"},
      {[](DaemonConfig& c) { c.socket_group = "adm"; }, "--socket-group=,", "--socket-group=adm;"},
      {[](DaemonConfig& c) { c.allow_remote_drills = true; }, "--allow-remote-drills=off,",
       "--allow-remote-drills=on;"},
      {[](DaemonConfig& c) { c.metrics_listen = ""; }, "--metrics-listen=127.0.0.1:4002,", "--metrics-listen=;"},
      {[](DaemonConfig& c) { c.etcd_version = "9"; }, "--etcd-version=", "--etcd-version=9;"},
      {[](DaemonConfig& c) { c.orphan_grace_ms = 90'000; }, "--orphan-grace=30s,", "--orphan-grace=1m30s;"},
      {[](DaemonConfig& c) { c.quota_backend_bytes = -7; }, "--quota-backend-bytes=1000000,",
       "--quota-backend-bytes=-1;"},
      {[](DaemonConfig& c) { c.auto_compaction_mode = AutoCompactionMode::kRevision; },
       "--auto-compaction-mode=periodic,", "--auto-compaction-mode=revision;"},
      {[](DaemonConfig& c) { c.auto_compaction_retention = "1h"; }, "--auto-compaction-retention=0,",
       "--auto-compaction-retention=1h;"},
      {[](DaemonConfig& c) { c.kept_segments_mib = 8; }, "--kept-segments-mib=1024,", "--kept-segments-mib=8;"},
      {[](DaemonConfig& c) { c.log_format = LogFormat::kJson; }, "--log-format=text,", "--log-format=json;"},
  };
  for (const Case& each : cases) {
    const std::string sentence = disagreement(each.change);
    CAPTURE(sentence);
    CHECK(sentence.find(each.running) != std::string::npos);
    CHECK(sentence.find(each.given) != std::string::npos);
    CHECK(sentence.find('\n') == std::string::npos);
  }
}

// It was refused, so the instance left after --orphan-grace, and the next start took the old file.
TEST_CASE("--restore agrees with the instance that began with the same file, bump and mark") {
  DaemonConfig restored = running();
  restored.restore = "/a.snap";
  restored.bump_revision = 10;
  restored.mark_compacted = true;
  CHECK(restore_agrees(restored, restored).ok());
  CHECK(restore_agrees(running(), restored).ok());
  CHECK(restore_agrees(running(), running()).ok());
  for (const auto change : {+[](DaemonConfig& c) { c.restore = "/b.snap"; },
                            +[](DaemonConfig& c) { c.bump_revision = 11; }, +[](DaemonConfig& c) { c.mark_compacted = false; }}) {
    DaemonConfig given = restored;
    change(given);
    CHECK(absl::IsFailedPrecondition(restore_agrees(given, restored)));
  }
  CHECK(absl::IsFailedPrecondition(restore_agrees(restored, running())));
}

}  // namespace
}  // namespace ingot
