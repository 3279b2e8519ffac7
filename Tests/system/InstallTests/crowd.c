/*
 * 64 threads use the library at once, each in its own order. They get and renew the token of one client that all of
 * them share, open and close their own clients, start and cancel calls that end in callbacks, and use events, buffers,
 * values and invalid handles. Sanitizers and valgrind check the memory of this program and of the library meanwhile.
 *
 *     crowd THREADS ROUNDS
 */
#include <enroll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider.h"

#define THREADS_MAX 256

typedef struct crowd {
  provider *server;
  enroll_client *shared;
  waiter *completions, *events, *endings;
  int rounds;
} crowd;

typedef struct member {
  crowd *all;
  int number, started, subscribed;
  unsigned int dice;
  pthread_t thread;
} member;

static void expect(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "%s\n", what);
  abort();
}

static void expect_ok(enroll_status status, const char *what) {
  if (status == ENROLL_OK) return;
  fprintf(stderr, "%s: %s\n", what, enroll_status_name(status));
  abort();
}

static void takes_token(member *self) {
  char token[256];
  size_t size = 0;
  int64_t expires_at = 0;
  expect_ok(enroll_token_copy(self->all->shared, 0, ENROLL_NO_TIMEOUT, token, sizeof token, &size, &expires_at, NULL),
            "token_copy");
  expect(strncmp(token, "access-", 7) == 0 && strlen(token) == size && expires_at > 0, "a token of the provider");
  enroll_wipe(token, sizeof token);
}

static void renews(member *self) {
  enroll_access access = ENROLL_ACCESS_INIT;
  enroll_buf token = ENROLL_BUF_INIT;
  expect_ok(enroll_token_refresh(self->all->shared, ENROLL_NO_TIMEOUT, &access, &token, NULL), "token_refresh");
  expect(access.outcome == ENROLL_ACCESS_VALID && strncmp(token.data, "access-", 7) == 0, "a renewed token");
  enroll_buf copy = token;
  enroll_buf_free(&token);
  enroll_buf_free(&copy);
}

static void starts(member *self) {
  enroll_pending *pending = NULL;
  expect_ok(enroll_token_access_start(self->all->shared, 0, ENROLL_NO_TIMEOUT, waiter_access, self->all->completions,
                                      &pending, NULL),
            "token_access_start");
  self->started++;
  if (self->dice & 64) expect_ok(enroll_pending_cancel(pending), "pending_cancel");
  expect_ok(enroll_pending_free(pending), "pending_free");
  expect(enroll_pending_free(pending) == ENROLL_E_HANDLE, "a pending call is freed once");
}

/* The user_data of one subscription. */
typedef struct listener {
  waiter *events, *endings;
} listener;

static void hears(void *given, const char *name, const char *parameters, size_t parameters_size) {
  waiter_event(((listener *)given)->events, name, parameters, parameters_size);
}

static void hears_no_more(void *given) {
  listener *own = given;
  waiter *endings = own->endings;
  free(own);
  waiter_event(endings, "", "", 0);
}

static void opens(member *self) {
  enroll_client *own = provider_client(self->all->server, NULL);
  enroll_state state = ENROLL_STATE_INIT;
  int64_t subscription = 0;
  listener *listening = malloc(sizeof *listening);
  expect(listening != NULL, "memory");
  *listening = (listener){self->all->events, self->all->endings};
  expect_ok(enroll_events_subscribe(own, hears, listening, hears_no_more, &subscription, NULL), "events_subscribe");
  self->subscribed++;
  expect_ok(enroll_registration_state(own, 1, ENROLL_NO_TIMEOUT, &state, NULL), "registration_state");
  expect(state.kind == ENROLL_STATE_UNREGISTERED, "a new client is unregistered");
  /* If the subscription is not ended here, it ends with the client. */
  if (self->dice & 128) expect_ok(enroll_events_unsubscribe(own, subscription, NULL), "events_unsubscribe");
  expect_ok(enroll_client_free(own), "client_free");
  expect(enroll_platform_ready(own, NULL) == ENROLL_E_HANDLE, "a freed client is refused");
}

static void reads(member *self) {
  enroll_buf text = ENROLL_BUF_INIT;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_pkce pkce = ENROLL_PKCE_INIT;
  expect_ok(enroll_identity_profile(self->all->shared, &text, &error), error.message);
  expect(strstr(text.data, "alice") != NULL, "the user's profile");
  enroll_buf_free(&text);
  expect_ok(enroll_pkce_generate(&pkce, &error), error.message);
  expect(enroll_redirect_parse("not a url", ENROLL_NUL_TERMINATED, &text, &error) == ENROLL_E_REDIRECT_MALFORMED &&
             error.status == ENROLL_E_REDIRECT_MALFORMED && text.data == NULL,
         "a refusal says why");
  expect_ok(enroll_call(self->all->shared, "registration.state", ENROLL_NUL_TERMINATED, NULL, 0, ENROLL_NO_TIMEOUT,
                        &text, &error),
            error.message);
  enroll_buf_free(&text);
}

static void *runs(void *given) {
  static void (*const acts[])(member *) = {takes_token, renews, starts, opens, reads};
  member *self = given;
  for (int round = 0; round < self->all->rounds; round++) {
    self->dice = self->dice * 1103515245u + 12345u;
    acts[(self->dice >> 16) % (sizeof acts / sizeof *acts)](self);
  }
  return NULL;
}

int main(int count, char **arguments) {
  static member members[THREADS_MAX];
  int threads = count > 1 ? atoi(arguments[1]) : 64, started = 0, subscribed = 0;
  crowd all = {provider_new(), NULL, waiter_new(), waiter_new(), waiter_new(), count > 2 ? atoi(arguments[2]) : 20};
  expect(threads > 0 && threads <= THREADS_MAX, "crowd THREADS ROUNDS");
  all.shared = provider_signed_in(all.server, NULL);
  for (int number = 0; number < threads; number++) {
    members[number] = (member){&all, number, 0, 0, (unsigned int)number * 2654435761u, 0};
    expect(pthread_create(&members[number].thread, NULL, runs, &members[number]) == 0, "a thread");
  }
  for (int number = 0; number < threads; number++) {
    pthread_join(members[number].thread, NULL);
    started += members[number].started;
    subscribed += members[number].subscribed;
  }
  waiter_wait_for(all.completions, started);
  waiter_wait_for(all.endings, subscribed);
  expect_ok(enroll_client_free(all.shared), "client_free");
  printf("%d threads, %d callbacks\n", threads, started);
  waiter_free(all.completions);
  waiter_free(all.events);
  waiter_free(all.endings);
  provider_free(all.server);
  return 0;
}
