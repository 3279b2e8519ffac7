/* Closing a client through C: a call that has sent nothing is cancelled; a request that was sent is waited for, and not
 * sent again (R39). */

#include <pthread.h>

#include "check.h"
#include "provider.h"

static enroll_error error = ENROLL_ERROR_INIT;

static void *close_client(void *client) {
  return enroll_client_free(client) == ENROLL_OK ? NULL : client;
}

TEST("a client that is freed during a renewal waits for its answer, and asks no second time") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  waiter *waiting = waiter_new();
  int before = provider_token_requests(server);
  provider_set_token_status(server, 503);
  provider_hold(server);
  CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, waiter_access, waiting, NULL, &error));
  provider_wait_for_requests(server, before + 1);
  pthread_t closer;
  CHECK(pthread_create(&closer, NULL, close_client, client) == 0);
  /* When the waiting call has ended, the client has begun to close. */
  waiter_wait(waiting);
  CHECK_STATUS(ENROLL_E_CANCELLED, waiting->status);
  provider_release(server);
  void *failure = NULL;
  pthread_join(closer, &failure);
  CHECK(failure == NULL);
  CHECK_NUMBER(before + 1, provider_token_requests(server));
  waiter_free(waiting);
  provider_free(server);
}

int main(int count, char **words) { return check_main(count, words); }
