// The system calls of the store, on their way to the C library. A program that links this target has its own
// definitions of open, read, readdir and the others, so that a test can count them, make any of them fail, or kill the
// process before or after one of them. Only the calls of the watching thread are affected. Without a plan every call
// goes to the C library unchanged.
#ifndef ENROLL_SYSTEM_CALLS_H
#define ENROLL_SYSTEM_CALLS_H
#include <stddef.h>

typedef struct system_call_plan {
  long at;          // The call to which it happens, counted from 1; 0: none.
  int lasts;        // To every later call, too.
  int number;       // errno of the failure; 0: no failure.
  long limit;       // Bytes that a read or a write moves at most; negative: all.
  int kills_before; // SIGKILL instead of the call.
  int kills_after;  // SIGKILL once it has been made.
  const char *only; // Counts and touches calls of this name alone, "readdir" for example; NULL: all. Must stay valid.
} system_call_plan;

// Watches this thread's calls from now on.
void system_calls_begin(system_call_plan plan);
// Watches no more. Returns how many calls were counted.
long system_calls_end(void);
// write(2) for the test's own output: it does not count as a call of the store.
void system_calls_say(int descriptor, const void *bytes, size_t count);
#endif
