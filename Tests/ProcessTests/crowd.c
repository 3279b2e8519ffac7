/* Many threads of one process that want the same token at the same moment.
 *   crowd CONFIGURATION STORE begin          prints the authorize URL, reads the redirect, signs in
 *   crowd CONFIGURATION STORE ask THREADS    prints "ready", reads a line, then asks with every thread at once;
 *                                            prints the number of tokens, of failures, and of different tokens
 * For Tests/ProcessTests/run, which starts several of them on one store. */

#include <enroll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE 60000
#define TOKEN 8192

static enroll_client *client;
static pthread_barrier_t barrier;

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
  pthread_barrier_wait(&barrier);
  asker->status =
      enroll_token_copy(client, 0, MINUTE, asker->token, sizeof asker->token, &size, NULL, &asker->error);
  return NULL;
}

static void begin(void) {
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
  enroll_state state = ENROLL_STATE_INIT;
  enroll_buf url = ENROLL_BUF_INIT;
  check(enroll_registration_begin(client, NULL, MINUTE, &transaction, &url, NULL, &error), &error);
  printf("%s\n", url.data);
  fflush(stdout);
  enroll_buf_free(&url);
  char redirect[8192];
  if (!fgets(redirect, sizeof redirect, stdin)) exit(1);
  check(enroll_registration_resume(client, redirect, strcspn(redirect, "\n"), MINUTE, &state, &error), &error);
}

static void crowd(int threads) {
  struct asker *askers = calloc((size_t)threads, sizeof *askers);
  pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
  for (int i = 0; i < threads; i++) {
    enroll_error_init(&askers[i].error, sizeof askers[i].error);
    pthread_create(&askers[i].thread, NULL, ask, &askers[i]);
  }
  char line[16];
  puts("ready");
  fflush(stdout);
  if (!fgets(line, sizeof line, stdin)) exit(1);
  pthread_barrier_wait(&barrier);
  int good = 0, bad = 0, different = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(askers[i].thread, NULL);
    if (askers[i].status == ENROLL_OK) {
      good++;
      different += strcmp(askers[i].token, askers[0].token) != 0;
    } else {
      bad++;
      fprintf(stderr, "%s: %s\n", enroll_status_name(askers[i].status), askers[i].error.message);
    }
  }
  printf("%d %d %d %s\n", good, bad, different, askers[0].token);
  free(askers);
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = argv[1];
  options.configuration_size = strlen(argv[1]);
  options.store_directory = argv[2];
  options.store_directory_size = strlen(argv[2]);
  check(enroll_client_new(&options, &client, &error), &error);
  if (strcmp(argv[3], "begin") == 0) {
    begin();
  } else {
    crowd(atoi(argv[4]));
  }
  enroll_client_free(client);
  return 0;
}
