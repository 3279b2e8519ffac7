/* Handles that are not what they should be: an error code, never a crash (R41). */

#include <pthread.h>

#include "check.h"
#include "provider.h"

/* Runs `call` with a handle that is no good, for every function that takes a client. */
typedef enroll_status (*client_call)(enroll_client *client, enroll_error *error);

static void never_state(void *user_data, enroll_status status, const enroll_state *state, const enroll_error *error) {
  (void)status, (void)state, (void)error;
  *(int *)user_data = 1;
}
static void never_begun(void *user_data, enroll_status status, const enroll_transaction *transaction, const char *url,
                        const char *redirect_uri, const enroll_error *error) {
  (void)status, (void)transaction, (void)url, (void)redirect_uri, (void)error;
  *(int *)user_data = 1;
}
static void never_access(void *user_data, enroll_status status, const enroll_access *access, const char *token,
                         size_t token_size, const enroll_error *error) {
  (void)status, (void)access, (void)token, (void)token_size, (void)error;
  *(int *)user_data = 1;
}
static void never_result(void *user_data, enroll_status status, const char *result, size_t result_size,
                         const enroll_error *error) {
  (void)status, (void)result, (void)result_size, (void)error;
  *(int *)user_data = 1;
}
static void never_event(void *user_data, const char *name, const char *parameters, size_t parameters_size) {
  (void)name, (void)parameters, (void)parameters_size;
  *(int *)user_data = 1;
}

static int called_back;
static enroll_buf buffer;
static enroll_state state = ENROLL_STATE_INIT;
static enroll_access access_info = ENROLL_ACCESS_INIT;
static enroll_pending *pending;
static char room[64];

#define EACH_CLIENT_FUNCTION(F)                                                                                  \
  F(platform_ready, enroll_platform_ready(client, error))                                                        \
  F(registration_state, enroll_registration_state(client, 0, 0, &state, error))                                  \
  F(registration_begin, enroll_registration_begin(client, NULL, 0, NULL, &buffer, NULL, error))                  \
  F(registration_resume, enroll_registration_resume(client, "a:/b", 4, 0, &state, error))                        \
  F(registration_await, enroll_registration_await(client, "x", 1, 0, &state, error))                             \
  F(registration_confirm, enroll_registration_confirm(client, &state, error))                                    \
  F(registration_retry, enroll_registration_retry(client, 0, &state, error))                                     \
  F(registration_cancel, enroll_registration_cancel(client, NULL, 0, &state, error))                             \
  F(registration_clear, enroll_registration_clear(client, &state, error))                                        \
  F(url_handle, enroll_url_handle(client, "a:/b", 4, 0, NULL, &state, NULL, NULL, NULL, error))                  \
  F(handle_link, enroll_registration_handle_link(client, "a:/b", 4, 0, NULL, NULL, NULL, &buffer, error))        \
  F(token_access, enroll_token_access(client, 0, 0, &access_info, &buffer, error))                               \
  F(token_copy, enroll_token_copy(client, 0, 0, room, sizeof room, NULL, NULL, error))                           \
  F(token_refresh, enroll_token_refresh(client, 0, &access_info, &buffer, error))                                \
  F(token_revoke, enroll_token_revoke(client, 0, error))                                                         \
  F(token_introspect, enroll_token_introspect(client, ENROLL_TOKEN_ACCESS, 0, &buffer, error))                     \
  F(dpop_proof, enroll_dpop_proof(client, "GET", 3, "https://a/", 10, NULL, 0, NULL, 0, &buffer, error))          \
  F(identity_profile, enroll_identity_profile(client, &buffer, error))                                           \
  F(identity_userinfo, enroll_identity_userinfo(client, 0, &buffer, error))                                      \
  F(diagnostics_export, enroll_diagnostics_export(client, &buffer, error))                                       \
  F(pin_set, enroll_pin_set(client, "1234", 4, error))                                                           \
  F(pin_unlock, enroll_pin_unlock(client, "1234", 4, NULL, NULL, NULL, error))                                   \
  F(pin_change, enroll_pin_change(client, "1234", 4, "5678", 4, NULL, NULL, NULL, error))                        \
  F(pin_remove, enroll_pin_remove(client, "1234", 4, NULL, NULL, NULL, error))                                   \
  F(account_read, enroll_account_read(client, NULL, NULL, NULL, NULL, NULL, error))                                    \
  F(logout_begin, enroll_logout_begin(client, 1, 0, &buffer, error))                                             \
  F(logout_resume, enroll_logout_resume(client, "a:/b", 4, error))                                               \
  F(events_unsubscribe, enroll_events_unsubscribe(client, 1, error))                                             \
  F(registration_state_start,                                                                                    \
    enroll_registration_state_start(client, 0, 0, never_state, &called_back, &pending, error))                   \
  F(registration_begin_start,                                                                                    \
    enroll_registration_begin_start(client, NULL, 0, never_begun, &called_back, &pending, error))                \
  F(registration_resume_start,                                                                                   \
    enroll_registration_resume_start(client, "a:/b", 4, 0, never_state, &called_back, &pending, error))          \
  F(registration_await_start,                                                                                    \
    enroll_registration_await_start(client, "x", 1, 0, never_state, &called_back, &pending, error))              \
  F(token_access_start, enroll_token_access_start(client, 0, 0, never_access, &called_back, &pending, error))    \
  F(token_refresh_start, enroll_token_refresh_start(client, 0, never_access, &called_back, &pending, error))     \
  F(call_start,                                                                                                  \
    enroll_call_start(client, "identity.profile", 16, NULL, 0, 0, never_result, &called_back, &pending, error))

#define DEFINE(name, expression) \
  static enroll_status call_##name(enroll_client *client, enroll_error *error) { return expression; }
EACH_CLIENT_FUNCTION(DEFINE)

static enroll_status call_subscribe(enroll_client *client, enroll_error *error) {
  int64_t subscription;
  return enroll_events_subscribe(client, never_event, &called_back, &subscription, error);
}

#define ROW(name, expression) {#name, call_##name},
static const struct {
  const char *name;
  client_call run;
} calls[] = {EACH_CLIENT_FUNCTION(ROW){"events_subscribe", call_subscribe}};

static void check_every_call(enroll_client *client, enroll_status expected) {
  for (size_t index = 0; index < sizeof calls / sizeof *calls; index++) {
    enroll_error error = ENROLL_ERROR_INIT;
    enroll_buf untouched = ENROLL_BUF_INIT;
    called_back = 0;
    pending = NULL;
    buffer = untouched;
    enroll_status status = calls[index].run(client, &error);
    if (status != expected)
      CHECK_FAIL("%s is %s, expected %s", calls[index].name, enroll_status_name(status), enroll_status_name(expected));
    CHECK_NUMBER(expected, error.status);
    CHECK_NUMBER(ENROLL_BLAME_CALLER, error.blame);
    CHECK(error.message[0] != 0);
    CHECK(buffer.data == NULL && pending == NULL && !called_back);
  }
}

TEST("every function refuses a null client") { check_every_call(NULL, ENROLL_E_HANDLE); }

TEST("every function refuses a freed client") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  check_every_call(client, ENROLL_E_HANDLE);
  provider_free(server);
}

TEST("every function refuses a freed client whose slot another client has") {
  provider *server = provider_new();
  enroll_client *old = provider_client(server, NULL);
  CHECK_STATUS(ENROLL_OK, enroll_client_free(old));
  enroll_client *young = provider_client(server, NULL);
  CHECK(old != young);
  check_every_call(old, ENROLL_E_HANDLE);
  CHECK_STATUS(ENROLL_OK, enroll_client_free(young));
  provider_free(server);
}

TEST("a freed client's handle gets no token of the client that has its slot") {
  provider *server = provider_new();
  char token[64];
  enroll_client *old = provider_signed_in(server, NULL);
  CHECK_STATUS(ENROLL_OK, enroll_token_copy(old, 0, 0, token, sizeof token, NULL, NULL, NULL));
  CHECK_STATUS(ENROLL_OK, enroll_client_free(old));
  memset(token, 0x55, sizeof token);
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_token_copy(old, 0, 0, token, sizeof token, NULL, NULL, NULL));
  enroll_client *young = provider_signed_in(server, NULL);
  for (int round = 0; round < 2; round++) {
    CHECK_STATUS(ENROLL_E_HANDLE, enroll_token_copy(old, 0, 0, token, sizeof token, NULL, NULL, NULL));
    CHECK(memchr(token, 'a', sizeof token) == NULL);
    char own[64];
    CHECK_STATUS(ENROLL_OK, enroll_token_copy(young, 0, 0, own, sizeof own, NULL, NULL, NULL));
  }
  CHECK_STATUS(ENROLL_OK, enroll_client_free(young));
  provider_free(server);
}

TEST("every function refuses handles of another kind and invented ones") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  enroll_pending *call = NULL;
  waiter *done = waiter_new();
  enroll_error error = ENROLL_ERROR_INIT;
  CHECK_OK(enroll_registration_state_start(client, 0, ENROLL_NO_TIMEOUT, waiter_state, done, &call, &error));
  check_every_call((enroll_client *)(void *)call, ENROLL_E_HANDLE);
  check_every_call((enroll_client *)(void *)&server, ENROLL_E_HANDLE);
  static const uintptr_t numbers[] = {1, 2, 3, 7, 9, 0x7fffff, 0xdeadbeef, UINTPTR_MAX, UINTPTR_MAX - 6};
  for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++)
    check_every_call((enroll_client *)numbers[index], ENROLL_E_HANDLE);
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_pending_cancel((enroll_pending *)(void *)client));
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_client_free((enroll_client *)(void *)call));
  CHECK_STATUS(ENROLL_OK, enroll_pending_free(call));
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  /* It calls back all the same. */
  waiter_wait(done);
  waiter_free(done);
  provider_free(server);
}

TEST("freeing nothing does nothing, freeing twice is refused") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  CHECK_STATUS(ENROLL_OK, enroll_client_free(NULL));
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_client_free(client));
  CHECK_STATUS(ENROLL_OK, enroll_pending_free(NULL));
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_pending_cancel(NULL));
  enroll_buf_free(NULL);
  provider_free(server);
}

TEST("a pending handle outlives its call and its client, and is freed once") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  enroll_error error = ENROLL_ERROR_INIT;
  waiter *done = waiter_new();
  enroll_pending *call = NULL;
  CHECK_OK(enroll_registration_state_start(client, 0, ENROLL_NO_TIMEOUT, waiter_state, done, &call, &error));
  waiter_wait(done);
  CHECK_STATUS(ENROLL_OK, enroll_pending_cancel(call));
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  CHECK_STATUS(ENROLL_OK, enroll_pending_cancel(call));
  CHECK_STATUS(ENROLL_OK, enroll_pending_free(call));
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_pending_free(call));
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_pending_cancel(call));
  waiter_free(done);
  provider_free(server);
}

TEST("a buffer's struct copied and freed twice frees once") {
  enroll_buf first = ENROLL_BUF_INIT;
  CHECK_STATUS(ENROLL_OK, enroll_system_describe(&first, NULL));
  enroll_buf copy = first;
  enroll_buf_free(&first);
  CHECK(first.data == NULL && first.size == 0);
  enroll_buf_free(&first);
  enroll_buf other = ENROLL_BUF_INIT;
  CHECK_STATUS(ENROLL_OK, enroll_system_describe(&other, NULL));
  enroll_buf_free(&copy);
  CHECK(other.data[0] == '{' && other.data[other.size] == 0);
  enroll_buf_free(&other);
}

static void *free_it(void *client) { return (void *)(intptr_t)enroll_client_free(client); }

TEST("of many threads that free one client, one wins") {
  provider *server = provider_new();
  for (int round = 0; round < 100; round++) {
    enroll_client *client = provider_client(server, NULL);
    pthread_t threads[4];
    int freed = 0;
    for (int index = 0; index < 4; index++) pthread_create(&threads[index], NULL, free_it, client);
    for (int index = 0; index < 4; index++) {
      void *status;
      pthread_join(threads[index], &status);
      if ((intptr_t)status == ENROLL_OK) freed++;
      else CHECK_NUMBER(ENROLL_E_HANDLE, (intptr_t)status);
    }
    CHECK_NUMBER(1, freed);
  }
  provider_free(server);
}

static void *use_it(void *given) {
  enroll_client *client = given;
  for (int round = 0; round < 1000; round++) {
    char token[256];
    enroll_status status = enroll_token_copy(client, 0, 0, token, sizeof token, NULL, NULL, NULL);
    if (status == ENROLL_E_HANDLE) return NULL;
    if (status != ENROLL_OK && status != ENROLL_E_CANCELLED) return (void *)(intptr_t)status;
  }
  return NULL;
}

TEST("a client may be freed while other threads use it") {
  for (int round = 0; round < 20; round++) {
    provider *server = provider_new();
    enroll_client *client = provider_signed_in(server, NULL);
    pthread_t threads[4];
    for (int index = 0; index < 4; index++) pthread_create(&threads[index], NULL, use_it, client);
    CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
    for (int index = 0; index < 4; index++) {
      void *status;
      pthread_join(threads[index], &status);
      CHECK_NUMBER(0, (intptr_t)status);
    }
    provider_free(server);
  }
}

TEST("five thousand clients come and go") {
  provider *server = provider_new();
  for (int round = 0; round < 5000; round++) {
    enroll_client *client = provider_client(server, NULL);
    CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  }
  provider_free(server);
}

int main(int count, char **arguments) { return check_main(count, arguments); }
