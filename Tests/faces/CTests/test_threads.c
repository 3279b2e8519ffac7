/* Tests of the properties of the library's own threads that a host can see: their stack, their signal mask,
 * their number, and their end at the end of the process. The program has a lot of thread-local memory, which
 * takes space on each thread's stack. */

#include <dirent.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "provider.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

/* The size of this program's thread-local memory: as much as some media libraries and language runtimes
 * have. */
#define LOCAL_BYTES (1 << 20)
static _Thread_local volatile char local[LOCAL_BYTES] = {1};

extern char **environ;
static enroll_error error = ENROLL_ERROR_INIT;

/* What a callback found out about the thread on which it ran. */
struct seen {
  waiter *waiting;
  pthread_t thread;
  size_t stack;
  int blocked, child;
};

static int blocked_signals(void) {
  sigset_t set;
  pthread_sigmask(SIG_BLOCK, NULL, &set);
  int count = 0;
  for (int number = 1; number < SIGRTMAX; number++) count += sigismember(&set, number) == 1;
  return count;
}

/* Starts a child process from this thread. Returns 0 if the child has no blocked signals. */
static int child_takes_signals(void) {
  char *words[] = {"sh", "-c", "grep -q '^SigBlk:.*[^0[:space:]].*' /proc/self/status", NULL};
  pid_t child;
  int status = -1;
  if (posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) != 0) return -1;
  waitpid(child, &status, 0);
  /* grep exits with 0 if a signal is blocked, and with 1 if no signal is blocked. */
  return WIFEXITED(status) && WEXITSTATUS(status) == 1 ? 0 : 1;
}

static void look(struct seen *seen) {
  pthread_attr_t attributes;
  seen->thread = pthread_self();
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &seen->stack);
    pthread_attr_destroy(&attributes);
  }
  seen->blocked = blocked_signals();
  seen->child = child_takes_signals();
}

static void look_and_fill(void *given, enroll_status status, const enroll_access *access, const char *token,
                          size_t token_size, const enroll_error *failure) {
  struct seen *seen = given;
  look(seen);
  waiter_access(seen->waiting, status, access, token, token_size, failure);
}

static void *usual_stack(void *given) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstacksize(&attributes, given);
    pthread_attr_destroy(&attributes);
  }
  return NULL;
}

TEST("a program with much thread-local memory gets its callbacks") {
  CHECK(local[0] == 1);
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  waiter *waiting = waiter_new();
  enroll_error_init(&error, sizeof error);
  CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, waiter_access, waiting, NULL, &error));
  waiter_wait(waiting);
  CHECK_STATUS(ENROLL_OK, waiting->status);
  CHECK_TEXT("access-2", waiting->text);
  waiter_free(waiting);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("a callback has the stack of one of the host's own threads") {
  size_t usual = 0;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, usual_stack, &usual) == 0);
  pthread_join(thread, NULL);
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  struct seen seen = {.waiting = waiter_new()};
  CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, look_and_fill, &seen, NULL, &error));
  waiter_wait(seen.waiting);
  CHECK(seen.stack >= usual);
  waiter_free(seen.waiting);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

static void look_at_send(void *given) { look(given); }

TEST("children that a callback or a transport of the host starts take signals") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  int own = blocked_signals();
  struct seen seen = {.waiting = waiter_new(), .blocked = -1, .child = -1}, sent = {.blocked = -1, .child = -1};
  provider_on_send(server, look_at_send, &sent);
  CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, look_and_fill, &seen, NULL, &error));
  waiter_wait(seen.waiting);
  CHECK_NUMBER(own, seen.blocked);
  CHECK_NUMBER(0, seen.child);
  CHECK_NUMBER(own, sent.blocked);
  CHECK_NUMBER(0, sent.child);
  provider_on_send(server, NULL, NULL);
  waiter_free(seen.waiting);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("callbacks of a queue that was given back have the host's signal mask") {
  provider *server = provider_new();
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  CHECK_OK(enroll_queue_new(&options.queue, &error));
  enroll_client *client = provider_open(server, NULL, options);
  provider_sign_in(server, client);
  CHECK_OK(enroll_queue_free(options.queue));
  struct seen seen = {.waiting = waiter_new(), .blocked = -1, .child = -1};
  CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, look_and_fill, &seen, NULL, &error));
  waiter_wait(seen.waiting);
  CHECK(!pthread_equal(seen.thread, pthread_self()));
  CHECK_NUMBER(blocked_signals(), seen.blocked);
  CHECK_NUMBER(0, seen.child);
  waiter_free(seen.waiting);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

/* What the host's code counted on the library's threads: the largest number of blocked signals, and how often
 * the code ran on these threads. */
struct masks {
  pthread_t own;
  int most, calls;
};

static void note_mask(struct masks *masks) {
  if (pthread_equal(masks->own, pthread_self())) return;
  int blocked = blocked_signals(), most = __atomic_load_n(&masks->most, __ATOMIC_RELAXED);
  while (blocked > most &&
         !__atomic_compare_exchange_n(&masks->most, &most, blocked, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
  __atomic_add_fetch(&masks->calls, 1, __ATOMIC_RELAXED);
}

static int64_t date_by(void *masks) {
  note_mask(masks);
  return time(NULL);
}

static int64_t monotonic_by(void *masks) {
  struct timespec now;
  note_mask(masks);
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

static void write_by(void *masks, int32_t level, const char *line, size_t size) {
  (void)level, (void)line, (void)size;
  note_mask(masks);
}

static void event_by(void *masks, const char *name, const char *parameters, size_t parameters_size) {
  (void)name, (void)parameters, (void)parameters_size;
  note_mask(masks);
}

static void released_by(void *masks) { (void)masks; }

TEST("a listener, a clock and a log of the host run with the host's signal mask on every thread") {
  static struct masks event, clock, log;
  event.own = clock.own = log.own = pthread_self();
  enroll_clock own_clock = ENROLL_CLOCK_INIT;
  own_clock.user_data = &clock;
  own_clock.date = date_by;
  own_clock.monotonic = monotonic_by;
  own_clock.release = released_by;
  enroll_log own_log = ENROLL_LOG_INIT;
  own_log.user_data = &log;
  own_log.level = ENROLL_LOG_DEBUG;
  own_log.write = write_by;
  own_log.release = released_by;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.clock = &own_clock;
  options.log = &own_log;
  provider *server = provider_new();
  enroll_client *client = provider_open(server, NULL, options);
  int64_t subscription = 0;
  CHECK_OK(enroll_events_subscribe(client, event_by, &event, NULL, &subscription, &error));
  provider_sign_in(server, client);
  waiter *waiting = waiter_new();
  CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, waiter_access, waiting, NULL, &error));
  waiter_wait(waiting);
  CHECK_STATUS(ENROLL_OK, waiting->status);
  waiter_free(waiting);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
  CHECK(event.calls > 0 && clock.calls > 0 && log.calls > 0);
  CHECK_NUMBER(blocked_signals(), event.most);
  CHECK_NUMBER(blocked_signals(), clock.most);
  CHECK_NUMBER(blocked_signals(), log.most);
}

static int threads(void) {
  DIR *folder = opendir("/proc/self/task");
  int count = 0;
  for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) count += entry->d_name[0] != '.';
  if (folder != NULL) closedir(folder);
  return count;
}

/* The number of threads of this process before the library starts any thread: 1, or more under an
 * emulator. */
static int own_threads;

/* Waits until there are at most this many threads, and returns how many there are. */
static int threads_settled(int wanted) {
  struct timespec pause = {0, 10000000};
  for (int tries = 0; tries < 6000 && threads() > wanted; tries++) nanosleep(&pause, NULL);
  return threads();
}

#ifdef __GLIBC__ /* musl keeps thread-local memory beside the stack. */
/* The size of a callback's stack, if `usual` is the default size of a stack in the host. */
static size_t callback_stack(size_t usual) {
  pthread_attr_t before, attributes;
  pthread_getattr_default_np(&before);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, usual);
  /* Waits first until every thread whose stack has the earlier size has ended. */
  int is_set = threads_settled(own_threads) == own_threads && pthread_setattr_default_np(&attributes) == 0;
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  struct seen seen = {.waiting = waiter_new()};
  enroll_status status = enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, look_and_fill, &seen, NULL, &error);
  if (status == ENROLL_OK) waiter_wait(seen.waiting);
  pthread_setattr_default_np(&before);
  waiter_free(seen.waiting);
  enroll_client_free(client);
  provider_free(server);
  /* If no thread could be started, the callback ran on this thread. */
  return is_set && status == ENROLL_OK && !pthread_equal(seen.thread, pthread_self()) ? seen.stack : 0;
}

TEST("a callback's stack grows with the host's own, and a host of small stacks gets its callbacks too") {
  CHECK(callback_stack((size_t)128 << 10) >= LOCAL_BYTES);
  CHECK(callback_stack((size_t)40 << 20) >= (size_t)40 << 20);
}
#endif

TEST("clients that renew in the background share one thread, and a closed one leaves none") {
  enum { CLIENTS = 400 };
  static enroll_client *clients[CLIENTS];
  int count = RUNNING_ON_VALGRIND ? 20 : CLIENTS, before = threads_settled(own_threads);
  provider *server = provider_new();
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.renews_in_background = 1;
  for (int index = 0; index < count; index++) {
    clients[index] = provider_open(server, NULL, options);
    provider_sign_in(server, clients[index]);
  }
  CHECK_NUMBER(before + 1, threads_settled(before + 1));
  for (int index = 0; index < count; index++) CHECK_OK(enroll_client_free(clients[index]));
  CHECK_NUMBER(before, threads_settled(before));
  provider_free(server);
}

/* The seconds until the thread of the timers wakes: the time that is left on the thread's timer descriptor
 * (timerfd_create(2)), as the kernel shows it. -1 if there is no such descriptor. */
static long long seconds_to_wake(void) {
  DIR *folder = opendir("/proc/self/fdinfo");
  long long seconds = -1;
  for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    char path[300], line[128];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%s", entry->d_name);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) sscanf(line, "it_value: (%lld,", &seconds);
    if (file != NULL) fclose(file);
  }
  if (folder != NULL) closedir(folder);
  return seconds;
}

TEST("the thread of the timers sleeps until the next renewal is due, and is set to nothing earlier") {
  provider *server = provider_new();
  provider_set_lifetime(server, 36000);
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.renews_in_background = 1;
  int before = threads_settled(own_threads);
  CHECK_NUMBER(-1, seconds_to_wake());
  enroll_client *client = provider_open(server, NULL, options);
  provider_sign_in(server, client);
  /* Before the sign-in the timer is set to every minute. Waits until the timer is set to the time of the
   * renewal. */
  struct timespec pause = {0, 10000000};
  for (int tries = 0; tries < 6000 && seconds_to_wake() < 3600; tries++) nanosleep(&pause, NULL);
  CHECK(seconds_to_wake() >= 3600);
  CHECK_OK(enroll_client_free(client));
  /* Closing the client must cancel the renewal: the thread ends, and does not sleep until the time of the
   * renewal. */
  CHECK_NUMBER(before, threads_settled(before));
  /* While no user is signed in, the client checks every minute whether another process has signed in. */
  client = provider_open(server, NULL, options);
  for (int tries = 0; tries < 6000 && seconds_to_wake() <= 2; tries++) nanosleep(&pause, NULL);
  CHECK(seconds_to_wake() > 2);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

/* Tests of the end of the process while renewals run. */

static provider *busy_server;
static enroll_client *busy_client;

static void again(void *given, enroll_status status, const enroll_access *access, const char *token, size_t token_size,
                  const enroll_error *failure) {
  (void)access, (void)token, (void)token_size, (void)failure;
  if (status == ENROLL_OK) enroll_token_refresh_start(busy_client, ENROLL_NO_TIMEOUT, again, given, NULL, NULL);
}

static void free_late(void) { enroll_client_free(busy_client); }

/* Delays the end of the program, after OpenSSL has cleaned up. */
static void linger(void) {
  struct timespec pause = {0, 10000000};
  nanosleep(&pause, NULL);
}

/* Renews as fast as possible, and calls exit() after some renewals. */
static void exit_while_renewing(int number, const char *directory) {
  alarm(60); /* Kills the process if it hangs. */
  atexit(linger);
  /* Every second process uses OpenSSL before the library does, so OpenSSL's own cleanup runs at exit. */
  if (number % 2 == 0) OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, NULL);
  if (number % 4 < 2) atexit(free_late);
  busy_server = provider_new();
  busy_client = provider_signed_in(busy_server, directory);
  int first = provider_token_requests(busy_server);
  for (int calls = 0; calls < 4; calls++) again(NULL, ENROLL_OK, NULL, NULL, 0, NULL);
  provider_wait_for_requests(busy_server, first + 1 + number % 7);
  exit(0);
}

static const char *program;

/* Starts a process that runs exit_while_renewing, and returns how it ended. */
static int ended(int number, const char *folder) {
  char name[16], directory[64];
  snprintf(name, sizeof name, "%d", number);
  snprintf(directory, sizeof directory, "%s/%d", folder, number);
  char *words[] = {(char *)program, "--exit", name, directory, NULL};
  pid_t child;
  int status = -1;
  if (posix_spawn(&child, program, NULL, NULL, words, environ) != 0) return -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST("a process that calls exit() during a renewal ends in order") {
  /* The test runs many processes, because a fault of this kind appears in about one process in thirty. */
  const char *wanted = getenv("EXITS");
  int runs = wanted != NULL ? atoi(wanted) : RUNNING_ON_VALGRIND ? 4 : 200, wrong = 0;
  char folder[32] = "/dev/shm/enroll-exit-XXXXXX", command[64];
  if (mkdtemp(folder) == NULL) strcpy(folder, "/tmp/enroll-exit-XXXXXX");
  CHECK(strstr(folder, "XXXXXX") == NULL || mkdtemp(folder) != NULL);
  for (int number = 0; number < runs; number++) wrong += ended(number, folder) != 0;
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK(system(command) == 0);
  CHECK_NUMBER(0, wrong);
}

int main(int count, char **words) {
  own_threads = threads();
  /* A program that is built for another processor cannot be started directly: the variable
   * ENROLL_TEST_PROGRAM names its launcher. */
  program = getenv("ENROLL_TEST_PROGRAM") != NULL ? getenv("ENROLL_TEST_PROGRAM") : words[0];
  if (count == 4 && strcmp(words[1], "--exit") == 0) exit_while_renewing(atoi(words[2]), words[3]);
  return check_main(count, words);
}
