// libevent's event loop and its listeners (libevent_core): no evhttp, no bufferevents.
#ifndef ENROLL_CEVENT_SHIM_H
#define ENROLL_CEVENT_SHIM_H
// First: libevent's headers define _GNU_SOURCE, which changes fd_set, and Swift refuses modules that disagree about a type.
#include <sys/types.h>

#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/tcp.h>
#endif
