// glibc 2.36 declares its pidfd calls without saying that they are C.
#pragma once

extern "C" {
#include <sys/pidfd.h>
}
