/*
 * check.h - the few macros that the C tests are written with.
 *
 *     TEST("a null handle is refused") { CHECK_STATUS(ENROLL_E_HANDLE, enroll_platform_ready(NULL, NULL)); }
 *
 * Each test prints "ok - NAME" or "not ok - NAME" with the line that failed; check_main, which main calls, prints the
 * counts at the end. A check that fails ends its test, not the program. If the program has an argument, only
 * the tests whose names contain that argument run.
 */
#ifndef ENROLL_CHECK_H
#define ENROLL_CHECK_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enroll.h"

typedef struct check_case {
  const char *name;
  void (*run)(void);
  struct check_case *next;
} check_case;

static check_case *check_first;
static check_case **check_last = &check_first;
static jmp_buf check_failed;

static inline void check_add(check_case *added) {
  *check_last = added;
  check_last = &added->next;
}

#define CHECK_JOIN2(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN2(a, b)
#define CHECK_TEST(text, id)                                                \
  static void CHECK_JOIN(check_run_, id)(void);                             \
  static check_case CHECK_JOIN(check_case_, id) = {text, CHECK_JOIN(check_run_, id), NULL}; \
  __attribute__((constructor)) static void CHECK_JOIN(check_add_, id)(void) { \
    check_add(&CHECK_JOIN(check_case_, id));                                \
  }                                                                         \
  static void CHECK_JOIN(check_run_, id)(void)
#define TEST(text) CHECK_TEST(text, __LINE__)

#define CHECK_FAIL(...)                              \
  do {                                               \
    fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);  \
    fprintf(stderr, __VA_ARGS__);                    \
    fputc('\n', stderr);                             \
    longjmp(check_failed, 1);                        \
  } while (0)

#define CHECK(condition)                             \
  do {                                               \
    if (!(condition)) CHECK_FAIL("%s", #condition);  \
  } while (0)

#define CHECK_STATUS(expected, call)                                                               \
  do {                                                                                             \
    enroll_status check_came = (call);                                                             \
    if (check_came != (expected))                                                                  \
      CHECK_FAIL("%s is %s, expected %s", #call, enroll_status_name(check_came), #expected);       \
  } while (0)

/* Checks that a call succeeds; if it fails, prints its error. The last argument of the call must be &error. */
#define CHECK_OK(call)                                                                                           \
  do {                                                                                                           \
    enroll_status check_came = (call);                                                                           \
    if (check_came != ENROLL_OK)                                                                                 \
      CHECK_FAIL("%s is %s: %s (%s)", #call, enroll_status_name(check_came), error.message, error.oauth_error);  \
  } while (0)

#define CHECK_TEXT(expected, actual)                                                     \
  do {                                                                                   \
    const char *check_text = (actual);                                                   \
    if (check_text == NULL || strcmp(check_text, (expected)) != 0)                       \
      CHECK_FAIL("%s is %s, expected %s", #actual, check_text ? check_text : "NULL", (expected)); \
  } while (0)

#define CHECK_NUMBER(expected, actual)                                                                  \
  do {                                                                                                  \
    long long check_number = (long long)(actual);                                                       \
    if (check_number != (long long)(expected))                                                          \
      CHECK_FAIL("%s is %lld, expected %lld", #actual, check_number, (long long)(expected));            \
  } while (0)

/* This is a separate function, because a longjmp could change the variables of check_main. */
static int check_passes(void (*run)(void)) {
  if (setjmp(check_failed) != 0) return 0;
  run();
  return 1;
}

static int check_main(int count, char **arguments) {
  int passed = 0, failed = 0;
  const char *wanted = count > 1 ? arguments[1] : "";
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (check_case *test = check_first; test != NULL; test = test->next) {
    if (strstr(test->name, wanted) == NULL) continue;
    int good = check_passes(test->run);
    printf("%s - %s\n", good ? "ok" : "not ok", test->name);
    good ? passed++ : failed++;
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0 || passed == 0;
}

#endif
