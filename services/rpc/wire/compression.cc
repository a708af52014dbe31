#include "services/rpc/wire/compression.h"

#include <zlib.h>

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "services/rpc/wire/limits.h"

namespace ingot::rpc::inline wire {
namespace {

constexpr int kEitherHeader = MAX_WBITS + 32;  // zlib recognises gzip's and its own
constexpr int kGzipHeader = MAX_WBITS + 16;
constexpr int kMemoryLevel = 8;  // zlib's default

// zlib does not write to its input, whatever its type says.
Bytef* input(std::string_view bytes) { return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())); }

}  // namespace

Encoding encoding_of(std::string_view name) {
  if (name.empty() || name == "identity") return Encoding::kIdentity;
  return name == "gzip" || name == "deflate" ? Encoding::kCompressed : Encoding::kUnknown;
}

absl::StatusOr<std::string> inflate_message(std::string_view compressed, std::size_t bytes_max) {
  z_stream stream{};
  if (inflateInit2(&stream, kEitherHeader) != Z_OK) return absl::ResourceExhaustedError("no memory to inflate with");
  const absl::Cleanup end = [&] { inflateEnd(&stream); };
  stream.next_in = input(compressed);
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string message;
  int result = Z_OK;
  while (result == Z_OK) {
    const std::size_t before = message.size();
    if (before > bytes_max) {
      return absl::ResourceExhaustedError(absl::StrCat("Received message larger than max (more than ", bytes_max,
                                                       " vs. ", bytes_max, ") once decompressed"));
    }
    message.resize(std::min(before + std::max(kInflateStep, before), bytes_max + 1));
    stream.next_out = reinterpret_cast<Bytef*>(message.data() + before);
    stream.avail_out = static_cast<uInt>(message.size() - before);
    result = inflate(&stream, Z_NO_FLUSH);
    message.resize(message.size() - stream.avail_out);
    if (result == Z_OK && stream.avail_in == 0 && stream.avail_out > 0) break;  // cut off
  }
  if (result != Z_STREAM_END || stream.avail_in > 0) {
    return absl::InternalError("a compressed message could not be decompressed; nothing was done");
  }
  if (message.size() > bytes_max) {
    return absl::ResourceExhaustedError(
        absl::StrCat("Received message larger than max (", message.size(), " vs. ", bytes_max, ") once decompressed"));
  }
  return message;
}

std::string gzip_message(std::string_view message) {
  z_stream stream{};
  INGOT_CHECK(
      deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipHeader, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK,
      "there is memory to deflate with");
  std::string compressed(deflateBound(&stream, message.size()), '\0');
  stream.next_in = input(message);
  stream.avail_in = static_cast<uInt>(message.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  INGOT_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflateBound is an upper bound");
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return compressed;
}

}  // namespace ingot::rpc::wire
