#include "services/ingot_load/key_versions.h"

#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "proto/etcd/rpc.pb.h"
#include "services/ingot_load/key_names.h"
#include "services/ingot_load/limits.h"
#include "services/ingot_load/methods.h"
#include "services/ingot_load/nothing_answers.h"
#include "services/rpc/client/blocking_channel.h"

namespace ingot::load {

absl::StatusOr<KeyVersions> read_key_versions(const LoadOptions& options, std::chrono::nanoseconds patience) {
  const auto target = rpc::client::resolve_target(options.endpoint);
  if (!target.ok()) return target.status();
  rpc::client::BlockingChannel channel(*target);
  if (!channel.connect(patience)) return nothing_answers(options.endpoint, patience);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  KeyVersions found;
  found.versions.resize(static_cast<std::size_t>(options.keys));
  etcdserverpb::RangeRequest request;
  request.set_key(key_name(options.prefix, 0));
  request.set_range_end(options.prefix + ":");  // ':' follows '9'
  request.set_keys_only(true);
  request.set_limit(kLoadCheckPageKeys);
  for (bool more = true; more;) {
    etcdserverpb::RangeResponse page;
    const grpc::Status status = channel.call(kRangePath, request, page, {.timeout = options.timeout});
    if (!status.ok()) {
      if (std::chrono::steady_clock::now() >= deadline) {
        return absl::UnavailableError(absl::StrCat("the keys' versions could not be read: ", status.error_message()));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(kLoadRetryPauseMs));
      continue;
    }
    if (found.revision == 0) found.revision = page.header().revision();
    request.set_revision(found.revision);  // of all further pages
    for (const auto& kv : page.kvs()) {
      const std::optional<std::uint32_t> key = key_index(options.prefix, kv.key());
      if (key && *key < found.versions.size()) found.versions[*key] = kv.version();
    }
    more = page.more() && page.kvs_size() > 0;
    if (more) request.set_key(page.kvs(page.kvs_size() - 1).key() + '\0');
  }
  return found;
}

}  // namespace ingot::load
