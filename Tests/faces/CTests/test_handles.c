/* Invalid handles: they cause an error code, never a crash (R41). */

#include <pthread.h>

#include "provider.h"
#include "table.h"

static arguments given;

/* Calls every function that takes a client, apart from enroll_client_free and, if `client` is NULL, apart from
 * enroll_call, which accepts NULL. */
static void check_every_call(enroll_client *client, enroll_status expected) {
  int functions = 0;
  never_called = 0;
  FOR_EACH_ROW(function) {
    int frees = strcmp(function->name, "enroll_client_free") == 0;
    int needs_none = client == NULL && strcmp(function->name, "enroll_call") == 0;
    if (function->count == 0 || function->parameters[0].kind != CLIENT || frees || needs_none) continue;
    functions++;
    fill(&given, function, client, NULL);
    check_refused(&given, function, expected, NULL, "a handle that is no good");
    CHECK_NUMBER(ENROLL_BLAME_CALLER, failure_of(&given, function)->blame);
  }
  CHECK(functions > 36);
  CHECK_NUMBER(0, never_called);
}

TEST("every function refuses a null client") { check_every_call(NULL, ENROLL_E_HANDLE); }

TEST("every function refuses a freed client (R41)") {
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
  /* The callback has run, although the handle of the call and the client were freed. */
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
