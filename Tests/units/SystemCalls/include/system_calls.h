// Intercepts the system calls of the store. A program that links this target gets its own definitions of the system
// calls that the store uses, such as open, read and readdir. With these definitions a test can count the calls, make
// any of them fail, or kill the process before or after one of them. Only calls of a thread that called
// system_calls_begin are affected. All other calls go to the C library unchanged.
#ifndef ENROLL_SYSTEM_CALLS_H
#define ENROLL_SYSTEM_CALLS_H
#include <stddef.h>

typedef struct system_call_plan {
  long at;          // The number of the affected call, counted from 1; 0: none.
  int lasts;        // Whether every later call is affected, too.
  int number;       // errno of the failure; 0: no failure.
  long limit;       // The most bytes that a read or a write moves; negative: no limit.
  int kills_before; // Sends SIGKILL instead of making the call.
  int kills_after;  // Sends SIGKILL after the call.
  const char *only; // The only call that is counted, such as "readdir"; NULL: all. Must stay valid.
} system_call_plan;

// Applies the plan to this thread's calls from now on.
void system_calls_begin(system_call_plan plan);
// Ends the plan for this thread. Returns the number of counted calls.
long system_calls_end(void);
// write(2) for the test's own output: it does not count as a call of the store.
void system_calls_say(int descriptor, const void *bytes, size_t count);
#endif
