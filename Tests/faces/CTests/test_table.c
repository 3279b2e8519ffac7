/* Calls every function of the header (table.h) with arguments that it must refuse: it returns a status, names the
 * field, and leaves its outputs unchanged (R37, R41). */

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "provider.h"
#include "table.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_CLO_CHANGE(option) (void)(option)
#endif

static arguments given;

/* What the tests use: a client, and the handle of a call whose callback has run. */
typedef struct fixture {
  provider *server;
  enroll_client *client;
  enroll_pending *pending;
  waiter *done;
} fixture;

static fixture set_up(void) {
  fixture own = {provider_new(), NULL, NULL, waiter_new()};
  own.client = provider_client(own.server, NULL);
  CHECK_STATUS(ENROLL_OK, enroll_registration_state_start(own.client, 0, 0, waiter_state, own.done, &own.pending, NULL));
  waiter_wait(own.done);
  CHECK_STATUS(ENROLL_OK, enroll_queue_new(&the_queue, NULL));
  never_called = 0;
  return own;
}

static void tear_down(fixture *own) {
  CHECK_STATUS(ENROLL_OK, enroll_pending_free(own->pending));
  CHECK_STATUS(ENROLL_OK, enroll_client_free(own->client));
  CHECK_STATUS(ENROLL_OK, enroll_queue_free(the_queue));
  CHECK_NUMBER(0, never_called);
  waiter_free(own->done);
  provider_free(own->server);
}

static int takes(const row *function, kind wanted) {
  return function->count > 0 && function->parameters[0].kind == wanted;
}

static int takes_handle(const row *function) {
  return takes(function, CLIENT) || takes(function, PENDING) || takes(function, QUEUE);
}

TEST("every text is refused that is NULL with a size, is not given, is too long, has a NUL or is not UTF-8 (R37)") {
  static char huge[(1 << 20) + 2];
  memset(huge, 'a', sizeof huge);
  static const struct {
    const char *what, *text;
    size_t size;
  } bad[] = {
      {"NULL with a size", NULL, 5},         {"NULL with an absurd size", NULL, (size_t)-2},
      {"not given", NULL, 0},                {"not given, terminated", NULL, ENROLL_NUL_TERMINATED},
      {"empty", "", 0},                      {"too long", huge, sizeof huge},
      {"absurdly long", huge, SIZE_MAX / 2}, {"longer than memory", huge, (size_t)-2},
      {"a NUL inside", "a\0b", 3},           {"not UTF-8", "\xff\xfe", 2},
      {"cut UTF-8", "\xe2\x82", 2},          {"too long and never terminated", huge, ENROLL_NUL_TERMINATED},
  };
  fixture own = set_up();
  int texts = 0;
  huge[sizeof huge - 1] = 0;
  FOR_EACH_ROW(function) {
    for (int index = 0; index + 1 < function->count; index++) {
      const parameter *wanted = &function->parameters[index];
      /* Functions for a response check the response before the text, and this test has no response: see
       * test_transport.c. */
      if (wanted->kind != TEXT || takes(function, RESPONSE)) continue;
      texts++;
      for (size_t way = 0; way < sizeof bad / sizeof *bad; way++) {
        int is_nothing = bad[way].text == NULL && bad[way].size + 1 <= 1;
        if (wanted->is_optional && is_nothing) continue;
        fill(&given, function, own.client, own.pending);
        given.values[index].pointer = (void *)(uintptr_t)bad[way].text;
        given.values[index + 1].number = (int64_t)bad[way].size;
        /* Malformed JSON has an error of its own, and a PIN may be any bytes. */
        int is_json = strcmp(wanted->name, "configurations") == 0 || strcmp(wanted->name, "parameters") == 0;
        int is_pin = strstr(wanted->name, "pin") != NULL;
        if (is_pin && (bad[way].text == NULL ? 0 : bad[way].size >= 2 && bad[way].size <= 3)) continue;
        enroll_status expected = ENROLL_E_INVALID_ARGUMENT;
        if (is_json && bad[way].text != NULL && bad[way].size <= 3 && !(bad[way].size == 0 && !wanted->is_optional))
          expected = ENROLL_E_JSON;
        if (wanted->is_optional && bad[way].text != NULL && bad[way].size == 0 && !is_json) continue;
        check_refused(&given, function, expected, wanted->name, bad[way].what);
      }
    }
  }
  CHECK(texts > 25);
  tear_down(&own);
}

/* The limit of a text in bytes: 256 according to the header's opening comment, unless the comment of the function
 * gives another limit. 0 if the limit is not tested here, because the core has a limit of its own. */
static size_t limit_of(const char *name) {
  static const struct {
    const char *name;
    size_t bytes;
  } limits[] = {
      {"url", 16384},         {"link", 16384},  {"parameters", 1048576}, {"configurations", 1048576},
      {"directory", 4095},    {"account", 128}, {"access_token", 1048576}, {"nonce", 0},
      {"pin", 0},             {"new_pin", 0},   {"code", 0},
  };
  for (size_t index = 0; index < sizeof limits / sizeof *limits; index++)
    if (strcmp(limits[index].name, name) == 0) return limits[index].bytes;
  return 256;
}

TEST("every text is taken up to the limit that the header says, and no longer") {
  static char text[1048576 + 2];
  fixture own = set_up();
  FOR_EACH_ROW(function) {
    for (int index = 0; index + 1 < function->count; index++) {
      const parameter *wanted = &function->parameters[index];
      size_t limit = limit_of(wanted->name);
      if (wanted->kind != TEXT || takes(function, RESPONSE) || limit == 0) continue;
      memset(text, 'a', sizeof text);
      if (strcmp(wanted->name, "directory") == 0) text[0] = '/';
      fill(&given, function, own.client, own.pending);
      enroll_error *error = failure_of(&given, function);
      given.values[index].pointer = text;
      given.values[index + 1].number = (int64_t)limit + 1;
      CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, (enroll_status)function->call(given.values));
      if (error != NULL && strstr(error->message, "at most") == NULL)
        CHECK_FAIL("%s: %zu bytes of %s are refused for another reason: %s", function->name, limit + 1, wanted->name,
                   error->message);
      fill(&given, function, own.client, own.pending);
      given.values[index].pointer = text;
      given.values[index + 1].number = (int64_t)limit;
      for (int other = 0; other < function->count; other++) /* Nothing is to begin. */
        if (function->parameters[other].kind == CALLBACK) given.values[other].function = NULL;
      enroll_status came = (enroll_status)function->call(given.values);
      if (came == ENROLL_E_INVALID_ARGUMENT && error != NULL && strstr(error->message, "at most") != NULL)
        CHECK_FAIL("%s: %zu bytes of %s are refused: %s", function->name, limit, wanted->name, error->message);
    }
  }
  tear_down(&own);
}

TEST("every struct is refused whose size is none, too small or absurd, and is left alone") {
  static const size_t sizes[] = {0, 1, sizeof(size_t), 16, 65537, SIZE_MAX / 2, SIZE_MAX};
  fixture own = set_up();
  int structs = 0;
  FOR_EACH_ROW(function) {
    for (int index = 0; index < function->count; index++) {
      const parameter *wanted = &function->parameters[index];
      int is_init = function->count == 2 && strcmp(function->parameters[1].name, "struct_size") == 0;
      if ((wanted->kind != STRUCT_IN && wanted->kind != STRUCT_OUT && wanted->kind != FAILURE) || is_init) continue;
      structs++;
      for (size_t way = 0; way < sizeof sizes / sizeof *sizes; way++) {
        fill(&given, function, own.client, own.pending);
        memcpy(given.memory[index], &sizes[way], sizeof(size_t));
        memcpy(given.before, given.memory, sizeof given.before);
        check_refused(&given, function, ENROLL_E_INVALID_ARGUMENT, wanted->kind == FAILURE ? NULL : "struct_size",
                      wanted->name);
        /* An error struct that is too short is also left unchanged. */
        CHECK(memcmp(given.before[index], given.memory[index], sizeof given.memory[index]) == 0);
      }
    }
  }
  CHECK(structs > 80);
  tear_down(&own);
}

TEST("an init function writes the size that it was told and no further, and nothing for an absurd one") {
  static const struct {
    size_t size;
    int is_written;
  } sizes[] = {{0, 0}, {1, 0}, {sizeof(size_t), 1}, {24, 1}, {1000, 1}, {65537, 0}, {SIZE_MAX, 0}};
  int inits = 0;
  FOR_EACH_ROW(function) {
    if (function->count != 2 || strcmp(function->parameters[1].name, "struct_size") != 0) continue;
    inits++;
    for (size_t way = 0; way < sizeof sizes / sizeof *sizes; way++) {
      size_t size = sizes[way].size;
      fill(&given, function, NULL, NULL);
      given.values[1].number = (int64_t)size;
      function->call(given.values);
      if (!sizes[way].is_written) {
        check_untouched(&given, function, "absurd");
        continue;
      }
      CHECK(memcmp(given.memory[0], &size, sizeof size) == 0);
      for (size_t byte = sizeof size; byte < sizeof given.memory[0]; byte++)
        CHECK(given.memory[0][byte] == (byte < size ? 0 : 0x55));
      given.values[0].pointer = NULL;
      function->call(given.values);
    }
  }
  CHECK(inits >= 10);
}

/* Frees what a successful call made. */
static void free_made(const row *function) {
  if (strcmp(function->name, "enroll_client_new") == 0) enroll_client_free(*(enroll_client **)given.values[1].pointer);
  if (strcmp(function->name, "enroll_queue_new") == 0) enroll_queue_free(*(enroll_queue **)given.values[0].pointer);
}

TEST("an output that may not be NULL is refused by name, any other may be NULL") {
  fixture own = set_up();
  FOR_EACH_ROW(function) {
    for (int index = 0; index < function->count; index++) {
      const parameter *wanted = &function->parameters[index];
      int is_output = wanted->kind == BUFFER_OUT || wanted->kind == NUMBER_OUT || wanted->kind == STRUCT_OUT ||
                      wanted->kind == HANDLE_OUT || wanted->kind == FAILURE;
      /* enroll_hide_memory would succeed, and it changes the whole process. */
      if (!is_output || !function->returns_status || strcmp(function->name, "enroll_hide_memory") == 0) continue;
      fill(&given, function, own.client, own.pending);
      given.values[index].pointer = NULL;
      if (wanted->is_required) {
        check_refused(&given, function, ENROLL_E_INVALID_ARGUMENT, wanted->name, "NULL");
        continue;
      }
      /* A call that starts would call back later. Such a call gets no callback here, so the function refuses it. */
      for (int other = 0; other < function->count; other++)
        if (function->parameters[other].kind == CALLBACK) given.values[other].function = NULL;
      enroll_error *error = failure_of(&given, function);
      enroll_status came = (enroll_status)function->call(given.values);
      if (came == ENROLL_E_INVALID_ARGUMENT && error != NULL && strcmp(error->field, wanted->name) == 0)
        CHECK_FAIL("%s: %s may be NULL, says its comment", function->name, wanted->name);
      for (int other = 0; other < function->count; other++)
        if (function->parameters[other].kind == BUFFER_OUT && given.values[other].pointer != NULL && came == ENROLL_OK)
          enroll_buf_free(given.values[other].pointer);
      if (came == ENROLL_OK) free_made(function);
    }
  }
  tear_down(&own);
}

TEST("every timeout below -1 is refused by name") {
  static const int64_t timeouts[] = {-2, -1000, INT64_MIN};
  fixture own = set_up();
  int found = 0;
  FOR_EACH_ROW(function) {
    for (int index = 0; index < function->count; index++) {
      if (function->parameters[index].kind != TIMEOUT) continue;
      found++;
      for (size_t way = 0; way < sizeof timeouts / sizeof *timeouts; way++) {
        fill(&given, function, own.client, own.pending);
        given.values[index].number = timeouts[way];
        check_refused(&given, function, ENROLL_E_INVALID_ARGUMENT, "timeout_ms", "a negative timeout");
      }
    }
  }
  CHECK(found > 20);
  tear_down(&own);
}

TEST("no function takes NULL for a callback that is not optional") {
  fixture own = set_up();
  int found = 0;
  FOR_EACH_ROW(function) {
    for (int index = 0; index < function->count; index++) {
      if (function->parameters[index].kind != CALLBACK || function->parameters[index].is_optional) continue;
      found++;
      fill(&given, function, own.client, own.pending);
      given.values[index].function = NULL;
      check_refused(&given, function, ENROLL_E_INVALID_ARGUMENT, "callback", "no callback");
    }
  }
  CHECK(found >= 8);
  tear_down(&own);
}

/* Checks that every function with a handle, apart from the functions that free a handle, refuses the call. */
static void check_each_handle(fixture *own, enroll_status expected, const char *what) {
  FOR_EACH_ROW(function) {
    if (strcmp(function->name, "enroll_client_free") == 0) continue;
    if (strcmp(function->name, "enroll_pending_free") == 0) continue;
    if (strcmp(function->name, "enroll_queue_free") == 0) continue;
    if (!takes_handle(function)) continue;
    /* Inside a callback the library refuses only functions that take a client, and enroll_queue_dispatch. */
    int runs = takes(function, CLIENT) || strcmp(function->name, "enroll_queue_dispatch") == 0;
    if (expected == ENROLL_E_REENTRANT && !runs) continue;
    fill(&given, function, own->client, own->pending);
    check_refused(&given, function, expected, NULL, what);
  }
}

static int in_child(fixture *own) {
  alarm(300); /* Kills a child that hangs. */
  check_each_handle(own, ENROLL_E_FORKED, "in a forked child");
  FOR_EACH_ROW(function) {
    /* Functions that take no handle work in a child of fork(). */
    if (takes_handle(function) || !function->returns_status) continue;
    if (strcmp(function->name, "enroll_client_new") == 0) continue;
    fill(&given, function, NULL, NULL);
    int64_t came = function->call(given.values);
    if (came == ENROLL_E_FORKED) return 2;
    if (came == ENROLL_OK) free_made(function);
  }
  if (enroll_client_free(own->client) != ENROLL_E_FORKED) return 3;
  if (enroll_client_free(own->client) != ENROLL_E_HANDLE) return 3;
  return never_called == 0 ? 0 : 4;
}

static fixture *forked;
static int child_status = 1;
static void run_in_child(void) { child_status = in_child(forked); }

TEST("after fork() every function refuses what was made before, and none hangs") {
  fixture own = set_up();
  forked = &own;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    VALGRIND_CLO_CHANGE("--leak-check=no");
    _exit(check_passes(run_in_child) ? child_status : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK_NUMBER(0, status);
  tear_down(&own);
}

static void calls_everything(void *user_data) {
  fixture *own = user_data;
  check_each_handle(own, ENROLL_E_REENTRANT, "inside send");
  FOR_EACH_ROW(function) {
    if (takes_handle(function) || takes(function, RESPONSE) || !function->returns_status) continue;
    if (strcmp(function->name, "enroll_hide_memory") == 0) continue;
    fill(&given, function, NULL, NULL);
    if (strcmp(function->name, "enroll_client_new") == 0) {
      check_refused(&given, function, ENROLL_E_REENTRANT, NULL, "inside send");
      continue;
    }
    /* Functions that take no client may be called. */
    enroll_status came = (enroll_status)function->call(given.values);
    if (came == ENROLL_E_REENTRANT) CHECK_FAIL("%s is refused inside send, and takes no client", function->name);
    for (int index = 0; index < function->count; index++)
      if (came == ENROLL_OK && function->parameters[index].kind == BUFFER_OUT)
        enroll_buf_free(given.values[index].pointer);
    if (came == ENROLL_OK) free_made(function);
  }
  CHECK_STATUS(ENROLL_E_REENTRANT, enroll_client_free(own->client));
  own->done->outcome = 1;
}

static fixture *entered;
static void enter(void) { calls_everything(entered); }
static int has_failed;
static void calls_back_in(void *user_data) {
  entered = user_data;
  if (!check_passes(enter)) has_failed = 1; /* A failed check must not jump out of the library. */
}

TEST("inside a transport every function that takes a client is refused, any other works") {
  fixture own = set_up();
  enroll_buf url = ENROLL_BUF_INIT;
  has_failed = 0;
  provider_on_send(own.server, calls_back_in, &own);
  CHECK_STATUS(ENROLL_OK, enroll_registration_begin(own.client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, NULL));
  provider_on_send(own.server, NULL, NULL);
  CHECK(!has_failed);
  CHECK_NUMBER(1, own.done->outcome);
  enroll_buf_free(&url);
  tear_down(&own);
}

/* A thread that calls all functions with a client in turn, until the client is freed; the provider answers at once. */
typedef struct caller {
  enroll_client *client;
  size_t first;
  int calls;
  enroll_status unexpected;
  const char *function;
  arguments given;
} caller;

static void *calls_until_freed(void *argument_given) {
  caller *self = argument_given;
  for (size_t turn = self->first;; turn++) {
    const row *function = &rows[turn % ROWS];
    if (!takes(function, CLIENT) || strcmp(function->name, "enroll_client_free") == 0) continue;
    fill(&self->given, function, self->client, NULL);
    for (int index = 0; index < function->count; index++)
      if (function->parameters[index].kind == CALLBACK) self->given.values[index].function = count_never;
    enroll_status came = (enroll_status)function->call(self->given.values);
    __atomic_add_fetch(&self->calls, 1, __ATOMIC_RELAXED);
    for (int index = 0; index < function->count; index++) {
      if (came != ENROLL_OK) continue;
      if (function->parameters[index].kind == BUFFER_OUT) enroll_buf_free(self->given.values[index].pointer);
      if (function->parameters[index].kind == HANDLE_OUT)
        enroll_pending_free(*(enroll_pending **)self->given.memory[index]);
    }
    if (came == ENROLL_E_HANDLE) return NULL;
    if (came == ENROLL_E_FORKED || came == ENROLL_E_REENTRANT || came == ENROLL_E_INTERNAL) {
      self->unexpected = came;
      self->function = function->name;
      return NULL;
    }
  }
}

TEST("a client may be freed while other threads call every function that takes it") {
  enum { CALLERS = 4, ROUNDS = 10 };
  static caller callers[CALLERS];
  for (int round = 0; round < ROUNDS; round++) {
    provider *server = provider_new();
    enroll_client *client = provider_signed_in(server, NULL);
    pthread_t threads[CALLERS];
    for (int index = 0; index < CALLERS; index++) {
      callers[index].client = client;
      callers[index].first = (size_t)(index * 23 + round * 7);
      callers[index].unexpected = ENROLL_OK;
      callers[index].calls = 0;
      CHECK_NUMBER(0, pthread_create(&threads[index], NULL, calls_until_freed, &callers[index]));
    }
    /* Frees the client while the threads call functions; in each round they have reached other functions. */
    for (int index = 0; index < CALLERS; index++)
      while (__atomic_load_n(&callers[index].calls, __ATOMIC_RELAXED) < 5 * round) sched_yield();
    CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
    for (int index = 0; index < CALLERS; index++) {
      pthread_join(threads[index], NULL);
      if (callers[index].unexpected != ENROLL_OK)
        CHECK_FAIL("%s: %s", callers[index].function, enroll_status_name(callers[index].unexpected));
    }
    provider_free(server);
  }
}

int main(int count, char **arguments_given) { return check_main(count, arguments_given); }
