// Unary methods of etcd's API on a loop: each is a function of a class, and one line adds it.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "services/etcd/loop_call.h"
#include "services/etcd/parse.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"

namespace ingot::etcd {

// The methods of one service. Its functions get a call that is counted, and the request as a message; they call
// finish() or one of the answer functions once, then or later.
template <typename Served>
class UnaryMethods {
 public:
  // `prefix` is "/PACKAGE.SERVICE/". The other arguments outlive the methods.
  UnaryMethods(rpc::Methods& methods, std::string prefix, RequestMetrics& metrics, Served& served)
      : methods_(methods), prefix_(std::move(prefix)), metrics_(metrics), served_(served) {}

  template <typename Request>
  void add(const char* name, Method counted, void (Served::*serve)(const LoopCall&, Request&),
           rpc::Method::Weight weight = rpc::Method::Weight::kSmall) const {
    rpc::Method method;
    method.weight = weight;
    method.unary = [&metrics = metrics_, &served = served_, counted, serve](rpc::Call caller, std::string_view bytes) {
      std::remove_const_t<Request> request;
      if (parse(caller, bytes, request)) (served.*serve)(LoopCall(caller, metrics, counted), request);
    };
    methods_.add(prefix_ + name, std::move(method));
  }

 private:
  rpc::Methods& methods_;
  const std::string prefix_;
  RequestMetrics& metrics_;
  Served& served_;
};

}  // namespace ingot::etcd
