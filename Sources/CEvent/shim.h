// libevent's event loop and its listeners (libevent_core): no evhttp, no bufferevents.
#include <event2/event.h>
#include <event2/listener.h>
