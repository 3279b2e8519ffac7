/* Tests of what a host may provide in addition to its transport and its secret store: an event loop, a clock,
 * a log. */

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "check.h"
#include "provider.h"

/* ---- An event loop ------------------------------------------------------------------------------------------ */

typedef struct loop {
  enroll_queue *queue;
  struct pollfd polled;
  pthread_t thread;
  int foreign; /* The number of callbacks on other threads than the loop's. */
  enroll_status other; /* The status of another thread's dispatch. */
  int has_field; /* Whether the error of that dispatch named the queue. */
  char order[64];
} loop;

static loop loop_new(void) {
  enroll_error error = ENROLL_ERROR_INIT;
  loop made = {.thread = pthread_self()};
  CHECK_OK(enroll_queue_new(&made.queue, &error));
  CHECK_OK(enroll_queue_descriptor(made.queue, &made.polled.fd, &error));
  made.polled.events = POLLIN;
  return made;
}

static enroll_client *loop_client(loop *own, provider *server) {
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.queue = own->queue;
  return provider_open(server, NULL, options);
}

static int is_readable(loop *own) { return poll(&own->polled, 1, 0) == 1; }

/* Waits and dispatches as an event loop does, until `wanted` callbacks have run. */
static void run(loop *own, size_t wanted) {
  enroll_error error = ENROLL_ERROR_INIT;
  size_t ran = 0;
  while (ran < wanted) {
    size_t count = 0;
    if (poll(&own->polled, 1, 20000) != 1) CHECK_FAIL("%zu of %zu callbacks came", ran, wanted);
    CHECK_OK(enroll_queue_dispatch(own->queue, &count, &error));
    CHECK(count > 0);
    ran += count;
  }
  CHECK_NUMBER(wanted, ran);
}

static void note(loop *own, char what) {
  if (!pthread_equal(own->thread, pthread_self())) own->foreign++;
  size_t size = strlen(own->order);
  if (size + 1 < sizeof own->order) own->order[size] = what;
}

static void on_state(void *user_data, enroll_status status, const enroll_state *state, const enroll_error *error) {
  (void)error;
  note(user_data, status == ENROLL_OK && state != NULL ? 's' : 'x');
}

static void on_event(void *user_data, const char *name, const char *parameters, size_t size) {
  (void)parameters;
  (void)size;
  note(user_data, strcmp(name, "registration.changed") == 0 ? 'c' : 'e');
}

TEST("callbacks wait until the host's loop runs them, on its thread and in their order") {
  provider *server = provider_new();
  loop own = loop_new();
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *client = loop_client(&own, server);
  CHECK(!is_readable(&own));
  CHECK_OK(enroll_registration_state_start(client, 0, 0, on_state, &own, NULL, &error));
  run(&own, 1);
  CHECK_TEXT("s", own.order);
  CHECK(!is_readable(&own));
  int64_t subscription = 0;
  CHECK_OK(enroll_events_subscribe(client, on_event, &own, NULL, &subscription, &error));
  provider_sign_in(server, client);
  CHECK(is_readable(&own));
  CHECK_TEXT("s", own.order); /* Events have happened, but no callback has run. */
  size_t count = 0;
  CHECK_OK(enroll_queue_dispatch(own.queue, &count, &error));
  CHECK(count >= 3 && own.order[1] == 'c');
  CHECK(!is_readable(&own));
  CHECK_OK(enroll_queue_dispatch(own.queue, &count, &error));
  CHECK_NUMBER(0, count);
  CHECK_NUMBER(0, own.foreign);
  CHECK_OK(enroll_client_free(client));
  CHECK_OK(enroll_queue_free(own.queue));
  provider_free(server);
}

TEST("the descriptor works with epoll, edge-triggered as well") {
  provider *server = provider_new();
  loop own = loop_new();
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *client = loop_client(&own, server);
  int poller = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  CHECK_NUMBER(0, epoll_ctl(poller, EPOLL_CTL_ADD, own.polled.fd, &event));
  for (int round = 0; round < 3; round++) {
    CHECK_OK(enroll_registration_state_start(client, 0, 0, on_state, &own, NULL, &error));
    CHECK_NUMBER(1, epoll_wait(poller, &event, 1, 20000));
    CHECK_OK(enroll_queue_dispatch(own.queue, NULL, &error));
    CHECK_NUMBER(0, epoll_wait(poller, &event, 1, 0));
  }
  CHECK_TEXT("sss", own.order);
  close(poller);
  CHECK_OK(enroll_client_free(client));
  CHECK_OK(enroll_queue_free(own.queue));
  provider_free(server);
}

TEST("one queue serves several clients, and outlives them or not") {
  provider *server = provider_new();
  loop own = loop_new();
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *clients[3];
  for (int index = 0; index < 3; index++) {
    clients[index] = loop_client(&own, server);
    CHECK_OK(enroll_registration_state_start(clients[index], 0, 0, on_state, &own, NULL, &error));
  }
  for (int index = 0; index < 3; index++) CHECK_OK(enroll_client_free(clients[index]));
  run(&own, 3);
  CHECK_NUMBER(0, own.foreign);
  CHECK_OK(enroll_queue_free(own.queue));
  provider_free(server);
}

/* A queue that is freed while callbacks wait in it. */
TEST("what waits in a queue that is given back calls back all the same, once") {
  provider *server = provider_new();
  loop own = loop_new();
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *client = loop_client(&own, server);
  waiter *waiting = waiter_new(), *later = waiter_new();
  CHECK_OK(enroll_registration_state_start(client, 0, 0, waiter_state, waiting, NULL, &error));
  CHECK_NUMBER(1, poll(&own.polled, 1, 20000));
  CHECK_NUMBER(0, waiting->calls);
  CHECK_OK(enroll_queue_free(own.queue));
  waiter_wait(waiting);
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_queue_dispatch(own.queue, NULL, NULL));
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_queue_free(own.queue));
  CHECK_OK(enroll_registration_state_start(client, 0, 0, waiter_state, later, NULL, &error));
  waiter_wait(later);
  CHECK_OK(enroll_client_free(client));
  CHECK_NUMBER(1, waiting->calls);
  CHECK_NUMBER(1, later->calls);
  waiter_free(waiting);
  waiter_free(later);
  provider_free(server);
}

static void nests(void *user_data, enroll_status status, const enroll_state *state, const enroll_error *given) {
  (void)status, (void)state, (void)given;
  loop *own = user_data;
  note(own, '(');
  size_t count = 0;
  /* Two more callbacks wait. In a program, the event loop of a modal dialog would run these callbacks here.
     */
  if (enroll_queue_dispatch(own->queue, &count, NULL) != ENROLL_OK || count != 2) note(own, '!');
  note(own, ')');
}

TEST("a callback may run a loop of its own, and another thread may not run one beside it") {
  provider *server = provider_new();
  loop own = loop_new();
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *client = loop_client(&own, server);
  CHECK_OK(enroll_registration_state_start(client, 0, 0, nests, &own, NULL, &error));
  CHECK_NUMBER(1, poll(&own.polled, 1, 20000));
  waiter *events = waiter_new();
  int64_t subscription = 0;
  CHECK_OK(enroll_events_subscribe(client, waiter_event, events, NULL, &subscription, &error));
  CHECK_OK(enroll_events_subscribe(client, on_event, &own, NULL, &subscription, &error));
  enroll_buf url = ENROLL_BUF_INIT;
  CHECK_OK(enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, &error));
  enroll_buf_free(&url);
  size_t count = 0;
  CHECK_OK(enroll_queue_dispatch(own.queue, &count, &error));
  CHECK_NUMBER(1, count);
  CHECK_TEXT("(c)", own.order);
  CHECK_NUMBER(1, events->calls);
  CHECK_OK(enroll_client_free(client));
  CHECK_OK(enroll_queue_free(own.queue));
  waiter_free(events);
  provider_free(server);
}

static void *dispatches(void *user_data) {
  loop *own = user_data;
  enroll_error error = ENROLL_ERROR_INIT;
  own->other = enroll_queue_dispatch(own->queue, NULL, &error);
  own->has_field = strcmp(error.field, "queue") == 0;
  return NULL;
}

static void meets_another(void *user_data, enroll_status status, const enroll_state *state, const enroll_error *given) {
  (void)status, (void)state, (void)given;
  pthread_t other;
  if (pthread_create(&other, NULL, dispatches, user_data) == 0) pthread_join(other, NULL);
}

TEST("two threads cannot run the callbacks of one queue at once") {
  provider *server = provider_new();
  loop own = loop_new();
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *client = loop_client(&own, server);
  CHECK_OK(enroll_registration_state_start(client, 0, 0, meets_another, &own, NULL, &error));
  run(&own, 1);
  CHECK_NUMBER(ENROLL_E_BUSY, own.other);
  CHECK(own.has_field);
  CHECK_OK(enroll_client_free(client));
  CHECK_OK(enroll_queue_free(own.queue));
  provider_free(server);
}

static void frees_all(void *user_data, enroll_status status, const enroll_state *state, const enroll_error *given) {
  (void)status, (void)state, (void)given;
  loop *own = user_data;
  note(own, enroll_queue_free(own->queue) == ENROLL_OK ? 'f' : '!');
}

TEST("a callback may free the queue that runs it; the others are not lost") {
  provider *server = provider_new();
  loop own = loop_new();
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *client = loop_client(&own, server);
  waiter *last = waiter_new();
  CHECK_OK(enroll_registration_state_start(client, 0, 0, frees_all, &own, NULL, &error));
  CHECK_NUMBER(1, poll(&own.polled, 1, 20000));
  int64_t subscription = 0;
  CHECK_OK(enroll_events_subscribe(client, waiter_event, last, NULL, &subscription, &error));
  enroll_buf url = ENROLL_BUF_INIT;
  CHECK_OK(enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, &error));
  enroll_buf_free(&url);
  CHECK_NUMBER(0, last->calls);
  size_t count = 0;
  CHECK_OK(enroll_queue_dispatch(own.queue, &count, &error));
  CHECK_NUMBER(1, count);
  CHECK_TEXT("f", own.order);
  waiter_wait(last);
  CHECK_OK(enroll_client_free(client));
  waiter_free(last);
  provider_free(server);
}

TEST("a client with a queue that is none is not opened") {
  provider *server = provider_new();
  loop own = loop_new();
  CHECK_STATUS(ENROLL_OK, enroll_queue_free(own.queue));
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = "{\"issuer\":\"https://a.example\",\"clientId\":\"c\",\"redirectUri\":\"com.example.app:/c\"}";
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store = ENROLL_STORE_MEMORY;
  options.queue = own.queue;
  enroll_client *client = NULL;
  enroll_error error = ENROLL_ERROR_INIT;
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_client_new(&options, &client, &error));
  CHECK_TEXT("queue", error.field);
  CHECK(client == NULL);
  provider_free(server);
}

static void *frees(void *client) {
  enroll_client_free(client);
  return NULL;
}

TEST("calls that wait when their client is freed call back with ENROLL_E_CANCELLED, in the loop") {
  provider *server = provider_new();
  loop own = loop_new();
  enroll_error error = ENROLL_ERROR_INIT;
  waiter *state = waiter_new(), *token = waiter_new();
  enroll_client *client = loop_client(&own, server);
  provider_sign_in(server, client);
  provider_hold(server);
  CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, waiter_access, token, NULL, &error));
  provider_wait_for_requests(server, 2);
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.queue = own.queue;
  options.waits_for_platform = 1;
  enroll_client *other = provider_open(server, NULL, options);
  CHECK_OK(enroll_registration_state_start(other, 1, ENROLL_NO_TIMEOUT, waiter_state, state, NULL, &error));
  CHECK_OK(enroll_client_free(other));
  pthread_t freeing;
  CHECK_NUMBER(0, pthread_create(&freeing, NULL, frees, client));
  run(&own, 2);
  CHECK_NUMBER(ENROLL_E_CANCELLED, state->status);
  CHECK_NUMBER(ENROLL_E_CANCELLED, token->status);
  provider_release(server);
  pthread_join(freeing, NULL);
  CHECK_OK(enroll_queue_free(own.queue));
  waiter_free(state);
  waiter_free(token);
  provider_free(server);
}

/* ---- A clock ------------------------------------------------------------------------------------------------- */

typedef struct times {
  int64_t date, monotonic;
  int released;
  enroll_client *client;
  enroll_status inside;
} times;

static int64_t date(void *user_data) {
  times *own = user_data;
  if (own->client != NULL) own->inside = enroll_platform_ready(own->client, NULL);
  return __atomic_load_n(&own->date, __ATOMIC_RELAXED);
}

static int64_t monotonic(void *user_data) { return __atomic_load_n(&((times *)user_data)->monotonic, __ATOMIC_RELAXED); }
static void release_clock(void *user_data) { __atomic_add_fetch(&((times *)user_data)->released, 1, __ATOMIC_RELEASE); }

static void pass(times *own, int64_t seconds) {
  __atomic_add_fetch(&own->date, seconds, __ATOMIC_RELAXED);
  __atomic_add_fetch(&own->monotonic, seconds * 1000000000, __ATOMIC_RELAXED);
}

static enroll_client *timed_client(times *own, provider *server) {
  enroll_clock clock = ENROLL_CLOCK_INIT;
  clock.user_data = own;
  clock.date = date;
  clock.monotonic = monotonic;
  clock.release = release_clock;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.clock = &clock;
  return provider_open(server, NULL, options);
}

static void wait_for_release(times *own) {
  for (int turn = 0; turn < 2000 && __atomic_load_n(&own->released, __ATOMIC_ACQUIRE) == 0; turn++) usleep(10000);
  CHECK_NUMBER(1, own->released);
}

TEST("a host's clock says when a token is due, also to the way without allocation") {
  provider *server = provider_new();
  times own = {1700000000, 5, 0, NULL, 0};
  enroll_error error = ENROLL_ERROR_INIT;
  char first[128], second[128];
  int64_t expires_at = 0;
  provider_set_lifetime(server, 3600);
  enroll_client *client = timed_client(&own, server);
  provider_sign_in(server, client);
  CHECK_OK(enroll_token_copy(client, 0, -1, first, sizeof first, NULL, &expires_at, &error));
  CHECK_NUMBER(1700003600, expires_at);
  pass(&own, 3000);
  CHECK_OK(enroll_token_copy(client, 0, -1, second, sizeof second, NULL, &expires_at, &error));
  CHECK_TEXT(first, second);
  CHECK_NUMBER(1, provider_token_requests(server));
  pass(&own, 3000);
  CHECK_OK(enroll_token_copy(client, 0, -1, second, sizeof second, NULL, &expires_at, &error));
  CHECK(strcmp(first, second) != 0);
  CHECK_NUMBER(1700009600, expires_at);
  CHECK_NUMBER(2, provider_token_requests(server));
  /* The test sets the date back. The token's age must follow the monotonic clock. */
  __atomic_store_n(&own.date, 1, __ATOMIC_RELAXED);
  pass(&own, 3000);
  CHECK_OK(enroll_token_copy(client, 0, -1, first, sizeof first, NULL, NULL, &error));
  CHECK_TEXT(second, first);
  CHECK_OK(enroll_client_free(client));
  wait_for_release(&own);
  provider_free(server);
}

TEST("a clock may not use its client (R41)") {
  provider *server = provider_new();
  times own = {1700000000, 5, 0, NULL, 0};
  enroll_client *client = timed_client(&own, server);
  own.client = client;
  provider_sign_in(server, client);
  own.client = NULL;
  CHECK_NUMBER(ENROLL_E_REENTRANT, own.inside);
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  wait_for_release(&own);
  provider_free(server);
}

/* ---- A log --------------------------------------------------------------------------------------------------- */

typedef struct lines {
  pthread_mutex_t mutex;
  char text[16384];
  int32_t least;
  int released;
  enroll_client *client;
  enroll_status inside, dispatched;
  enroll_queue *queue;
} lines;

static void write_line(void *user_data, int32_t level, const char *line, size_t size) {
  lines *own = user_data;
  pthread_mutex_lock(&own->mutex);
  if (level > own->least) own->least = level;
  size_t used = strlen(own->text);
  if (line[size] == 0 && strlen(line) == size && strchr(line, '\n') == NULL && used + size + 2 < sizeof own->text) {
    memcpy(own->text + used, line, size);
    own->text[used + size] = '\n';
  }
  if (own->client != NULL) own->inside = enroll_platform_ready(own->client, NULL);
  if (own->queue != NULL) own->dispatched = enroll_queue_dispatch(own->queue, NULL, NULL);
  pthread_mutex_unlock(&own->mutex);
}

static void release_log(void *user_data) { __atomic_add_fetch(&((lines *)user_data)->released, 1, __ATOMIC_RELEASE); }

static enroll_client *logged_client(lines *own, provider *server, int32_t level) {
  enroll_log log = ENROLL_LOG_INIT;
  log.user_data = own;
  log.level = level;
  log.write = write_line;
  log.release = release_log;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.log = &log;
  return provider_open(server, NULL, options);
}

static void end_log(lines *own, enroll_client *client) {
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  for (int turn = 0; turn < 2000 && __atomic_load_n(&own->released, __ATOMIC_ACQUIRE) == 0; turn++) usleep(10000);
  CHECK_NUMBER(1, own->released);
}

/* The outcome, ENROLL_ACCESS_*. */
static int32_t renew(enroll_client *client) {
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf token = ENROLL_BUF_INIT;
  enroll_access access = ENROLL_ACCESS_INIT;
  CHECK_OK(enroll_token_refresh(client, ENROLL_NO_TIMEOUT, &access, &token, &error));
  enroll_buf_free(&token);
  return access.outcome;
}

TEST("a host's log gets the steps and the requests, and no secret (R40)") {
  provider *server = provider_new();
  lines own = {.mutex = PTHREAD_MUTEX_INITIALIZER};
  char token[128];
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *client = logged_client(&own, server, ENROLL_LOG_DEBUG);
  own.client = client;
  CHECK_OK(enroll_queue_new(&own.queue, &error));
  provider_sign_in(server, client);
  CHECK_OK(enroll_token_copy(client, 0, -1, token, sizeof token, NULL, NULL, &error));
  CHECK_NUMBER(ENROLL_ACCESS_VALID, renew(client));
  provider_set_token_status(server, 503);
  CHECK_NUMBER(ENROLL_ACCESS_STALE, renew(client));
  own.client = NULL;
  end_log(&own, client);
  CHECK_NUMBER(ENROLL_LOG_DEBUG, own.least);
  CHECK_NUMBER(ENROLL_E_REENTRANT, own.inside);
  CHECK_NUMBER(ENROLL_E_REENTRANT, own.dispatched);
  CHECK(strstr(own.text, "registration: authenticating\n") != NULL);
  CHECK(strstr(own.text, "registration: awaitingConfirmation\n") != NULL);
  CHECK(strstr(own.text, "tokens renewed") != NULL);
  CHECK(strstr(own.text, "POST https://provider.example: 200 after ") != NULL);
  CHECK(strstr(own.text, "POST https://provider.example: 503 after ") != NULL);
  CHECK(strstr(own.text, "renewal failed: ") != NULL);
  CHECK(strstr(own.text, token) == NULL);
  CHECK(strstr(own.text, "refresh-") == NULL);
  CHECK(strstr(own.text, "state=") == NULL);
  CHECK_OK(enroll_queue_free(own.queue));
  provider_free(server);
}

TEST("a log gets no more than it asked for") {
  static const int32_t levels[] = {ENROLL_LOG_ERROR, ENROLL_LOG_WARNING, 0, ENROLL_LOG_DEBUG};
  static const int32_t least[] = {ENROLL_LOG_ERROR, ENROLL_LOG_WARNING, ENROLL_LOG_INFO, ENROLL_LOG_DEBUG};
  for (int way = 0; way < 4; way++) {
    provider *server = provider_new();
    lines own = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    enroll_client *client = logged_client(&own, server, levels[way]);
    provider_sign_in(server, client);
    provider_set_token_status(server, 503);
    CHECK_NUMBER(ENROLL_ACCESS_STALE, renew(client));
    end_log(&own, client);
    CHECK_NUMBER(least[way], own.least);
    provider_free(server);
  }
}

TEST("clocks and logs that are not whole are refused by name") {
  enroll_clock clock = ENROLL_CLOCK_INIT;
  enroll_log log = ENROLL_LOG_INIT;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *client = NULL;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = "{\"issuer\":\"https://a.example\",\"clientId\":\"c\",\"redirectUri\":\"com.example.app:/c\"}";
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store = ENROLL_STORE_MEMORY;
  clock.date = date;
  options.clock = &clock;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_client_new(&options, &client, &error));
  CHECK_TEXT("clock", error.field);
  clock = (enroll_clock){0};
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_client_new(&options, &client, &error));
  CHECK_TEXT("struct_size", error.field);
  options.clock = NULL;
  options.log = &log;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_client_new(&options, &client, &error));
  CHECK_TEXT("log", error.field);
  log.write = write_line;
  log.level = 5;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_client_new(&options, &client, &error));
  CHECK_TEXT("level", error.field);
  CHECK(client == NULL);
}

int main(int count, char **arguments) { return check_main(count, arguments); }
