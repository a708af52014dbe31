// One request of HTTP/1.1, as it comes: its head, and the bytes of its body.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ingot::rpc::inline server {

// The framing of requests and its rules are Boost.Beast's. Not thread-safe.
class Http1Request final : public boost::beast::http::basic_parser<true> {
 public:
  Http1Request();

  // Takes bytes from the front. Empty: well; else what is wrong, and nothing more can be read. A head is taken only as a
  // whole.
  std::string read(std::string& bytes);

  // Once is_header_done().
  boost::beast::http::verb method() const { return method_; }
  const std::string& target() const { return target_; }
  int version() const { return version_; }       // 10 or 11
  bool from_page() const { return from_page_; }  // of a browser: it says its origin
  bool expects() const { return expects_; }      // "Expect: 100-continue"
  bool expects_other() const { return expects_other_; }
  // Where the body ends is not certain, so a proxy on the way may have read other requests from the same bytes: a
  // transfer encoding that is not "chunked", or one beside a length, or with HTTP/1.0 (RFC 9112, 6.1).
  bool badly_framed() const { return encoded_ && (!chunked() || sized_ || version_ < 11); }
  // For the call: its deadline and metadata. Names are in lower case.
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

  std::string take_body() { return std::exchange(body_, {}); }

 private:
  using Error = boost::beast::error_code;
  using Text = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb method, Text, Text target, int version, Error&) override;
  void on_response_impl(int, Text, int, Error&) override {}
  void on_field_impl(boost::beast::http::field, Text name, Text value, Error&) override;
  void on_header_impl(Error&) override { in_head_ = false; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(Text body, Error&) override;
  void on_chunk_header_impl(std::uint64_t, Text, Error&) override { chunks_begun_ = true; }
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, Error&) override { return on_body_impl(body, unused_); }
  void on_finish_impl(Error&) override {}

  boost::beast::http::verb method_ = boost::beast::http::verb::unknown;
  std::string target_;
  int version_ = 11;
  bool in_head_ = true;  // trailers say nothing
  bool chunks_begun_ = false;
  bool from_page_ = false;
  bool encoded_ = false;  // it has a Transfer-Encoding
  bool sized_ = false;    // it has a Content-Length
  bool expects_ = false;
  bool expects_other_ = false;
  std::vector<std::pair<std::string, std::string>> fields_;
  std::string body_;
  Error unused_;
};

}  // namespace ingot::rpc::server
