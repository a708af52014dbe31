// Prints a random scenario with the store's answers, in the format of the files in scenarios/, for the script that
// sends the same requests to etcd.
#include <cstdlib>
#include <iostream>

#include "replication/store/kv_store.h"
#include "tests/replication/store/random_requests.h"
#include "tests/replication/store/text.h"

int main(int argc, char** argv) {
  using namespace ingot::kv;
  if (argc != 3) {
    std::cerr << "usage: random_scenario SEED COUNT\n";
    return 2;
  }
  RandomRequests random(std::strtoull(argv[1], nullptr, 10));
  KvStore store;
  for (int left = std::atoi(argv[2]); left > 0; --left) {
    const Request request = random.next(store.revision());
    const auto result = decode_result(store.apply(ingot::Slot(0), encode(request)));
    std::cout << "> " << to_json(request).dump() << "\n" << to_json(*result).dump() << "\n";
  }
}
