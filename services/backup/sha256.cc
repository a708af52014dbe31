#include "services/backup/sha256.h"

#include <openssl/evp.h>

#include "core/check.h"

namespace ingot::inline services_backup {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  const bool begun = state_->context != nullptr && EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1;
  INGOT_CHECK(begun, "the library of hashes has SHA-256, and some bytes of memory");
}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view part) { EVP_DigestUpdate(state_->context, part.data(), part.size()); }

std::string Sha256::digest() {
  std::string digest(kSha256Bytes, '\0');
  EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(digest.data()), nullptr);
  return digest;
}

}  // namespace ingot::services_backup
