/* Many threads of one process that request the same token at the same moment, again and again.
 *   crowd CONFIGURATION STORE THREADS
 * Prints "ready". Then, for each line that it reads, every thread requests the token. It prints how many threads got a
 * token, how many got an error, how many got another token than the first one, and that first token.
 * Tests/system/ProcessTests/run starts several of these processes on one store. */

#include <enroll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE 60000
#define TOKEN 8192

static enroll_client *client;
static pthread_barrier_t start, end;
static int is_over;

struct asker {
  pthread_t thread;
  enroll_status status;
  enroll_error error;
  char token[TOKEN];
};

static void check(enroll_status status, const enroll_error *error) {
  if (status == ENROLL_OK) return;
  fprintf(stderr, "%s: %s\n", enroll_status_name(status), error->message);
  exit(1);
}

static void *ask(void *argument) {
  struct asker *asker = argument;
  size_t size;
  for (;;) {
    pthread_barrier_wait(&start);
    if (is_over) return NULL;
    enroll_error_init(&asker->error, sizeof asker->error);
    memset(asker->token, 0, sizeof asker->token);
    asker->status =
        enroll_token_copy(client, 0, MINUTE, asker->token, sizeof asker->token, &size, NULL, &asker->error);
    pthread_barrier_wait(&end);
  }
}

static void count(const struct asker *askers, int threads) {
  const char *token = NULL;
  int good = 0, bad = 0, different = 0;
  for (int i = 0; i < threads; i++) {
    if (askers[i].status == ENROLL_OK) {
      if (token == NULL) token = askers[i].token;
      good++;
      different += strcmp(askers[i].token, token) != 0;
    } else {
      bad++;
      fprintf(stderr, "%s: %s\n", enroll_status_name(askers[i].status), askers[i].error.message);
    }
  }
  printf("%d %d %d %s\n", good, bad, different, token == NULL ? "-" : token);
  fflush(stdout);
}

static void crowd(int threads) {
  struct asker *askers = calloc((size_t)threads, sizeof *askers);
  pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
  pthread_barrier_init(&end, NULL, (unsigned)threads + 1);
  for (int i = 0; i < threads; i++) pthread_create(&askers[i].thread, NULL, ask, &askers[i]);
  char line[16];
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    pthread_barrier_wait(&start);
    pthread_barrier_wait(&end);
    count(askers, threads);
  }
  is_over = 1;
  pthread_barrier_wait(&start);
  for (int i = 0; i < threads; i++) pthread_join(askers[i].thread, NULL);
  free(askers);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = argv[1];
  options.configuration_size = strlen(argv[1]);
  options.store_directory = argv[2];
  options.store_directory_size = strlen(argv[2]);
  check(enroll_client_new(&options, &client, &error), &error);
  crowd(atoi(argv[3]));
  enroll_client_free(client);
  return 0;
}
