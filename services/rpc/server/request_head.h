// The header block of a call: what HTTP/2 and gRPC say in it, and the client's metadata. A pure state machine.
#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/rpc/server/call.h"
#include "services/rpc/wire/compression.h"

namespace ingot::rpc::inline server {

// Not thread-safe.
class RequestHead {
 public:
  // Whether HTTP/2 allows this field after those before it, in the head or in the trailers behind it. The value of a
  // field that no call uses is not checked: an authority may be anything, such as the path of a Unix socket.
  bool allows(std::string_view name, std::string_view value);

  // The next field of the head, which it allows.
  void add(std::string_view name, std::string_view value);

  // What is wrong with the head, once it is complete. `http_status` is 200, or what the answer has instead.
  struct Fault {
    grpc::Status status;
    const char* http_status = "200";
  };
  std::optional<Fault> fault() const;

  std::string_view path() const { return path_; }
  bool says_grpc() const { return grpc_; }  // by its content-type
  // A call with JSON of the method with this path: its content-type may be any.
  void become_json(std::string_view method_path) {
    path_ = method_path;
    grpc_ = true;
  }
  Encoding encoding() const { return encoding_; }
  // Without value: the client waits for ever.
  std::optional<std::uint64_t> timeout_ns() const { return timeout_ns_; }

  std::optional<std::string_view> metadata(std::string_view name) const;
  Metadata all_metadata() const;

  // Kept of it.
  std::size_t kept_bytes() const { return path_.size() + text_.size() + fields_.size() * sizeof(Field); }

  // Forgets all; small buffers are kept.
  void clear();

 private:
  struct Field {
    std::uint32_t name_bytes;
    std::uint32_t value_bytes;  // the value follows the name in text_
  };

  bool take_known(std::string_view name, std::string_view value);
  void take_metadata(std::string_view name, std::string_view value);
  void keep(std::string_view name, std::string_view value);
  bool count(std::size_t bytes);
  void find_fault(grpc::Status status, const char* http_status = "200");

  std::string path_;
  std::string text_;  // of metadata
  std::vector<Field> fields_;
  std::size_t bytes_ = 0;  // as HTTP/2 counts them (RFC 9113, 6.5.2)
  std::optional<std::uint64_t> timeout_ns_;
  Encoding encoding_ = Encoding::kIdentity;
  unsigned pseudo_ = 0;        // a bit for each pseudo-header that has come
  bool fields_begun_ = false;  // a field that is no pseudo-header has come
  bool grpc_ = false;          // content-type is gRPC's
  bool post_ = false;
  std::optional<Fault> fault_;  // the first
};

}  // namespace ingot::rpc::server
