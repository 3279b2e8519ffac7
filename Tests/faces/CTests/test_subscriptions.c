/* Tests that a subscription ends exactly once: after its last event callback has returned,
 * enroll_ended_callback is called; then the host may free the subscription's user_data. */

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "provider.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_CLO_CHANGE(option) (void)(option)
#endif

static enroll_error error = ENROLL_ERROR_INIT;

/* While this is set, starting a thread fails. */
static int threads_are_refused;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *given) {
  typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static create *next;
  if (__atomic_load_n(&threads_are_refused, __ATOMIC_SEQ_CST)) return EAGAIN;
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, attributes, body, given);
}

/* The user_data of a subscription. */
typedef struct listener {
  enroll_client *client;
  enroll_queue *queue;
  int64_t subscription;
  /* The function that the callback of an event runs; NULL if it runs none. */
  void (*acts)(struct listener *);
  waiter *ending;
  pthread_t thread; /* The thread on which the end was called. */
  int events, running, endings;
  int late, overlapping; /* Events after the end, and ends inside an event. */
} listener;

static void on_event(void *user_data, const char *name, const char *parameters, size_t size) {
  (void)name, (void)parameters, (void)size;
  listener *own = user_data;
  if (__atomic_load_n(&own->endings, __ATOMIC_SEQ_CST) > 0) __atomic_add_fetch(&own->late, 1, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&own->running, 1, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&own->events, 1, __ATOMIC_SEQ_CST);
  if (own->acts != NULL) own->acts(own);
  __atomic_sub_fetch(&own->running, 1, __ATOMIC_SEQ_CST);
}

static void on_end(void *user_data) {
  listener *own = user_data;
  own->thread = pthread_self();
  if (__atomic_load_n(&own->running, __ATOMIC_SEQ_CST) > 0) own->overlapping++;
  __atomic_add_fetch(&own->endings, 1, __ATOMIC_SEQ_CST);
  if (own->ending != NULL) waiter_event(own->ending, "", "", 0);
}

static void subscribe(listener *own, enroll_client *client) {
  own->client = client;
  CHECK_OK(enroll_events_subscribe(client, on_event, own, on_end, &own->subscription, &error));
}

static void unsubscribe(listener *own) {
  CHECK_OK(enroll_events_unsubscribe(own->client, own->subscription, &error));
}

/* Checks that the listener got this many events, and that its subscription then ended. */
static void check_ended(listener *own, int events) {
  CHECK_NUMBER(events, own->events);
  CHECK_NUMBER(1, own->endings);
  CHECK_NUMBER(0, own->late);
  CHECK_NUMBER(0, own->overlapping);
}

/* Causes an event for every subscription of the client. */
static void happens(enroll_client *client) {
  enroll_buf url = ENROLL_BUF_INIT;
  CHECK_OK(enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, &error));
  enroll_buf_free(&url);
}

/* Makes a client and reads its state once. From then on, only `happens` causes events. */
static enroll_client *client_of(provider *server, enroll_queue **queue) {
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  if (queue != NULL) CHECK_OK(enroll_queue_new(queue, &error));
  options.queue = queue == NULL ? NULL : *queue;
  enroll_client *client = provider_open(server, NULL, options);
  CHECK_OK(enroll_registration_state(client, 0, 0, NULL, &error));
  return client;
}

/* Runs all callbacks that wait in a queue. */
static void run_all(enroll_queue *queue) {
  for (size_t ran = 1; ran > 0;) CHECK_OK(enroll_queue_dispatch(queue, &ran, &error));
}

/* Waits until every callback has run that was already waiting at the time of this call. */
static void wait_behind(enroll_client *client) {
  waiter *behind = waiter_new();
  CHECK_OK(enroll_registration_state_start(client, 0, 0, waiter_state, behind, NULL, &error));
  waiter_wait(behind);
  waiter_free(behind);
}

TEST("the end of a subscription is told once, after its events and on the thread of the callbacks") {
  provider *server = provider_new();
  enroll_client *client = client_of(server, NULL);
  listener own = {.ending = waiter_new()};
  subscribe(&own, client);
  happens(client);
  wait_behind(client);
  CHECK_NUMBER(0, own.endings);
  unsubscribe(&own);
  waiter_wait(own.ending);
  CHECK(!pthread_equal(own.thread, pthread_self()));
  CHECK_STATUS(ENROLL_E_NOT_FOUND, enroll_events_unsubscribe(client, own.subscription, NULL));
  happens(client);
  CHECK_OK(enroll_client_free(client));
  check_ended(&own, 1);
  waiter_free(own.ending);
  provider_free(server);
}

TEST("a subscription that was refused has no end") {
  provider *server = provider_new();
  enroll_queue *queue = NULL;
  enroll_client *client = client_of(server, &queue);
  listener own = {.client = client};
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_events_subscribe(client, NULL, &own, on_end, &own.subscription, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_events_subscribe(client, on_event, &own, on_end, NULL, NULL));
  CHECK_OK(enroll_client_free(client));
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_events_subscribe(client, on_event, &own, on_end, &own.subscription, NULL));
  run_all(queue);
  CHECK_NUMBER(0, own.endings);
  CHECK_NUMBER(0, own.subscription);
  CHECK_OK(enroll_queue_free(queue));
  provider_free(server);
}

TEST("events that wait when their subscription ends are dropped") {
  provider *server = provider_new();
  enroll_queue *queue = NULL;
  enroll_client *client = client_of(server, &queue);
  listener ends = {0}, stays = {0};
  int64_t mute = 0;
  subscribe(&ends, client);
  subscribe(&stays, client);
  CHECK_OK(enroll_events_subscribe(client, on_event, &stays, NULL, &mute, &error));
  happens(client);
  unsubscribe(&ends);
  CHECK_OK(enroll_events_unsubscribe(client, mute, &error));
  CHECK_NUMBER(0, ends.endings);
  run_all(queue);
  check_ended(&ends, 0);
  CHECK_NUMBER(1, stays.events);
  CHECK_NUMBER(0, stays.endings);
  CHECK_OK(enroll_client_free(client));
  run_all(queue);
  check_ended(&stays, 1);
  CHECK_OK(enroll_queue_free(queue));
  provider_free(server);
}

TEST("events that wait when their client is freed are told, and then the end") {
  provider *server = provider_new();
  enroll_queue *queue = NULL;
  enroll_client *client = client_of(server, &queue);
  listener heard = {0}, silent = {0};
  subscribe(&heard, client);
  happens(client);
  happens(client);
  subscribe(&silent, client);
  CHECK_OK(enroll_client_free(client));
  CHECK_NUMBER(0, heard.endings + silent.endings);
  run_all(queue);
  CHECK(heard.events >= 2);
  check_ended(&heard, heard.events);
  check_ended(&silent, 0);
  CHECK_OK(enroll_queue_free(queue));
  provider_free(server);
}

/* An event callback that ends its own subscription, and then dispatches the queue itself.
 * enroll_ended_callback must not be called while this callback runs. */
static void ends_itself(listener *own) {
  if (enroll_events_unsubscribe(own->client, own->subscription, NULL) != ENROLL_OK) own->late++;
  if (own->queue != NULL) enroll_queue_dispatch(own->queue, NULL, NULL);
}

static void frees_its_client(listener *own) {
  if (enroll_client_free(own->client) != ENROLL_OK) own->late++;
  if (own->queue != NULL) enroll_queue_dispatch(own->queue, NULL, NULL);
}

static void ends_inside(void (*acts)(listener *), int frees, int has_queue) {
  provider *server = provider_new();
  listener own = {.acts = acts, .ending = waiter_new()};
  enroll_client *client = client_of(server, has_queue ? &own.queue : NULL);
  subscribe(&own, client);
  happens(client);
  if (has_queue) run_all(own.queue);
  waiter_wait(own.ending);
  check_ended(&own, 1);
  if (frees) {
    CHECK_STATUS(ENROLL_E_HANDLE, enroll_platform_ready(client, NULL));
  } else {
    CHECK_STATUS(ENROLL_E_NOT_FOUND, enroll_events_unsubscribe(client, own.subscription, NULL));
    CHECK_OK(enroll_client_free(client));
  }
  if (has_queue) {
    run_all(own.queue);
    CHECK_OK(enroll_queue_free(own.queue));
  }
  check_ended(&own, 1);
  waiter_free(own.ending);
  provider_free(server);
}

TEST("a callback may end its subscription: the end comes when it has returned") {
  ends_inside(ends_itself, 0, 0);
  ends_inside(ends_itself, 0, 1);
}

TEST("a callback may free its client: the end comes when it has returned") {
  ends_inside(frees_its_client, 1, 0);
  ends_inside(frees_its_client, 1, 1);
}

struct gate {
  waiter *entered, *open;
};

static void stop_here(void *user_data, enroll_status status, const enroll_state *state, const enroll_error *failure) {
  struct gate *gate = user_data;
  waiter_state(gate->entered, status, state, failure);
  waiter_wait(gate->open);
}

/* CROWD times TIMES is more than the number of events that may wait for their callbacks; under valgrind there
 * are fewer events. */
enum { CROWD = 4096, TIMES = 17 };
static listener crowd[CROWD];

static void fill(enroll_client *client, int count) {
  memset(crowd, 0, sizeof crowd);
  for (int index = 0; index < count; index++) subscribe(&crowd[index], client);
  for (int round = 0; round < TIMES; round++) happens(client);
}

TEST("the end is told to a host whose callbacks have as many events to deliver as may wait") {
  int count = RUNNING_ON_VALGRIND ? 16 : CROWD;
  provider *server = provider_new();
  enroll_client *client = client_of(server, NULL);
  struct gate gate = {waiter_new(), waiter_new()};
  CHECK_OK(enroll_registration_state_start(client, 0, 0, stop_here, &gate, NULL, &error));
  waiter_wait(gate.entered);
  fill(client, count);
  listener last = {.ending = waiter_new()};
  subscribe(&last, client);
  happens(client);
  unsubscribe(&last);
  CHECK_NUMBER(0, last.endings); /* The end is not called on this thread. */
  for (int index = 0; index < count / 2; index++) unsubscribe(&crowd[index]);
  waiter_event(gate.open, "", "", 0);
  waiter_wait(last.ending);
  CHECK(!pthread_equal(last.thread, pthread_self()));
  wait_behind(client);
  check_ended(&last, 0);
  int heard = 0;
  for (int index = 0; index < count; index++) {
    CHECK_NUMBER(index < count / 2, crowd[index].endings);
    CHECK_NUMBER(0, crowd[index].late);
    heard += crowd[index].events;
  }
  /* Some events were dropped, because too many were waiting. */
  CHECK(RUNNING_ON_VALGRIND || (heard > 0 && heard < count / 2 * TIMES));
  crowd[count - 1].ending = waiter_new();
  CHECK_OK(enroll_client_free(client));
  waiter_wait(crowd[count - 1].ending);
  for (int index = 0; index < count; index++) CHECK_NUMBER(1, crowd[index].endings);
  waiter_free(crowd[count - 1].ending);
  waiter_free(last.ending);
  waiter_free(gate.entered);
  waiter_free(gate.open);
  provider_free(server);
}

TEST("the end is told through a queue in which as many events wait as may") {
  int count = RUNNING_ON_VALGRIND ? 16 : CROWD;
  provider *server = provider_new();
  enroll_queue *queue = NULL;
  enroll_client *client = client_of(server, &queue);
  fill(client, count);
  listener last = {0};
  subscribe(&last, client);
  happens(client);
  unsubscribe(&last);
  CHECK_NUMBER(0, last.endings); /* The end is not called on this thread. */
  CHECK_OK(enroll_client_free(client));
  run_all(queue);
  CHECK_NUMBER(1, last.endings);
  for (int index = 0; index < count; index++) check_ended(&crowd[index], crowd[index].events);
  CHECK_OK(enroll_queue_free(queue));
  provider_free(server);
}

TEST("the end is told where the queue was given back, before it or after it") {
  provider *server = provider_new();
  enroll_queue *queue = NULL;
  enroll_client *client = client_of(server, &queue);
  listener before = {.ending = waiter_new()}, heard = {.ending = waiter_new()}, after = {.ending = waiter_new()};
  subscribe(&before, client);
  subscribe(&heard, client);
  subscribe(&after, client);
  unsubscribe(&before);
  happens(client);
  CHECK_OK(enroll_queue_free(queue));
  waiter_wait(before.ending);
  wait_behind(client);
  unsubscribe(&after);
  waiter_wait(after.ending);
  CHECK_OK(enroll_client_free(client));
  waiter_wait(heard.ending);
  check_ended(&before, 0);
  check_ended(&heard, 1);
  check_ended(&after, 1);
  waiter_free(before.ending);
  waiter_free(heard.ending);
  waiter_free(after.ending);
  provider_free(server);
}

TEST("the end is told on the thread that ends the subscription where the system gives no other") {
  provider *server = provider_new();
  enroll_client *client = client_of(server, NULL);
  listener ends = {0}, freed = {0};
  subscribe(&ends, client);
  subscribe(&freed, client);
  threads_are_refused = 1;
  unsubscribe(&ends);
  check_ended(&ends, 0);
  CHECK(pthread_equal(ends.thread, pthread_self()));
  CHECK_OK(enroll_client_free(client));
  check_ended(&freed, 0);
  threads_are_refused = 0;
  provider_free(server);
}

TEST("a queue that is given back where the system gives no thread loses no callback") {
  provider *server = provider_new();
  enroll_queue *queue = NULL;
  enroll_client *client = client_of(server, &queue);
  listener first = {0}, second = {0};
  subscribe(&first, client);
  subscribe(&second, client);
  happens(client);
  unsubscribe(&first);
  threads_are_refused = 1;
  CHECK_OK(enroll_queue_free(queue));
  check_ended(&first, 0);
  CHECK_NUMBER(1, second.events);
  unsubscribe(&second);
  check_ended(&second, 1);
  threads_are_refused = 0;
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

/* Several threads at once. */

struct race {
  listener listener;
  enroll_client *client;
  pthread_barrier_t start;
  int done, stop;
};

static void *ends_it(void *given) {
  struct race *race = given;
  pthread_barrier_wait(&race->start);
  enroll_status status = enroll_events_unsubscribe(race->client, race->listener.subscription, NULL);
  if (status == ENROLL_OK) __atomic_add_fetch(&race->done, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

static void *frees_it(void *given) {
  struct race *race = given;
  pthread_barrier_wait(&race->start);
  enroll_client_free(race->client);
  return NULL;
}

TEST("of threads that end one subscription at once one does, and the end is told once") {
  enum { THREADS = 4 };
  int rounds = RUNNING_ON_VALGRIND ? 20 : 300;
  provider *server = provider_new();
  for (int round = 0; round < rounds; round++) {
    int frees = round % 2;
    enroll_queue *queue = NULL;
    struct race race = {.client = client_of(server, &queue)};
    pthread_t threads[THREADS];
    subscribe(&race.listener, race.client);
    pthread_barrier_init(&race.start, NULL, THREADS);
    for (int index = 0; index < THREADS; index++)
      CHECK_NUMBER(0, pthread_create(&threads[index], NULL, frees && index == 0 ? frees_it : ends_it, &race));
    for (int index = 0; index < THREADS; index++) pthread_join(threads[index], NULL);
    CHECK(frees ? race.done <= 1 : race.done == 1);
    if (!frees) CHECK_OK(enroll_client_free(race.client));
    run_all(queue);
    check_ended(&race.listener, 0);
    CHECK_OK(enroll_queue_free(queue));
    pthread_barrier_destroy(&race.start);
  }
  provider_free(server);
}

enum { MANY = 50 };

static void *subscribes(void *given) {
  struct race *race = given;
  int64_t number = 0;
  pthread_barrier_wait(&race->start);
  for (int count = 0; count < MANY; count++) {
    if (enroll_events_subscribe(race->client, on_event, &race->listener, on_end, &number, NULL) != ENROLL_OK) break;
    __atomic_add_fetch(&race->done, 1, __ATOMIC_SEQ_CST);
  }
  return NULL;
}

TEST("a subscription that begins while its client is freed is refused, or ends") {
  enum { THREADS = 16 };
  int rounds = RUNNING_ON_VALGRIND ? 20 : 300;
  provider *server = provider_new();
  for (int round = 0; round < rounds; round++) {
    enroll_queue *queue = NULL;
    struct race race = {.client = client_of(server, &queue)};
    pthread_t threads[THREADS];
    pthread_barrier_init(&race.start, NULL, THREADS + 1);
    for (int index = 0; index < THREADS; index++)
      CHECK_NUMBER(0, pthread_create(&threads[index], NULL, subscribes, &race));
    frees_it(&race);
    for (int index = 0; index < THREADS; index++) pthread_join(threads[index], NULL);
    run_all(queue);
    CHECK_NUMBER(race.done, race.listener.endings);
    CHECK_OK(enroll_queue_free(queue));
    pthread_barrier_destroy(&race.start);
  }
  provider_free(server);
}

static void *makes_happen(void *given) {
  struct race *race = given;
  while (!__atomic_load_n(&race->stop, __ATOMIC_SEQ_CST)) {
    enroll_buf url = ENROLL_BUF_INIT;
    if (enroll_registration_begin(race->client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, NULL) == ENROLL_OK)
      __atomic_add_fetch(&race->done, 1, __ATOMIC_SEQ_CST);
    enroll_buf_free(&url);
    /* Clears the pending sign-ins, because at most 32 sign-ins may be pending at once. */
    enroll_registration_clear(race->client, NULL, NULL);
  }
  return NULL;
}

TEST("an event that another thread is about to tell comes before the end, or not at all") {
  enum { LISTENERS = 64 };
  int rounds = RUNNING_ON_VALGRIND ? 5 : 200;
  /* Repeats the rounds until an event has happened between the beginning and the end of a subscription. On a
   * busy machine this needs more rounds. */
  int most = 500;
  provider *server = provider_new();
  struct race race = {.client = client_of(server, NULL)};
  waiter *endings = waiter_new();
  pthread_t busy;
  CHECK_NUMBER(0, pthread_create(&busy, NULL, makes_happen, &race));
  int heard = 0;
  for (int round = 0; round < rounds || (heard == 0 && round < most); round++) {
    static listener all[LISTENERS];
    memset(all, 0, sizeof all);
    for (int index = 0; index < LISTENERS; index++) {
      all[index].ending = endings;
      subscribe(&all[index], race.client);
    }
    int seen = __atomic_load_n(&race.done, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&race.done, __ATOMIC_SEQ_CST) == seen) sched_yield();
    /* The subscription of the last listener ends first, because this listener is also the last to get an
     * event. */
    for (int index = LISTENERS - 1; index >= 0; index--) unsubscribe(&all[index]);
    waiter_wait_for(endings, LISTENERS * (round + 1));
    happens(race.client);
    wait_behind(race.client);
    for (int index = 0; index < LISTENERS; index++) {
      heard += all[index].events;
      check_ended(&all[index], all[index].events);
    }
  }
  __atomic_store_n(&race.stop, 1, __ATOMIC_SEQ_CST);
  pthread_join(busy, NULL);
  CHECK(heard > 0);
  CHECK_OK(enroll_client_free(race.client));
  waiter_free(endings);
  provider_free(server);
}

/* Tests of forked children, which do not have their parent's subscriptions. */

/* The number of seconds after which a child that still runs counts as hanging. */
enum { CHILD_SECONDS = 300 };

static int exit_status(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static pid_t forked(void) {
  fflush(NULL);
  pid_t child = fork();
  if (child != 0) return child;
  alarm(CHILD_SECONDS);
  VALGRIND_CLO_CHANGE("--leak-check=no");
  return child;
}

TEST("a forked child is told no end of its parent's subscriptions") {
  provider *server = provider_new();
  listener own = {0};
  enroll_client *client = client_of(server, &own.queue);
  subscribe(&own, client);
  happens(client);
  pid_t child = forked();
  if (child == 0) {
    if (enroll_events_unsubscribe(client, own.subscription, NULL) != ENROLL_E_FORKED) _exit(1);
    if (enroll_client_free(client) != ENROLL_E_FORKED) _exit(2);
    if (enroll_queue_dispatch(own.queue, NULL, NULL) != ENROLL_E_FORKED) _exit(3);
    if (enroll_queue_free(own.queue) != ENROLL_OK) _exit(4);
    _exit(own.events + own.endings == 0 ? 0 : 5);
  }
  CHECK_NUMBER(0, exit_status(child));
  CHECK_OK(enroll_client_free(client));
  run_all(own.queue);
  check_ended(&own, 1);
  CHECK_OK(enroll_queue_free(own.queue));
  provider_free(server);
}

static pid_t child_of_callback;
static int is_child;

/* The first callback forks; any further callback in the child is a failure. */
static void forks(listener *own) {
  (void)own;
  if (is_child) _exit(6);
  if (child_of_callback != 0) return;
  child_of_callback = forked();
  is_child = child_of_callback == 0;
}

static void on_end_of_parent(void *user_data) {
  if (is_child) _exit(7);
  on_end(user_data);
}

static void forks_inside(int has_queue) {
  provider *server = provider_new();
  waiter *endings = waiter_new();
  enroll_queue *queue = NULL;
  enroll_client *client = client_of(server, has_queue ? &queue : NULL);
  listener all[2] = {{.acts = forks, .ending = endings}, {.acts = forks, .ending = endings}};
  struct gate gate = {waiter_new(), waiter_new()};
  int64_t number = 0;
  child_of_callback = 0;
  if (!has_queue) {
    CHECK_OK(enroll_registration_state_start(client, 0, 0, stop_here, &gate, NULL, &error));
    waiter_wait(gate.entered);
  }
  for (int index = 0; index < 2; index++)
    CHECK_OK(enroll_events_subscribe(client, on_event, &all[index], on_end_of_parent, &number, &error));
  happens(client);
  CHECK_OK(enroll_client_free(client));
  waiter_event(gate.open, "", "", 0);
  while (has_queue && endings->calls < 2) {
    enroll_status status = enroll_queue_dispatch(queue, NULL, NULL);
    if (is_child) _exit(status == ENROLL_E_FORKED ? 0 : 8);
    CHECK_STATUS(ENROLL_OK, status);
  }
  waiter_wait_for(endings, 2);
  for (int index = 0; index < 2; index++) check_ended(&all[index], 1);
  CHECK_NUMBER(0, exit_status(child_of_callback));
  CHECK_OK(enroll_queue_free(queue));
  waiter_free(gate.entered);
  waiter_free(gate.open);
  waiter_free(endings);
  provider_free(server);
}

TEST("a child that a callback forks runs none of the callbacks that wait behind it") {
  forks_inside(1);
  /* Without a queue, the fork happens on the thread that runs the callbacks. The child has only this thread,
   * so the child process ends when this thread ends. */
  forks_inside(0);
}

int main(int count, char **arguments) { return check_main(count, arguments); }
