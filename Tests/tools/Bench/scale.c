/* The measurements of scale.py that use the C library. Prints one line of numbers for each measurement.
 *   scale account CONFIGURATION STORE ACCOUNT     opening a client, a cached token, a save
 *   scale list STORE                              the list of all accounts
 *   scale files STORE                             reading every record and nothing else: the list cannot be faster
 *   scale clients CONFIGURATION STORE COUNT       opens COUNT clients that renew in the background, until stdin ends
 *   scale crowd CONFIGURATION STORE THREADS       reads times from stdin; at each time, every thread asks for
 * a token */

#include <dirent.h>
#include <enroll.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MINUTE 60000
#define TOKEN 8192

static void check(enroll_status status, const enroll_error *error) {
  if (status == ENROLL_OK) return;
  fprintf(stderr, "%s: %s\n", enroll_status_name(status), error->message);
  exit(1);
}

/* The monotonic clock in nanoseconds, by a system call: a preloaded library may move the clock of the C library. */
static long long now(void) {
  struct timespec time;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  long long left = *(const long long *)a, right = *(const long long *)b;
  return (left > right) - (left < right);
}

static long long median(long long *times, size_t count) {
  qsort(times, count, sizeof *times, ascending);
  return times[count / 2];
}

static enroll_client *opened(const char *configuration, const char *store, const char *account, int ahead) {
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  enroll_client *client;
  options.configuration = configuration;
  options.configuration_size = strlen(configuration);
  options.store_directory = store;
  options.store_directory_size = strlen(store);
  options.account = account;
  options.account_size = strlen(account);
  options.renews_in_background = ahead;
  check(enroll_client_new(&options, &client, &error), &error);
  return client;
}

static void copy(enroll_client *client) {
  static char token[TOKEN];
  enroll_error error = ENROLL_ERROR_INIT;
  size_t size;
  check(enroll_token_copy(client, 0, MINUTE, token, sizeof token, &size, NULL, &error), &error);
}

/* Begins a sign-in, which saves the transaction. Cancelling the sign-in is another save. */
static void begin(enroll_client *client, enroll_transaction *transaction) {
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf url = {0};
  check(enroll_registration_begin(client, NULL, MINUTE, transaction, &url, NULL, &error), &error);
  enroll_buf_free(&url);
}

/* Prints how many nanoseconds these take: opening a client and getting its first token; getting a cached
 * token; a save. */
static void measure_account(const char *configuration, const char *store, const char *account) {
  enum { ROUNDS = 401, CALLS = 1000, SAVES = 101 };
  static long long times[ROUNDS];
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_state state = ENROLL_STATE_INIT;
  enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
  long long began = now();
  enroll_client *client = opened(configuration, store, account, 0);
  copy(client);
  long long opening = now() - began;
  for (int round = 0; round < ROUNDS; round++) {
    copy(client);
    began = now();
    for (int call = 0; call < CALLS; call++) copy(client);
    times[round] = (now() - began) / CALLS;
  }
  long long cached = median(times, ROUNDS);
  /* The first round does not count, because it also requests the provider's metadata. */
  for (int round = -1; round < SAVES; round++) {
    began = now();
    begin(client, &transaction);
    if (round >= 0) times[round] = now() - began;
    check(enroll_registration_cancel(client, transaction.id, strlen(transaction.id), &state, &error), &error);
  }
  printf("%lld %lld %lld\n", opening, cached, median(times, SAVES));
  enroll_client_free(client);
}

/* Prints the nanoseconds, and the size of the list in bytes. */
static void measure_list(const char *store) {
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf accounts = {0};
  long long began = now();
  check(enroll_accounts_list(store, strlen(store), NULL, &accounts, &error), &error);
  printf("%lld %zu\n", now() - began, accounts.size);
  enroll_buf_free(&accounts);
}

/* Prints the nanoseconds, and the total size of the records in bytes. */
static void measure_files(const char *store) {
  static char bytes[1 << 20];
  long long began = now();
  size_t total = 0;
  DIR *folder = opendir(store);
  struct dirent *entry;
  if (folder == NULL) exit(1);
  while ((entry = readdir(folder)) != NULL) {
    if (strstr(entry->d_name, ".record") == NULL) continue;
    int file = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC);
    ssize_t count = read(file, bytes, sizeof bytes);
    if (count > 0) total += (size_t)count;
    close(file);
  }
  closedir(folder);
  printf("%lld %zu\n", now() - began, total);
}

static void hold_clients(const char *configuration, const char *store, int count) {
  enroll_client **clients = calloc((size_t)count, sizeof *clients);
  char account[32];
  for (int i = 0; i < count; i++) {
    snprintf(account, sizeof account, "account-%d", i);
    clients[i] = opened(configuration, store, account, 1);
  }
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) continue;
  for (int i = 0; i < count; i++) enroll_client_free(clients[i]);
  free(clients);
}

struct asker {
  pthread_t thread;
  enroll_status status;
  long long ended;
  char token[TOKEN];
};

static enroll_client *shared;
static pthread_barrier_t start, end;
static long long instant;
static int is_over;

static void *ask(void *argument) {
  struct asker *asker = argument;
  size_t size;
  for (;;) {
    pthread_barrier_wait(&start);
    if (is_over) return NULL;
    long long left = instant - now();
    if (left > 0) {
      struct timespec pause = {left / 1000000000, left % 1000000000};
      nanosleep(&pause, NULL);
    }
    asker->status = enroll_token_copy(shared, 0, MINUTE, asker->token, sizeof asker->token, &size, NULL, NULL);
    asker->ended = now();
    pthread_barrier_wait(&end);
  }
}

/* Each input line is a time. Prints how many threads got a token, and when the last thread had it, in nanoseconds after
 * that time. */
static void crowd(int threads) {
  struct asker *askers = calloc((size_t)threads, sizeof *askers);
  pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
  pthread_barrier_init(&end, NULL, (unsigned)threads + 1);
  for (int i = 0; i < threads; i++) pthread_create(&askers[i].thread, NULL, ask, &askers[i]);
  puts("ready");
  fflush(stdout);
  while (scanf("%lld", &instant) == 1) {
    pthread_barrier_wait(&start);
    pthread_barrier_wait(&end);
    int good = 0;
    long long last = 0;
    for (int i = 0; i < threads; i++) {
      good += askers[i].status == ENROLL_OK;
      if (askers[i].ended > last) last = askers[i].ended;
    }
    printf("%d %lld\n", good, last - instant);
    fflush(stdout);
  }
  is_over = 1;
  pthread_barrier_wait(&start);
  for (int i = 0; i < threads; i++) pthread_join(askers[i].thread, NULL);
  free(askers);
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "account") == 0) {
    measure_account(argv[2], argv[3], argv[4]);
  } else if (argc == 3 && strcmp(argv[1], "list") == 0) {
    measure_list(argv[2]);
  } else if (argc == 3 && strcmp(argv[1], "files") == 0) {
    measure_files(argv[2]);
  } else if (argc == 5 && strcmp(argv[1], "clients") == 0) {
    hold_clients(argv[2], argv[3], atoi(argv[4]));
  } else if (argc == 5 && strcmp(argv[1], "crowd") == 0) {
    shared = opened(argv[2], argv[3], "default", 0);
    crowd(atoi(argv[4]));
    enroll_client_free(shared);
  } else {
    return 2;
  }
  return 0;
}
