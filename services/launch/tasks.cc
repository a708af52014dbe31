#include "services/launch/tasks.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/launch/limits.h"

namespace ingot::inline services_launch {

namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr const char* kRaiseTasks = "raise the limit of processes (ulimit -u, or TasksMax= of a service)";

const char* terminating_process = "ingotd";

void* pass(void* gate) {
  const std::lock_guard lock(*static_cast<std::mutex*>(gate));
  return nullptr;
}

struct Cause {
  std::string text;
  bool exhausted = false;
};

Cause cause_of(const std::exception_ptr& exception) {
  if (exception == nullptr) return {"std::terminate was called"};
  try {
    std::rethrow_exception(exception);
  } catch (const std::system_error& error) {
    const bool no_task = error.code() == std::errc::resource_unavailable_try_again;
    if (no_task) return {absl::StrCat("a thread cannot be started; ", kRaiseTasks), true};
    return {error.what()};
  } catch (const std::bad_alloc&) {
    return {"there is no memory left", true};
  } catch (const std::exception& error) {
    return {error.what()};
  } catch (...) {
    return {"an exception of an unknown type"};
  }
}

[[noreturn]] void explain() {
  const Cause cause = cause_of(std::current_exception());
  std::fprintf(stderr, "ingotd: %s (pid %d) ends: %s\n", terminating_process, static_cast<int>(::getpid()),
               cause.text.c_str());
  if (cause.exhausted) ::_exit(1);
  std::abort();
}

}  // namespace

absl::Status check_room_for_tasks(int count) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  std::mutex gate;
  std::vector<pthread_t> threads;
  int error = 0;
  gate.lock();  // so that all of them exist at once
  while (error == 0 && static_cast<int>(threads.size()) < count) {
    pthread_t thread{};
    error = ::pthread_create(&thread, &attributes, pass, &gate);
    if (error == 0) threads.push_back(thread);
  }
  gate.unlock();
  for (const pthread_t thread : threads) ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
  if (error == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("there must be room for ", count,
                                                    " more threads and processes, and "
                                                    "there is room for ",
                                                    threads.size(), " (", std::strerror(error), "); ", kRaiseTasks));
}

int front_end_tasks(int loops) {
  return kFrontEndTasks + loops + kFrontEndTasksPerCore * static_cast<int>(std::thread::hardware_concurrency());
}

void explain_terminate(const char* process) {
  terminating_process = process;
  std::set_terminate(explain);
}

}  // namespace ingot::services_launch
