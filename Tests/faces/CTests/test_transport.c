/* Tests of a host's own transport: what it may do, what it must not do, and that its responses are checked
 * like the responses of a server (R20, R41). */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "check.h"
#include "provider.h"

struct hook {
  enroll_client *client;
  int runs;
  enroll_status statuses[8];
};

static void calls_in(void *given) {
  struct hook *hook = given;
  enroll_buf buffer = ENROLL_BUF_INIT;
  char token[64];
  enroll_client *other = NULL;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  hook->runs++;
  hook->statuses[0] = enroll_identity_profile(hook->client, &buffer, NULL);
  hook->statuses[1] = enroll_token_copy(hook->client, 0, 0, token, sizeof token, NULL, NULL, NULL);
  hook->statuses[2] = enroll_registration_state(hook->client, 0, 0, NULL, NULL);
  hook->statuses[3] = enroll_client_new(&options, &other, NULL);
  hook->statuses[4] = enroll_client_free(hook->client);
  hook->statuses[5] = enroll_call(hook->client, "identity.profile", 16, NULL, 0, 0, &buffer, NULL);
  /* Functions that need no client may be called inside a transport. */
  hook->statuses[6] = enroll_system_describe(&buffer, NULL);
  enroll_buf_free(&buffer);
}

TEST("a transport that calls back in is refused, and its own call goes on (R41)") {
  provider *server = provider_new();
  enroll_error error = ENROLL_ERROR_INIT;
  struct hook hook = {provider_client(server, NULL), 0, {0}};
  provider_on_send(server, calls_in, &hook);
  provider_sign_in(server, hook.client);
  CHECK(hook.runs >= 3);
  for (int index = 0; index < 6; index++) CHECK_NUMBER(ENROLL_E_REENTRANT, hook.statuses[index]);
  CHECK_NUMBER(ENROLL_OK, hook.statuses[6]);
  provider_on_send(server, NULL, NULL);
  CHECK_OK(enroll_registration_state(hook.client, 0, 0, NULL, &error));
  CHECK_OK(enroll_client_free(hook.client));
  provider_free(server);
}

/* A transport that answers discovery in one of many wrong ways. */
struct odd {
  int way;
  waiter *released;
  enroll_http_response *kept;
};

static enroll_status odd_send(void *user_data, const enroll_http_request *request, enroll_http_response *response) {
  struct odd *odd = user_data;
  static char block[65536];
  odd->kept = response;
  switch (odd->way) {
    case 0: return ENROLL_E_NETWORK;
    case 1: return ENROLL_E_TLS;
    case 2: return ENROLL_E_TIMEOUT;
    case 3: return 12345;
    case 4: return ENROLL_OK; /* Without an HTTP status. */
    case 5:
      enroll_http_response_set_status(response, 200);
      for (size_t sent = 0; sent <= request->response_limit; sent += sizeof block)
        if (enroll_http_response_add_body(response, block, sizeof block) != ENROLL_OK) break;
      return ENROLL_OK;
    case 6: return enroll_http_response_set_status(response, 99);
    case 7:
      for (int count = 0; count < 1000; count++) {
        enroll_status status = enroll_http_response_add_header(response, "a", 1, "b", 1);
        if (status != ENROLL_OK) return count == 256 ? ENROLL_E_RESPONSE_INVALID : ENROLL_E_INTERNAL;
      }
      return ENROLL_E_INTERNAL;
    case 8: return enroll_http_response_add_body(response, NULL, 8) == ENROLL_E_INVALID_ARGUMENT &&
                           enroll_http_response_add_header(response, NULL, 0, "b", 1) == ENROLL_E_INVALID_ARGUMENT &&
                           enroll_http_response_add_header(response, "a", 1, "\xff", 1) == ENROLL_E_INVALID_ARGUMENT &&
                           enroll_http_response_is_cancelled(response) == 0 &&
                           enroll_http_response_set_unsent(response) == ENROLL_OK &&
                           request->struct_size == sizeof *request && strcmp(request->method, "GET") == 0 &&
                           request->body_size == 0 && request->timeout_ms > 0
                       ? ENROLL_E_RESPONSE_INVALID
                       : ENROLL_E_INTERNAL;
    default: return ENROLL_E_CANCELLED;
  }
}

static void odd_release(void *user_data) { waiter_event(((struct odd *)user_data)->released, "", "", 0); }

static enroll_client *odd_client(struct odd *odd) {
  enroll_transport transport = ENROLL_TRANSPORT_INIT;
  odd->released = waiter_new();
  transport.user_data = odd;
  transport.send = odd_send;
  transport.release = odd_release;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration =
      "{\"issuer\":\"https://provider.example\",\"clientId\":\"n\",\"redirectUri\":\"com.example.app:/c\"}";
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store = ENROLL_STORE_MEMORY;
  options.transport = &transport;
  enroll_client *client = NULL;
  enroll_error error = ENROLL_ERROR_INIT;
  CHECK_OK(enroll_client_new(&options, &client, &error));
  return client;
}

/* Frees the client, and waits until the transport is released: one of the client's own threads may release it later. */
static void odd_free(struct odd *odd, enroll_client *client) {
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  waiter_wait(odd->released);
  CHECK_NUMBER(1, odd->released->calls);
  waiter_free(odd->released);
}

TEST("a transport's failures and oddities become statuses") {
  static const enroll_status expected[] = {ENROLL_E_NETWORK,          ENROLL_E_TLS,      ENROLL_E_TIMEOUT,
                                           ENROLL_E_INTERNAL,         ENROLL_E_INTERNAL, ENROLL_E_RESPONSE_INVALID,
                                           ENROLL_E_INTERNAL,         ENROLL_E_RESPONSE_INVALID,
                                           ENROLL_E_RESPONSE_INVALID, ENROLL_E_CANCELLED};
  for (int way = 0; way < (int)(sizeof expected / sizeof *expected); way++) {
    struct odd odd = {way, NULL, NULL};
    enroll_client *client = odd_client(&odd);
    enroll_buf url = ENROLL_BUF_INIT;
    enroll_error error = ENROLL_ERROR_INIT;
    enroll_status status = enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, &error);
    if (status != expected[way])
      CHECK_FAIL("way %d: %s (%s), expected %s", way, enroll_status_name(status), error.message,
                 enroll_status_name(expected[way]));
    CHECK(url.data == NULL);
    odd_free(&odd, client);
  }
}

TEST("a response is of no use after send has returned") {
  struct odd odd = {0, NULL, NULL};
  enroll_client *client = odd_client(&odd);
  enroll_buf url = ENROLL_BUF_INIT;
  CHECK_STATUS(ENROLL_E_NETWORK, enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, NULL));
  CHECK(odd.kept != NULL);
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_http_response_set_status(odd.kept, 200));
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_http_response_add_header(odd.kept, "a", 1, "b", 1));
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_http_response_add_body(odd.kept, "a", 1));
  CHECK_NUMBER(1, enroll_http_response_is_cancelled(odd.kept));
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_http_response_set_unsent(odd.kept));
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_http_response_set_status(NULL, 200));
  odd_free(&odd, client);
}

/* A slow transport: it returns only when the library says that no caller waits for its response any more. */
static enroll_status slow_send(void *user_data, const enroll_http_request *request, enroll_http_response *response) {
  (void)request;
  waiter_event(user_data, "sending", "", 0);
  while (!enroll_http_response_is_cancelled(response)) sched_yield();
  return ENROLL_E_CANCELLED;
}

static void *begins(void *client) {
  enroll_buf url = ENROLL_BUF_INIT;
  return (void *)(intptr_t)enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, NULL);
}

TEST("a slow transport is told when its caller's time is up, and when its client is freed") {
  waiter *sending = waiter_new();
  enroll_transport transport = ENROLL_TRANSPORT_INIT;
  transport.user_data = sending;
  transport.send = slow_send;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration =
      "{\"issuer\":\"https://provider.example\",\"clientId\":\"n\",\"redirectUri\":\"com.example.app:/c\"}";
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store = ENROLL_STORE_MEMORY;
  options.transport = &transport;
  enroll_client *client = NULL;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf url = ENROLL_BUF_INIT;
  CHECK_OK(enroll_client_new(&options, &client, &error));
  CHECK_STATUS(ENROLL_E_DEADLINE_EXCEEDED, enroll_registration_begin(client, NULL, 100, NULL, &url, NULL, &error));
  CHECK(url.data == NULL);
  int before = sending->calls;
  CHECK(before > 0);
  pthread_t thread;
  CHECK_NUMBER(0, pthread_create(&thread, NULL, begins, client));
  waiter_wait_for(sending, before + 1);
  CHECK_OK(enroll_client_free(client));
  void *status;
  pthread_join(thread, &status);
  CHECK_NUMBER(ENROLL_E_CANCELLED, (intptr_t)status);
  waiter_free(sending);
}

/* A transport that continues although no caller waits, as a blocking HTTP library does. */
struct stubborn {
  atomic_int left;      /* Nobody waits for the answer any more. */
  atomic_int may_end;   /* Set by the test. */
  atomic_int returned;  /* The call has returned. */
  enroll_client *client;
};

static enroll_status stubborn_send(void *data, const enroll_http_request *request, enroll_http_response *response) {
  struct stubborn *stubborn = data;
  (void)request;
  while (!enroll_http_response_is_cancelled(response)) sched_yield();
  atomic_store(&stubborn->left, 1);
  while (!atomic_load(&stubborn->may_end)) sched_yield();
  return ENROLL_E_CANCELLED;
}

static void *begins_soon(void *given) {
  struct stubborn *stubborn = given;
  enroll_buf url = ENROLL_BUF_INIT;
  enroll_status status = enroll_registration_begin(stubborn->client, NULL, 50, NULL, &url, NULL, NULL);
  atomic_store(&stubborn->returned, 1);
  return (void *)(intptr_t)status;
}

TEST("a timeout does not end send: the call returns after it") {
  struct stubborn stubborn = {0};
  enroll_transport transport = ENROLL_TRANSPORT_INIT;
  transport.user_data = &stubborn;
  transport.send = stubborn_send;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration =
      "{\"issuer\":\"https://provider.example\",\"clientId\":\"n\",\"redirectUri\":\"com.example.app:/c\"}";
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store = ENROLL_STORE_MEMORY;
  options.transport = &transport;
  enroll_error error = ENROLL_ERROR_INIT;
  CHECK_OK(enroll_client_new(&options, &stubborn.client, &error));
  pthread_t thread;
  CHECK_NUMBER(0, pthread_create(&thread, NULL, begins_soon, &stubborn));
  while (!atomic_load(&stubborn.left)) sched_yield();
  CHECK_NUMBER(0, atomic_load(&stubborn.returned));
  atomic_store(&stubborn.may_end, 1);
  void *status;
  pthread_join(thread, &status);
  CHECK_NUMBER(ENROLL_E_DEADLINE_EXCEEDED, (intptr_t)status);
  CHECK_OK(enroll_client_free(stubborn.client));
}

TEST("a renewal's caller returns at its timeout while send goes on") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_access access = ENROLL_ACCESS_INIT;
  enroll_buf token = ENROLL_BUF_INIT;
  int before = provider_token_requests(server);
  provider_hold(server);
  CHECK_OK(enroll_token_refresh(client, 100, &access, &token, &error));
  CHECK_NUMBER(ENROLL_ACCESS_STALE, access.outcome);
  enroll_buf_free(&token);
  provider_release(server);
  provider_wait_for_requests(server, before + 1);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("a transport without send is refused") {
  enroll_transport transport = ENROLL_TRANSPORT_INIT;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration =
      "{\"issuer\":\"https://provider.example\",\"clientId\":\"n\",\"redirectUri\":\"com.example.app:/c\"}";
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store = ENROLL_STORE_MEMORY;
  options.transport = &transport;
  enroll_client *client = NULL;
  enroll_error error = ENROLL_ERROR_INIT;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_client_new(&options, &client, &error));
  CHECK_TEXT("transport", error.field);
  transport.struct_size = 0;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_client_new(&options, &client, &error));
  CHECK(client == NULL);
}

int main(int count, char **arguments) { return check_main(count, arguments); }
