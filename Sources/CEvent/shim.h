// libevent's event loop and its listeners (libevent_core): no evhttp, no bufferevents.
#ifndef ENROLL_CEVENT_SHIM_H
#define ENROLL_CEVENT_SHIM_H
// This include comes first: the types of sockets then belong to CPosix in whatever order Swift loads the two, and
// libevent's headers, which define _GNU_SOURCE, come too late to change fd_set. Swift refuses modules that disagree
// about a type.
#include "../CPosix/shim.h"

#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/tcp.h>
#endif
