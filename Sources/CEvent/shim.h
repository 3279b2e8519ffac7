// Imports libevent's event loop and its listeners (libevent_core), but neither evhttp nor bufferevents.
#ifndef ENROLL_CEVENT_SHIM_H
#define ENROLL_CEVENT_SHIM_H
// This include must come first, for two reasons. The types of sockets then belong to CPosix, no matter whether Swift
// loads CPosix or CEvent first. And libevent's headers, which define _GNU_SOURCE, then come too late to change fd_set:
// Swift refuses two modules that define a type differently.
#include "../CPosix/shim.h"

#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/tcp.h>
#endif
