/* Tests that after fork() no handle that was made before works in the child, and no call hangs (store.md,
 * Fork; R41). */

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "provider.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_CLO_CHANGE(option) (void)(option)
#endif

/* The time in seconds after which a child counts as hanging. */
#define CHILD_SECONDS 300

/* Runs `body` in a forked child, and returns the number that `body` returns. */
static int in_child(int (*body)(void *), void *given) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    alarm(CHILD_SECONDS); /* Kills a child that hangs. */
    /* In the child, memory that only the parent's other threads pointed to is always lost, so such memory
     * must not count as a leak. */
    VALGRIND_CLO_CHANGE("--leak-check=no");
    _exit(body(given));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct inherited {
  enroll_client *client;
  enroll_pending *pending;
  provider *server;
};

static int uses_inherited_handles(void *given) {
  struct inherited *inherited = given;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf buffer = ENROLL_BUF_INIT;
  char token[64];
  size_t size = 4711;
  if (enroll_registration_state(inherited->client, 0, 0, NULL, &error) != ENROLL_E_FORKED) return 1;
  if (error.status != ENROLL_E_FORKED || error.blame != ENROLL_BLAME_CALLER) return 2;
  if (enroll_token_copy(inherited->client, 0, 0, token, sizeof token, &size, NULL, &error) != ENROLL_E_FORKED) return 3;
  if (size != 4711) return 4;
  if (enroll_token_access(inherited->client, 0, -1, NULL, &buffer, &error) != ENROLL_E_FORKED) return 5;
  if (enroll_token_access_start(inherited->client, 0, 0, waiter_access, NULL, NULL, &error) != ENROLL_E_FORKED)
    return 6;
  if (enroll_call(inherited->client, "identity.profile", 16, NULL, 0, 0, &buffer, &error) != ENROLL_E_FORKED) return 7;
  if (enroll_pending_cancel(inherited->pending) != ENROLL_E_FORKED) return 8;
  if (enroll_client_free(inherited->client) != ENROLL_E_FORKED) return 9;
  if (enroll_client_free(inherited->client) != ENROLL_E_HANDLE) return 10;
  if (enroll_system_describe(&buffer, &error) != ENROLL_OK) return 11;
  enroll_buf_free(&buffer);
  return 0;
}

TEST("a child is refused every handle of its parent, who keeps them") {
  struct inherited inherited;
  enroll_error error = ENROLL_ERROR_INIT;
  char token[64];
  inherited.server = provider_new();
  inherited.client = provider_signed_in(inherited.server, NULL);
  waiter *done = waiter_new();
  CHECK_OK(enroll_token_access_start(inherited.client, 0, 0, waiter_access, done, &inherited.pending, &error));
  waiter_wait(done);
  CHECK_NUMBER(0, in_child(uses_inherited_handles, &inherited));
  CHECK_OK(enroll_token_copy(inherited.client, 0, 0, token, sizeof token, NULL, NULL, &error));
  CHECK_OK(enroll_pending_free(inherited.pending));
  CHECK_OK(enroll_client_free(inherited.client));
  waiter_free(done);
  provider_free(inherited.server);
}

static int opens_its_own(void *given) {
  (void)given;
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  char token[64];
  if (enroll_token_copy(client, 0, 0, token, sizeof token, NULL, NULL, NULL) != ENROLL_OK) return 1;
  if (strcmp(token, "access-1") != 0) return 2;
  waiter *done = waiter_new();
  if (enroll_token_refresh_start(client, -1, waiter_access, done, NULL, NULL) != ENROLL_OK) return 3;
  waiter_wait(done);
  if (strcmp(done->text, "access-2") != 0) return 4;
  if (enroll_client_free(client) != ENROLL_OK) return 5;
  return 0;
}

TEST("a child opens a client of its own") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  CHECK_NUMBER(0, in_child(opens_its_own, NULL));
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  provider_free(server);
}

static int starts_without_client(void *given) {
  (void)given;
  waiter *done = waiter_new();
  enroll_pending *pending = NULL;
  if (enroll_call_start(NULL, "pkce.generate", ENROLL_NUL_TERMINATED, NULL, 0, ENROLL_NO_TIMEOUT, waiter_result, done,
                        &pending, NULL) != ENROLL_OK)
    return 1;
  waiter_wait(done);
  if (done->calls != 1 || strstr(done->text, "codeVerifier") == NULL) return 2;
  if (enroll_pending_cancel(pending) != ENROLL_OK || enroll_pending_free(pending) != ENROLL_OK) return 3;
  waiter_free(done);
  return 0;
}

TEST("a command without a client can be started, also in a child, which has none of its parent's threads") {
  CHECK_NUMBER(0, starts_without_client(NULL));
  CHECK_NUMBER(0, in_child(starts_without_client, NULL));
  CHECK_NUMBER(0, starts_without_client(NULL));
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_call_start(NULL, "token.access", ENROLL_NUL_TERMINATED, NULL, 0, 0, waiter_result,
                                                  NULL, NULL, NULL));
}

static int hides_its_memory(void *given) {
  (void)given;
  struct rlimit before, core = {1, 1};
  if (getrlimit(RLIMIT_CORE, &before) != 0) return 5;
  if (prctl(PR_GET_DUMPABLE) != 1) return 1;
  if (enroll_hide_memory(NULL) != ENROLL_OK) return 2;
  if (prctl(PR_GET_DUMPABLE) != 0) return 3;
  return getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_cur != 0 || core.rlim_max != before.rlim_max ? 4 : 0;
}

TEST("a process can hide its memory from core dumps and debuggers") {
  CHECK_NUMBER(0, in_child(hides_its_memory, NULL));
}

struct busy {
  enroll_client *client;
  volatile int stop;
};

static void *keeps_busy(void *given) {
  struct busy *busy = given;
  char token[64];
  while (!busy->stop) {
    enroll_client *client = NULL;
    enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
    options.configuration =
        "{\"issuer\":\"https://provider.example\",\"clientId\":\"n\",\"redirectUri\":\"com.example.app:/c\"}";
    options.configuration_size = ENROLL_NUL_TERMINATED;
    options.store = ENROLL_STORE_MEMORY;
    enroll_client_new(&options, &client, NULL);
    enroll_token_copy(busy->client, 0, 0, token, sizeof token, NULL, NULL, NULL);
    enroll_client_free(client);
  }
  return NULL;
}

static int tries_the_parents(void *given) {
  struct busy *busy = given;
  char token[64];
  if (enroll_token_copy(busy->client, 0, -1, token, sizeof token, NULL, NULL, NULL) != ENROLL_E_FORKED) return 1;
  return enroll_client_free(busy->client) == ENROLL_E_FORKED ? 0 : 2;
}

TEST("a fork in the middle of other threads' calls leaves a child that is refused and does not hang") {
  provider *server = provider_new();
  struct busy busy = {provider_signed_in(server, NULL), 0};
  pthread_t threads[2];
  for (int index = 0; index < 2; index++) pthread_create(&threads[index], NULL, keeps_busy, &busy);
  for (int round = 0; round < 100; round++) CHECK_NUMBER(0, in_child(tries_the_parents, &busy));
  busy.stop = 1;
  for (int index = 0; index < 2; index++) pthread_join(threads[index], NULL);
  CHECK_STATUS(ENROLL_OK, enroll_client_free(busy.client));
  provider_free(server);
}

int main(int count, char **arguments) { return check_main(count, arguments); }
