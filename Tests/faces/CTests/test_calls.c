/* Tests of enroll_call, which runs any command by its name. Bindings use this function. */

#include <jansson.h>
#include <sched.h>

#include "check.h"
#include "provider.h"

static enroll_error error = ENROLL_ERROR_INIT;

static json_t *call(enroll_client *client, const char *command, const char *parameters) {
  enroll_buf result = ENROLL_BUF_INIT;
  enroll_error_init(&error, sizeof error);
  enroll_status status = enroll_call(client, command, ENROLL_NUL_TERMINATED, parameters, ENROLL_NUL_TERMINATED,
                                     ENROLL_NO_TIMEOUT, &result, &error);
  if (status != ENROLL_OK) return NULL;
  CHECK_NUMBER(0, result.data[result.size]);
  json_t *value = json_loadb(result.data, result.size, 0, NULL);
  CHECK(json_is_object(value));
  enroll_buf_free(&result);
  return value;
}

static void check_fails(enroll_status expected, enroll_client *client, const char *command, const char *parameters) {
  json_t *value = call(client, command, parameters);
  if (value != NULL || error.status != expected)
    CHECK_FAIL("%s %s: %s, expected %s", command, parameters ? parameters : "NULL",
               value != NULL ? "a result" : enroll_status_name(error.status), enroll_status_name(expected));
}

TEST("the manifest describes every command, with schemas") {
  enroll_buf manifest = ENROLL_BUF_INIT;
  enroll_error_init(&error, sizeof error);
  CHECK_OK(enroll_manifest(&manifest, &error));
  json_t *value = json_loadb(manifest.data, manifest.size, JSON_REJECT_DUPLICATES, NULL);
  json_t *commands = json_object_get(value, "commands"), *command;
  size_t index;
  CHECK(json_array_size(commands) >= 20);
  json_array_foreach(commands, index, command) {
    CHECK(json_string_length(json_object_get(command, "name")) > 0);
    CHECK(json_string_length(json_object_get(command, "summary")) > 0);
    CHECK(json_is_object(json_object_get(command, "input")));
    CHECK(json_is_object(json_object_get(command, "output")));
  }
  json_decref(value);
  enroll_buf_free(&manifest);
}

TEST("a whole sign-in by names alone, and the typed functions agree") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  json_t *begun = call(client, "registration.begin", "{\"kind\":\"signIn\"}");
  CHECK(begun != NULL);
  const char *url = json_string_value(json_object_get(json_object_get(begun, "action"), "url"));
  char *redirect = provider_redirect(server, url), parameters[2048];
  snprintf(parameters, sizeof parameters, "{\"url\":\"%s\"}", redirect);
  json_t *resumed = call(client, "registration.resume", parameters);
  CHECK_TEXT("awaitingConfirmation", json_string_value(json_object_get(json_object_get(resumed, "state"), "state")));
  enroll_state state = ENROLL_STATE_INIT;
  CHECK_OK(enroll_registration_state(client, 0, 0, &state, &error));
  CHECK_NUMBER(ENROLL_STATE_AWAITING_CONFIRMATION, state.kind);
  CHECK_TEXT(enroll_state_name(state.kind),
             json_string_value(json_object_get(json_object_get(resumed, "state"), "state")));
  json_decref(call(client, "registration.confirm", NULL));
  json_t *access = call(client, "token.access", "{\"minimumLifetime\":10}");
  CHECK_TEXT("valid", json_string_value(json_object_get(access, "outcome")));
  char token[64];
  int64_t expires_at = 0;
  CHECK_OK(enroll_token_copy(client, 0, 0, token, sizeof token, NULL, &expires_at, &error));
  CHECK_TEXT(token, json_string_value(json_object_get(access, "accessToken")));
  CHECK_NUMBER(expires_at, json_integer_value(json_object_get(access, "expiresAt")));
  json_decref(begun);
  json_decref(resumed);
  json_decref(access);
  free(redirect);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("calls that are not acceptable are refused with a status") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  check_fails(ENROLL_E_NOT_FOUND, client, "registration.nothing", NULL);
  check_fails(ENROLL_E_NOT_FOUND, client, "token.acces", "{}");
  check_fails(ENROLL_E_INVALID_ARGUMENT, client, "", "{}");
  check_fails(ENROLL_E_INVALID_ARGUMENT, client, NULL, "{}");
  check_fails(ENROLL_E_JSON, client, "token.access", "{\"minimumLifetime\":1,}");
  check_fails(ENROLL_E_JSON, client, "token.access", "{\"deadline\":1,\"deadline\":2}");
  check_fails(ENROLL_E_JSON, client, "token.access", "");
  check_fails(ENROLL_E_INVALID_ARGUMENT, client, "token.access", "[]");
  check_fails(ENROLL_E_INVALID_ARGUMENT, client, "token.access", "{\"minimumLifetime\":\"1\"}");
  check_fails(ENROLL_E_INVALID_ARGUMENT, client, "token.access", "{\"minimumLifetime\":-1}");
  check_fails(ENROLL_E_INVALID_ARGUMENT, client, "token.access", "{\"nobodyKnows\":1}");
  check_fails(ENROLL_E_INVALID_ARGUMENT, client, "registration.resume", "{}");
  check_fails(ENROLL_E_HANDLE, NULL, "identity.profile", "{}");
  check_fails(ENROLL_E_UNSUPPORTED, client, "client.close", "{}");
  check_fails(ENROLL_E_UNSUPPORTED, client, "events.subscribe", "{}");
  enroll_client *stale = provider_client(server, NULL);
  CHECK_STATUS(ENROLL_OK, enroll_client_free(stale));
  check_fails(ENROLL_E_HANDLE, stale, "system.describe", "{}");
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  provider_free(server);
}

TEST("a deeply nested parameter is refused before use (R37)") {
  char text[4096] = "{\"url\":";
  for (int depth = 0; depth < 200; depth++) strcat(text, "[");
  for (int depth = 0; depth < 200; depth++) strcat(text, "]");
  strcat(text, "}");
  check_fails(ENROLL_E_JSON, NULL, "redirect.parse", text);
}

TEST("commands without a client need none") {
  json_t *pair = call(NULL, "pkce.generate", NULL);
  CHECK_NUMBER(43, json_string_length(json_object_get(pair, "codeVerifier")));
  json_decref(pair);
  json_t *band = call(NULL, "expiry.check", "{\"expiresAt\":1000,\"now\":950}");
  CHECK_TEXT("due", json_string_value(json_object_get(band, "band")));
  json_decref(band);
}

TEST("what a command answers is in its own words") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  json_t *renewed = call(client, "token.refresh", NULL);
  CHECK_TEXT("valid", json_string_value(json_object_get(renewed, "outcome")));
  json_decref(renewed);
  json_t *led = call(client, "url.handle", "{\"url\":\"com.example.app:/callback?code=c&state=nobody\"}");
  CHECK_TEXT("unsolicited", json_string_value(json_object_get(led, "kind")));
  json_decref(led);
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  provider_free(server);
}

TEST("a call by name that was started calls back, and can be cancelled") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  waiter *done = waiter_new(), *other = waiter_new();
  enroll_pending *pending = NULL;
  provider_hold(server);
  CHECK_OK(enroll_call_start(client, "token.refresh", ENROLL_NUL_TERMINATED, NULL, 0, ENROLL_NO_TIMEOUT, waiter_result,
                             done, &pending, &error));
  CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, waiter_access, other, NULL, &error));
  provider_wait_for_requests(server, 2);
  CHECK_STATUS(ENROLL_OK, enroll_pending_cancel(pending));
  waiter_wait(done);
  CHECK_NUMBER(ENROLL_E_CANCELLED, done->status);
  provider_release(server);
  waiter_wait(other);
  CHECK_NUMBER(ENROLL_OK, other->status);
  CHECK_STATUS(ENROLL_OK, enroll_pending_free(pending));
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  waiter_free(done);
  waiter_free(other);
  provider_free(server);
}

static void count_result(void *user_data, enroll_status status, const char *result, size_t result_size,
                         const enroll_error *failure) {
  (void)status, (void)result, (void)result_size, (void)failure;
  __atomic_add_fetch((int *)user_data, 1, __ATOMIC_RELAXED);
}

TEST("a call that cannot be started leaves the place of its handle alone") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  int started = 0, ended = 0;
  enroll_pending *pending = NULL;
  enroll_status status;
  provider_hold(server);
  do {
    enroll_pending_free(pending);
    pending = NULL;
    status = enroll_call_start(client, "token.refresh", ENROLL_NUL_TERMINATED, NULL, 0, ENROLL_NO_TIMEOUT, count_result,
                               &ended, &pending, &error);
    started += status == ENROLL_OK;
  } while (status == ENROLL_OK && started < 100000);
  CHECK_STATUS(ENROLL_E_BUSY, status);
  CHECK(pending == NULL);
  provider_release(server);
  while (__atomic_load_n(&ended, __ATOMIC_RELAXED) < started) sched_yield();
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  provider_free(server);
}

TEST("who waits for the state is told of the sign-in that is under way") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_state state = ENROLL_STATE_INIT;
  enroll_buf url = ENROLL_BUF_INIT;
  CHECK_OK(enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, &error));
  CHECK_STATUS(ENROLL_E_DEADLINE_EXCEEDED, enroll_registration_state(client, 1, 20, &state, &error));
  CHECK(strstr(error.message, "a sign-in is in progress (step browser)") != NULL);
  CHECK_OK(enroll_registration_state(client, 0, 20, &state, &error));
  CHECK_NUMBER(ENROLL_STEP_BROWSER, state.step);
  enroll_buf_free(&url);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

int main(int count, char **arguments) { return check_main(count, arguments); }
