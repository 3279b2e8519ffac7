/*
 * table.h - every function of enroll.h as a row, so that one test can call all of them. table.py makes the rows from
 * the header, so these tests also call every new function.
 */
#ifndef ENROLL_TEST_TABLE_H
#define ENROLL_TEST_TABLE_H

#include "check.h"

#define PARAMETERS_MAX 12

typedef enum kind {
  CLIENT, PENDING, QUEUE, RESPONSE, HANDLE_OUT, TEXT, TEXT_SIZE, NUMBER, TIMEOUT, STRUCT_IN, STRUCT_OUT, BUFFER_OUT,
  NUMBER_OUT, ROOM, CALLBACK, USER_DATA, FAILURE,
} kind;

typedef struct argument {
  void *pointer;
  int64_t number;
  void (*function)(void);
} argument;

typedef struct parameter {
  const char *name;
  kind kind;
  /* Whether the parameter's comment says "must not be NULL", or "optional". */
  int is_required, is_optional;
  /* The size in bytes of the struct or number that the parameter points to. */
  size_t size;
} parameter;

typedef struct row {
  const char *name;
  int64_t (*call)(const argument *arguments);
  int returns_status, count;
  parameter parameters[PARAMETERS_MAX];
} row;

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-function-type"
#endif
#include "rows.h" /* Written by the runner. */
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#define ROWS (sizeof rows / sizeof *rows)
#define FOR_EACH_ROW(each) for (const row *each = rows; each < rows + ROWS; each++)

/* Arguments that are all acceptable, and the memory that they point to. Every byte of an output is 0x55. */
typedef struct arguments {
  argument values[PARAMETERS_MAX];
  _Alignas(16) unsigned char memory[PARAMETERS_MAX][1024];
  unsigned char before[PARAMETERS_MAX][1024];
} arguments;

static int never_called;
/* The queue that is passed to functions for queues. */
static enroll_queue *the_queue;

/* A callback that must never be called. */
static inline void count_never(void) { __atomic_add_fetch(&never_called, 1, __ATOMIC_RELAXED); }

static inline const char *acceptable_text(const row *function, const parameter *wanted) {
  static const struct {
    const char *function, *name, *text;
  } texts[] = {
      {"enroll_dpop_proof", "url", "https://api.example/"},
      {"enroll_constant", "name", "ENROLL_OK"},
      {"enroll_resource_discover", "parameters", "{\"resource\":\"https://127.0.0.1:1/\"}"},
      {"enroll_resource_register", "parameters",
       "{\"resource\":\"https://127.0.0.1:1/\",\"issuer\":\"https://127.0.0.1:1\",\"store\":\"memory\","
       "\"redirectUri\":\"com.example.app:/callback\"}"},
      {NULL, "url", "com.example.app:/callback?code=a&state=b"},
      {NULL, "link", "https://app.example/welcome/abc"},
      {NULL, "transaction", "none"},
      {NULL, "code", "123456"},
      {NULL, "pin", "1234"},
      {NULL, "new_pin", "5678"},
      {NULL, "method", "GET"},
      {NULL, "command", "identity.profile"},
      {NULL, "configurations",
       "[{\"issuer\":\"https://a.example\",\"clientId\":\"c\",\"redirectUri\":\"com.example.app:/callback\"}]"},
      {NULL, "directory", "/nonexistent/enroll"},
      {NULL, "account", "nobody"},
      {NULL, "name", "a"},
      {NULL, "value", "b"},
      {NULL, "data", "c"},
  };
  if (wanted->is_optional) return NULL;
  for (size_t index = 0; index < sizeof texts / sizeof *texts; index++)
    if (strcmp(texts[index].name, wanted->name) == 0 &&
        (texts[index].function == NULL || strcmp(texts[index].function, function->name) == 0))
      return texts[index].text;
  CHECK_FAIL("%s: no acceptable text is known for %s", function->name, wanted->name);
}

/* Fills in arguments that the function accepts; a response is NULL. `client` and `pending` are for functions
 * that have such parameters. */
static inline void fill(arguments *given, const row *function, enroll_client *client, enroll_pending *pending) {
  memset(given->memory, 0x55, sizeof given->memory);
  for (int index = 0; index < function->count; index++) {
    const parameter *wanted = &function->parameters[index];
    argument *value = &given->values[index];
    *value = (argument){given->memory[index], 0, count_never};
    switch (wanted->kind) {
      case CLIENT: value->pointer = client; break;
      case PENDING: value->pointer = pending; break;
      case QUEUE: value->pointer = the_queue; break;
      case RESPONSE: value->pointer = NULL; break;
      case TEXT: value->pointer = (void *)(uintptr_t)acceptable_text(function, wanted); break;
      case TEXT_SIZE: value->number = -1; break;
      case USER_DATA: value->pointer = NULL; break;
      case STRUCT_IN: memset(value->pointer, 0, wanted->size); /* fall through */
      case STRUCT_OUT:
      case FAILURE: memcpy(value->pointer, &wanted->size, sizeof(size_t)); break;
      case NUMBER: value->number = strcmp(wanted->name, "capacity") == 0 ? 64 : 0; break;
      case TIMEOUT: break;
      default: break;
    }
    if (wanted->kind == STRUCT_IN && strcmp(function->name, "enroll_client_new") == 0) {
      enroll_client_options *options = value->pointer;
      options->configuration =
          "{\"issuer\":\"https://a.example\",\"clientId\":\"c\",\"redirectUri\":\"com.example.app:/callback\"}";
      options->configuration_size = ENROLL_NUL_TERMINATED;
      options->store = ENROLL_STORE_MEMORY;
    }
  }
  memcpy(given->before, given->memory, sizeof given->before);
}

/* Checks that a failed call has changed none of its outputs except the error. */
static inline void check_untouched(const arguments *given, const row *function, const char *what) {
  for (int index = 0; index < function->count; index++)
    if (function->parameters[index].kind != FAILURE &&
        memcmp(given->before[index], given->memory[index], sizeof given->memory[index]) != 0)
      CHECK_FAIL("%s, %s: %s was written", function->name, what, function->parameters[index].name);
}

/* The enroll_error argument of a call; NULL for functions without such a parameter. */
static inline enroll_error *failure_of(arguments *given, const row *function) {
  for (int index = 0; index < function->count; index++)
    if (function->parameters[index].kind == FAILURE) return given->values[index].pointer;
  return NULL;
}

/* Calls the function and expects that the call fails with this status, that the error has the same status,
 * and that the outputs are unchanged. */
static inline void check_refused(arguments *given, const row *function, enroll_status expected, const char *field,
                                 const char *what) {
  memcpy(given->before, given->memory, sizeof given->before);
  enroll_status came = (enroll_status)function->call(given->values);
  enroll_error *error = failure_of(given, function);
  if (came != expected)
    CHECK_FAIL("%s, %s: %s, expected %s", function->name, what, enroll_status_name(came), enroll_status_name(expected));
  check_untouched(given, function, what);
  if (error == NULL || error->struct_size != sizeof *error) return;
  if (error->status != expected) CHECK_FAIL("%s, %s: the error says %d", function->name, what, (int)error->status);
  if (error->message[0] == 0) CHECK_FAIL("%s, %s: the error has no words", function->name, what);
  if (field != NULL && strcmp(error->field, field) != 0)
    CHECK_FAIL("%s, %s: the error names %s, expected %s", function->name, what, error->field, field);
}

#endif
