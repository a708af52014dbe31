#include "services/rpc/server/http1_request.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>

#include "absl/strings/ascii.h"
#include "services/rpc/server/limits.h"

namespace ingot::rpc::inline server {

namespace http = boost::beast::http;

namespace {

constexpr std::string_view kMetadataPrefix = "grpc-metadata-";

}  // namespace

Http1Request::Http1Request() {
  header_limit(kHttp1RequestBytesMax);
  body_limit(boost::none);
  eager(true);
}

std::string Http1Request::read(std::string& bytes) {
  constexpr std::size_t kLastChunkBytes = 5;  // Beast asserts so many, once it has seen that the first chunk is the last
  if (is_header_done() && chunked() && !chunks_begun_ && bytes.size() < kLastChunkBytes) return {};
  Error error;
  const std::size_t taken = put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  bytes.erase(0, taken);
  return error.failed() && error != http::error::need_more ? error.message() : std::string();
}

void Http1Request::on_request_impl(http::verb method, Text, Text target, int version, Error&) {
  method_ = method;
  version_ = version;
  target_.assign(target.data(), target.size());
}

// Of all fields only these reach a call: what a connection or a browser says besides is none of its metadata.
void Http1Request::on_field_impl(http::field known, Text name_text, Text value, Error&) {
  if (!in_head_) return;
  std::string name(name_text.data(), name_text.size());
  absl::AsciiStrToLower(&name);
  if (known == http::field::origin) from_page_ = true;
  if (known == http::field::transfer_encoding) encoded_ = true;
  if (known == http::field::content_length) sized_ = true;
  if (known == http::field::expect) {
    (boost::beast::iequals(value, "100-continue") ? expects_ : expects_other_) = true;
  } else if (name == "authorization" || name == "grpc-timeout") {
    fields_.emplace_back(std::move(name), std::string(value.data(), value.size()));
  } else if (name.starts_with(kMetadataPrefix)) {
    name.erase(0, kMetadataPrefix.size());
    if (name.empty() || name == "content-type" || name.starts_with(':')) return;
    fields_.emplace_back(std::move(name), std::string(value.data(), value.size()));
  }
}

std::size_t Http1Request::on_body_impl(Text body, Error&) {
  body_.append(body.data(), body.size());
  return body.size();
}

}  // namespace ingot::rpc::server
