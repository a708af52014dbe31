// The answer to one unary call, as it arrives: headers, at most one message, trailers; and the status that it comes to.
#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::rpc::client {

// The status of a call whose stream was reset, by the error code of HTTP/2: gRPC's table in PROTOCOL-HTTP2.md.
grpc::Status status_of_reset(std::uint32_t error_code);

// Not thread-safe. Reused from call to call, as its memory is.
class Answer {
 public:
  // Before each call. A message of more than `bytes_max` bytes is refused.
  void clear(std::size_t bytes_max);

  // A header or a trailer, in any order; those of no interest are dropped.
  void header(std::string_view name, std::string_view value);
  // Bytes of the stream. False: nothing more is wanted, and status() says why.
  bool data(std::string_view bytes);

  // The server has sent all that it will send.
  void finish() { finished_ = true; }

  // The status that the call would have if nothing more came.
  grpc::Status status() const;
  // The stream is closed, by a reset with this code or otherwise. A reset after the answer's end changes nothing.
  grpc::Status status_at_close(std::uint32_t error_code) const;

  // REQUIRES: status() is OK.
  std::string_view message() const;

 private:
  grpc::Status status_of_message() const;
  grpc::Status status_without_trailer() const;

  std::size_t bytes_max_ = 0;
  bool finished_ = false;
  int http_status_ = 0;                  // 0: none came
  bool grpc_content_ = false;            // content-type is gRPC's
  std::optional<int> code_;              // of grpc-status
  std::string text_;                     // of grpc-message
  std::string bytes_;                    // prefix and message
  std::optional<grpc::Status> refused_;  // why data() said false
};

}  // namespace ingot::rpc::client
