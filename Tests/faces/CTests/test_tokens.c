/* Tokens through C: from memory, renewed, by callback, cancelled, and for many threads at once (flows.md §8). */

#include <pthread.h>

#include "check.h"
#include "provider.h"

static enroll_error error = ENROLL_ERROR_INIT;

static void forget_error(void) { enroll_error_init(&error, sizeof error); }

TEST("the whole way: begin, resume, the profile, confirm, token, userinfo, account, logout") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
  enroll_state state = ENROLL_STATE_INIT;
  enroll_buf url = ENROLL_BUF_INIT, claims = ENROLL_BUF_INIT, token = ENROLL_BUF_INIT;
  forget_error();
  CHECK_OK(enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, &transaction, &url, NULL, &error));
  char *redirect = provider_redirect(server, url.data);
  CHECK_OK(enroll_registration_resume(client, redirect, strlen(redirect), ENROLL_NO_TIMEOUT, &state, &error));
  CHECK_NUMBER(ENROLL_STATE_AWAITING_CONFIRMATION, state.kind);
  CHECK_NUMBER(ENROLL_ACTIVE_REASON_NONE, state.active_reason);
  CHECK_OK(enroll_identity_profile(client, &claims, &error));
  CHECK(strstr(claims.data, "\"name\":\"Alice \xc3\x84\"") != NULL);
  enroll_buf_free(&claims);
  enroll_buf asked = ENROLL_BUF_INIT, waiting = ENROLL_BUF_INIT, how = ENROLL_BUF_INIT;
  CHECK_OK(enroll_account_waiting(client, &asked, &waiting, &how, &error));
  CHECK_TEXT(state.transaction, asked.data);
  CHECK(strstr(waiting.data, "\"sub\":\"alice\"") != NULL && how.size == 0);
  CHECK_OK(enroll_account_read(client, &claims, NULL, NULL, NULL, NULL, &error));
  CHECK_NUMBER(0, claims.size);
  enroll_buf_free(&claims);
  CHECK_STATUS(ENROLL_E_NOT_FOUND, enroll_account_renewal(client, NULL, NULL, &error));
  CHECK_STATUS(ENROLL_E_ILLEGAL_STATE, enroll_registration_confirm_transaction(client, "another", 7, NULL, &error));
  CHECK_OK(enroll_registration_confirm_transaction(client, asked.data, asked.size, &state, &error));
  CHECK_NUMBER(ENROLL_STATE_ACTIVE, state.kind);
  CHECK_NUMBER(ENROLL_ACTIVE_REASON_CONFIRMED, state.active_reason);
  CHECK_STATUS(ENROLL_E_NOT_FOUND, enroll_account_waiting(client, NULL, NULL, NULL, NULL));
  int32_t renews = -1;
  int64_t renewable_until = -1;
  CHECK_OK(enroll_account_renewal(client, &renews, &renewable_until, &error));
  CHECK_NUMBER(1, renews);
  CHECK_NUMBER(0, renewable_until);
  CHECK_OK(enroll_account_renewal(client, NULL, NULL, NULL));
  enroll_buf_free(&asked);
  enroll_buf_free(&waiting);
  enroll_buf_free(&how);

  enroll_access access = ENROLL_ACCESS_INIT;
  CHECK_OK(enroll_token_access(client, 0, 0, &access, &token, &error));
  CHECK_TEXT("access-1", token.data);
  CHECK_NUMBER(8, token.size);
  CHECK_NUMBER(ENROLL_ACCESS_VALID, access.outcome);
  CHECK_TEXT("Bearer", access.token_type);
  CHECK(access.expires_at > 1700000000);
  enroll_buf_free(&token);
  CHECK_OK(enroll_identity_userinfo(client, ENROLL_NO_TIMEOUT, &claims, &error));
  CHECK(strstr(claims.data, "\"sub\":\"alice\"") != NULL);
  enroll_buf_free(&claims);

  enroll_buf id_token = ENROLL_BUF_INIT, access_token = ENROLL_BUF_INIT, type = ENROLL_BUF_INIT;
  int64_t expires_at = 0;
  CHECK_OK(enroll_account_read(client, &claims, &id_token, &access_token, &type, &expires_at, &error));
  CHECK(claims.size > 0 && id_token.size == 0 && id_token.data[0] == 0 && type.size == 0);
  CHECK_NUMBER(access.expires_at, expires_at);
  CHECK_TEXT("access-1", access_token.data);
  enroll_buf_free(&claims);
  enroll_buf_free(&access_token);
  enroll_buf_free(&id_token);
  enroll_buf_free(&type);

  CHECK_STATUS(ENROLL_E_ALREADY_SETTLED,
               enroll_registration_resume(client, redirect, strlen(redirect), ENROLL_NO_TIMEOUT, &state, NULL));
  enroll_buf farewell = ENROLL_BUF_INIT;
  CHECK_OK(enroll_logout_begin(client, 0, ENROLL_NO_TIMEOUT, &farewell, &error));
  enroll_buf_free(&farewell);
  CHECK_STATUS(ENROLL_E_REAUTHENTICATE, enroll_token_access(client, 0, 0, NULL, &token, &error));
  CHECK_NUMBER(ENROLL_BLAME_USER, error.blame);
  CHECK_STATUS(ENROLL_E_UNSOLICITED,
               enroll_logout_resume(client, "com.example.app:/logout?state=x", ENROLL_NUL_TERMINATED, NULL));
  CHECK_OK(enroll_registration_state(client, 1, ENROLL_NO_TIMEOUT, &state, &error));
  CHECK_NUMBER(ENROLL_STATE_UNREGISTERED, state.kind);
  free(redirect);
  enroll_buf_free(&url);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("each audience has a token of its own, beside the session's (RFC 8707)") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  enroll_access access = ENROLL_ACCESS_INIT;
  enroll_audience audience = ENROLL_AUDIENCE_INIT;
  enroll_buf token = ENROLL_BUF_INIT;
  forget_error();
  audience.resource = "https://api.example/";
  audience.resource_size = ENROLL_NUL_TERMINATED;
  audience.scope = "read write";
  audience.scope_size = ENROLL_NUL_TERMINATED;
  CHECK_OK(enroll_token_access_for(client, &audience, 0, ENROLL_NO_TIMEOUT, &access, &token, &error));
  CHECK_TEXT("access-2", token.data);
  CHECK_NUMBER(ENROLL_ACCESS_VALID, access.outcome);
  enroll_buf_free(&token);
  CHECK_NUMBER(2, provider_token_requests(server));

  /* Copies the token from memory into the caller's buffer; the order of the scopes does not matter. */
  char buffer[64];
  size_t size = 0;
  int64_t expires_at = 0;
  for (int call = 0; call < 3; call++) {
    audience.scope = call % 2 ? "write read" : "read write";
    CHECK_OK(enroll_token_copy_for(client, &audience, 0, 0, buffer, sizeof buffer, &size, &expires_at, &error));
    CHECK_TEXT("access-2", buffer);
    CHECK_NUMBER(8, size);
    CHECK_NUMBER(access.expires_at, expires_at);
  }
  CHECK_STATUS(ENROLL_E_BUFFER_TOO_SMALL,
               enroll_token_copy_for(client, &audience, 0, 0, buffer, 8, &size, NULL, NULL));
  CHECK_NUMBER(8, size);
  /* The renewal may have made the session's own token invalid, so that token is renewed, too. */
  CHECK_OK(enroll_token_access_for(client, NULL, 0, ENROLL_NO_TIMEOUT, NULL, &token, &error));
  CHECK_TEXT("access-3", token.data);
  enroll_buf_free(&token);
  CHECK_OK(enroll_token_copy_for(client, NULL, 0, 0, buffer, sizeof buffer, &size, NULL, &error));
  CHECK_TEXT("access-3", buffer);
  CHECK_NUMBER(3, provider_token_requests(server));

  CHECK_OK(enroll_token_refresh_for(client, &audience, ENROLL_NO_TIMEOUT, &access, &token, &error));
  CHECK_TEXT("access-4", token.data);
  enroll_buf_free(&token);
  waiter *waiting = waiter_new();
  enroll_audience narrow = ENROLL_AUDIENCE_INIT;
  narrow.scope = "read";
  narrow.scope_size = 4;
  CHECK_OK(enroll_token_access_for_start(client, &narrow, 0, ENROLL_NO_TIMEOUT, waiter_access, waiting, NULL, &error));
  waiter_wait(waiting);
  CHECK_TEXT("access-5", waiting->text);
  waiter_free(waiting);
  waiting = waiter_new();
  CHECK_OK(enroll_token_refresh_for_start(client, &narrow, ENROLL_NO_TIMEOUT, waiter_access, waiting, NULL, &error));
  waiter_wait(waiting);
  CHECK_TEXT("access-6", waiting->text);
  waiter_free(waiting);

  enroll_buf list = ENROLL_BUF_INIT;
  CHECK_OK(enroll_token_list(client, &list, &error));
  CHECK(strstr(list.data, "\"resource\":\"https://api.example/\"") != NULL);
  CHECK(strstr(list.data, "\"scope\":\"read\"") != NULL && strstr(list.data, "access-") == NULL);
  enroll_buf_free(&list);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("an audience that the provider refuses, or that cannot be sent, leaves the session alone") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  enroll_buf token = ENROLL_BUF_INIT;
  char buffer[64];
  size_t size = 0;
  forget_error();
  enroll_audience audience = ENROLL_AUDIENCE_INIT;
  audience.resource = "https://other.example/";
  audience.resource_size = ENROLL_NUL_TERMINATED;
  CHECK_STATUS(ENROLL_E_REJECTED,
               enroll_token_access_for(client, &audience, 0, ENROLL_NO_TIMEOUT, NULL, &token, &error));
  CHECK_TEXT("resource", error.field);
  CHECK_TEXT("invalid_target", error.oauth_error);
  static const char *const bad[] = {"", "https://api.example/#part", "http://api.example/", "api"};
  for (size_t index = 0; index < sizeof bad / sizeof *bad; index++) {
    audience.resource = bad[index];
    CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT,
                 enroll_token_copy_for(client, &audience, 0, 0, buffer, sizeof buffer, &size, NULL, &error));
    CHECK_TEXT("resource", error.field);
  }
  enroll_audience empty = ENROLL_AUDIENCE_INIT;
  empty.scope = "";
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_token_access_for(client, &empty, 0, 0, NULL, &token, &error));
  CHECK_TEXT("scope", error.field);
  enroll_audience shorter = ENROLL_AUDIENCE_INIT;
  shorter.struct_size = 4;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_token_access_for(client, &shorter, 0, 0, NULL, &token, &error));
  CHECK_OK(enroll_token_access(client, 0, 0, NULL, &token, &error));
  CHECK_TEXT("access-1", token.data);
  enroll_buf_free(&token);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("a redirect that nobody asked for has no effect (R6)") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  enroll_state state = ENROLL_STATE_INIT;
  int32_t kind = 0;
  forget_error();
  CHECK_STATUS(ENROLL_E_UNSOLICITED,
               enroll_registration_resume(client, "com.example.app:/callback?code=a&state=b", ENROLL_NUL_TERMINATED,
                                          ENROLL_NO_TIMEOUT, &state, &error));
  CHECK_NUMBER(ENROLL_BLAME_NETWORK, error.blame);
  CHECK_OK(enroll_url_handle(client, "com.example.app:/callback?code=a&state=b", ENROLL_NUL_TERMINATED,
                             ENROLL_NO_TIMEOUT, &kind, &state, NULL, NULL, NULL, &error));
  CHECK_NUMBER(ENROLL_URL_UNSOLICITED, kind);
  CHECK_NUMBER(0, state.kind);
  CHECK_OK(enroll_registration_state(client, 0, 0, &state, &error));
  CHECK_NUMBER(ENROLL_STATE_ACTIVE, state.kind);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("one door takes a redirect too, and tells what it was") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  enroll_buf url = ENROLL_BUF_INIT;
  enroll_state state = ENROLL_STATE_INIT;
  int32_t kind = 0;
  forget_error();
  CHECK_OK(enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, &error));
  char *redirect = provider_redirect(server, url.data);
  CHECK_OK(enroll_url_handle(client, redirect, strlen(redirect), ENROLL_NO_TIMEOUT, &kind, &state, NULL, NULL, NULL,
                             &error));
  CHECK_NUMBER(ENROLL_URL_REGISTRATION, kind);
  CHECK_NUMBER(ENROLL_STATE_AWAITING_CONFIRMATION, state.kind);
  CHECK_OK(enroll_registration_retry(client, ENROLL_NO_TIMEOUT, &state, &error));
  CHECK_NUMBER(ENROLL_STATE_UNREGISTERED, state.kind);
  free(redirect);
  enroll_buf_free(&url);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("a transaction that fails is told with the provider's code, and the state is F") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  enroll_buf url = ENROLL_BUF_INIT;
  enroll_state state = ENROLL_STATE_INIT;
  forget_error();
  CHECK_OK(enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, &error));
  char *redirect = provider_redirect(server, url.data);
  char refused[512];
  snprintf(refused, sizeof refused, "com.example.app:/callback?error=access_denied&%s", strstr(redirect, "state="));
  CHECK_STATUS(ENROLL_E_ACCESS_DENIED,
               enroll_registration_resume(client, refused, strlen(refused), ENROLL_NO_TIMEOUT, &state, &error));
  CHECK_TEXT("access_denied", error.oauth_error);
  CHECK_OK(enroll_registration_state(client, 0, 0, &state, &error));
  CHECK_NUMBER(ENROLL_STATE_REGISTRATION_FAILED, state.kind);
  CHECK_NUMBER(ENROLL_E_ACCESS_DENIED, state.reason);
  CHECK_TEXT("access_denied", state.reason_oauth_error);
  free(redirect);
  enroll_buf_free(&url);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("a fresh token is copied into the caller's buffer, with its NUL") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  char token[64];
  size_t size = 0;
  int64_t expires_at = 0;
  forget_error();
  for (int round = 0; round < 3; round++) {
    memset(token, 0x55, sizeof token);
    CHECK_OK(enroll_token_copy(client, 0, ENROLL_NO_TIMEOUT, token, sizeof token, &size, &expires_at, &error));
    CHECK_TEXT("access-1", token);
    CHECK_NUMBER(8, size);
    CHECK(token[9] == 0x55);
    CHECK(expires_at > 1700000000);
    CHECK_OK(enroll_token_copy(client, 0, 0, token, 9, NULL, NULL, NULL));
  }
  CHECK_NUMBER(1, provider_token_requests(server));
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("a buffer that is too short gets the size that is needed, and no token") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  forget_error();
  for (int round = 0; round < 2; round++) {
    for (size_t capacity = 0; capacity <= 8; capacity++) {
      char token[16];
      memset(token, 0x55, sizeof token);
      size_t size = 4711;
      int64_t expires_at = 4711;
      CHECK_STATUS(ENROLL_E_BUFFER_TOO_SMALL,
                   enroll_token_copy(client, 0, 0, capacity == 0 ? NULL : token, capacity, &size, &expires_at, &error));
      CHECK_NUMBER(8, size);
      CHECK_NUMBER(4711, expires_at);
      for (size_t index = capacity; index < sizeof token; index++) CHECK(token[index] == 0x55);
      CHECK(memchr(token, 'a', sizeof token) == NULL);
    }
  }
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("a token that is due is renewed once, and the new one handed out") {
  provider *server = provider_new();
  provider_set_lifetime(server, 100);
  enroll_client *client = provider_signed_in(server, NULL);
  enroll_buf token = ENROLL_BUF_INIT;
  char room[64];
  forget_error();
  provider_set_lifetime(server, 3600);
  CHECK_OK(enroll_token_access(client, 90, ENROLL_NO_TIMEOUT, NULL, &token, &error));
  CHECK_TEXT("access-1", token.data);
  enroll_buf_free(&token);
  CHECK_OK(enroll_token_refresh(client, ENROLL_NO_TIMEOUT, NULL, &token, &error));
  CHECK_TEXT("access-2", token.data);
  enroll_buf_free(&token);
  CHECK_OK(enroll_token_copy(client, 0, 0, room, sizeof room, NULL, NULL, &error));
  CHECK_TEXT("access-2", room);
  CHECK_NUMBER(2, provider_token_requests(server));
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("a provider in trouble: the old token is handed out as stale while it works") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  enroll_access access = ENROLL_ACCESS_INIT;
  enroll_buf token = ENROLL_BUF_INIT;
  forget_error();
  provider_set_token_status(server, 400);
  CHECK_OK(enroll_token_refresh(client, ENROLL_NO_TIMEOUT, &access, &token, &error));
  CHECK_NUMBER(ENROLL_ACCESS_STALE, access.outcome);
  CHECK(access.reason != ENROLL_OK);
  CHECK_TEXT("access-1", token.data);
  enroll_buf_free(&token);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("a completion calls back once, on another thread, also when the token is at hand") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  forget_error();
  for (int round = 0; round < 50; round++) {
    waiter *done = waiter_new();
    CHECK_OK(enroll_token_access_start(client, 0, ENROLL_NO_TIMEOUT, waiter_access, done, NULL, &error));
    waiter_wait(done);
    CHECK_NUMBER(ENROLL_OK, done->status);
    CHECK_TEXT("access-1", done->text);
    CHECK_NUMBER(ENROLL_ACCESS_VALID, done->outcome);
    CHECK_NUMBER(1, done->calls);
    waiter_free(done);
  }
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

struct caller {
  waiter *done;
  enroll_client *client;
  pthread_t starter;
  int ran_elsewhere;
  enroll_status status;
  char token[64];
};

static void calls_back_in(void *user_data, enroll_status status, const enroll_access *access, const char *token,
                          size_t token_size, const enroll_error *failure) {
  struct caller *caller = user_data;
  caller->ran_elsewhere = !pthread_equal(caller->starter, pthread_self());
  enroll_buf claims = ENROLL_BUF_INIT;
  caller->status = enroll_identity_profile(caller->client, &claims, NULL);
  enroll_buf_free(&claims);
  if (caller->status == ENROLL_OK)
    caller->status = enroll_token_copy(caller->client, 0, ENROLL_NO_TIMEOUT, caller->token, sizeof caller->token, NULL,
                                       NULL, NULL);
  if (caller->status == ENROLL_OK) caller->status = enroll_client_free(caller->client);
  waiter_access(caller->done, status, access, token, token_size, failure);
}

TEST("a completion may call back in, and free its client") {
  provider *server = provider_new();
  struct caller caller = {waiter_new(), provider_signed_in(server, NULL), pthread_self(), 0, -1, ""};
  forget_error();
  CHECK_OK(enroll_token_access_start(caller.client, 0, ENROLL_NO_TIMEOUT, calls_back_in, &caller, NULL, &error));
  waiter_wait(caller.done);
  CHECK(caller.ran_elsewhere);
  CHECK_STATUS(ENROLL_OK, caller.status);
  CHECK_TEXT("access-1", caller.token);
  CHECK_STATUS(ENROLL_E_HANDLE, enroll_client_free(caller.client));
  waiter_free(caller.done);
  provider_free(server);
}

TEST("everything that can be started calls back with what it came to") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  waiter *done = waiter_new();
  forget_error();
  CHECK_OK(enroll_registration_state_start(client, 1, ENROLL_NO_TIMEOUT, waiter_state, done, NULL, &error));
  waiter_wait_for(done, 1);
  CHECK_NUMBER(ENROLL_STATE_UNREGISTERED, done->state_kind);
  CHECK_OK(enroll_registration_begin_start(client, NULL, ENROLL_NO_TIMEOUT, waiter_begun, done, NULL, &error));
  waiter_wait_for(done, 2);
  CHECK_NUMBER(ENROLL_OK, done->status);
  char *redirect = provider_redirect(server, done->text);
  CHECK_OK(enroll_registration_resume_start(client, redirect, ENROLL_NUL_TERMINATED, ENROLL_NO_TIMEOUT, waiter_state,
                                            done, NULL, &error));
  waiter_wait_for(done, 3);
  CHECK_NUMBER(ENROLL_STATE_AWAITING_CONFIRMATION, done->state_kind);
  CHECK_OK(enroll_registration_confirm(client, NULL, &error));
  CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, waiter_access, done, NULL, &error));
  waiter_wait_for(done, 4);
  CHECK_TEXT("access-2", done->text);
  CHECK_OK(enroll_call_start(client, "identity.profile", ENROLL_NUL_TERMINATED, NULL, 0, ENROLL_NO_TIMEOUT,
                             waiter_result, done, NULL, &error));
  waiter_wait_for(done, 5);
  CHECK(strstr(done->text, "\"claims\"") != NULL);
  CHECK_OK(enroll_registration_await_outcome_start(client, "nothing", ENROLL_NUL_TERMINATED, ENROLL_NO_TIMEOUT, waiter_state,
                                           done, NULL, &error));
  waiter_wait_for(done, 6);
  CHECK_NUMBER(ENROLL_E_NOT_FOUND, done->status);
  CHECK_OK(enroll_registration_resume_start(client, redirect, ENROLL_NUL_TERMINATED, ENROLL_NO_TIMEOUT, waiter_state,
                                            done, NULL, &error));
  waiter_wait_for(done, 7);
  CHECK_NUMBER(ENROLL_E_ALREADY_SETTLED, done->status);
  CHECK_NUMBER(-1, done->state_kind);
  free(redirect);
  CHECK_OK(enroll_client_free(client));
  waiter_free(done);
  provider_free(server);
}

TEST("a cancelled call calls back with that; the renewal it waited for goes on and is kept") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  waiter *done = waiter_new(), *other = waiter_new();
  enroll_pending *pending = NULL;
  forget_error();
  provider_hold(server);
  CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, waiter_access, done, &pending, &error));
  CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, waiter_access, other, NULL, &error));
  provider_wait_for_requests(server, 2);
  CHECK_OK(enroll_pending_cancel(pending));
  waiter_wait(done);
  CHECK_NUMBER(ENROLL_E_CANCELLED, done->status);
  provider_release(server);
  waiter_wait(other);
  CHECK_NUMBER(ENROLL_OK, other->status);
  CHECK_TEXT("access-2", other->text);
  CHECK_NUMBER(1, done->calls);
  CHECK_OK(enroll_pending_free(pending));
  CHECK_OK(enroll_client_free(client));
  waiter_free(done);
  waiter_free(other);
  provider_free(server);
}

struct blocked {
  enroll_client *client;
  enroll_status status;
  char token[64];
};

static void *ask_blocked(void *given) {
  struct blocked *blocked = given;
  blocked->status =
      enroll_token_copy(blocked->client, 0, ENROLL_NO_TIMEOUT, blocked->token, sizeof blocked->token, NULL, NULL, NULL);
  return NULL;
}

static void *refresh_blocked(void *given) {
  struct blocked *blocked = given;
  enroll_buf token = ENROLL_BUF_INIT;
  blocked->status = enroll_token_refresh(blocked->client, ENROLL_NO_TIMEOUT, NULL, &token, NULL);
  if (blocked->status == ENROLL_OK) snprintf(blocked->token, sizeof blocked->token, "%s", token.data);
  enroll_buf_free(&token);
  return NULL;
}

static void *release_later(void *server) {
  provider_release(server);
  return NULL;
}

TEST("freeing a client ends the calls that wait in it, and keeps a renewal that was sent") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  struct blocked blocked = {client, 0, ""};
  waiter *pending_one = waiter_new();
  pthread_t thread, releaser;
  forget_error();
  provider_hold(server);
  pthread_create(&thread, NULL, refresh_blocked, &blocked);
  /* The second request is from the thread, which is now inside its call. */
  provider_wait_for_requests(server, 2);
  CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, waiter_access, pending_one, NULL, &error));
  pthread_create(&releaser, NULL, release_later, server);
  CHECK_OK(enroll_client_free(client));
  pthread_join(releaser, NULL);
  pthread_join(thread, NULL);
  waiter_wait(pending_one);
  CHECK(blocked.status == ENROLL_E_CANCELLED || blocked.status == ENROLL_OK);
  CHECK(pending_one->status == ENROLL_E_CANCELLED || pending_one->status == ENROLL_OK);
  CHECK_NUMBER(2, provider_token_requests(server));
  waiter_free(pending_one);
  provider_free(server);
}

TEST("a caller who does not wait gets the old token while it is renewed") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  enroll_access access = ENROLL_ACCESS_INIT;
  enroll_buf token = ENROLL_BUF_INIT;
  waiter *done = waiter_new();
  forget_error();
  provider_hold(server);
  CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, waiter_access, done, NULL, &error));
  provider_wait_for_requests(server, 2);
  CHECK_OK(enroll_token_refresh(client, 0, &access, &token, &error));
  CHECK_NUMBER(ENROLL_ACCESS_STALE, access.outcome);
  CHECK_NUMBER(ENROLL_E_DEADLINE_EXCEEDED, access.reason);
  CHECK_TEXT("access-1", token.data);
  enroll_buf_free(&token);
  provider_release(server);
  waiter_wait(done);
  CHECK_TEXT("access-2", done->text);
  CHECK_OK(enroll_client_free(client));
  waiter_free(done);
  provider_free(server);
}

TEST("64 threads get one cached token") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  struct blocked callers[64];
  pthread_t threads[64];
  for (int index = 0; index < 64; index++) {
    callers[index] = (struct blocked){client, -1, ""};
    pthread_create(&threads[index], NULL, ask_blocked, &callers[index]);
  }
  for (int index = 0; index < 64; index++) {
    pthread_join(threads[index], NULL);
    CHECK_STATUS(ENROLL_OK, callers[index].status);
    CHECK_TEXT("access-1", callers[index].token);
  }
  CHECK_NUMBER(1, provider_token_requests(server));
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("64 threads that ask for a renewal share one request") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  waiter *done[64];
  forget_error();
  provider_hold(server);
  for (int index = 0; index < 64; index++) {
    done[index] = waiter_new();
    CHECK_OK(enroll_token_refresh_start(client, ENROLL_NO_TIMEOUT, waiter_access, done[index], NULL, &error));
  }
  provider_wait_for_requests(server, 2);
  provider_release(server);
  for (int index = 0; index < 64; index++) {
    waiter_wait(done[index]);
    CHECK_TEXT("access-2", done[index]->text);
    waiter_free(done[index]);
  }
  CHECK_NUMBER(2, provider_token_requests(server));
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("events are told in their order, until the subscription ends") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  waiter *told = waiter_new();
  int64_t subscription = 0;
  forget_error();
  CHECK_OK(enroll_events_subscribe(client, waiter_event, told, NULL, &subscription, &error));
  CHECK_OK(enroll_registration_state(client, 0, 0, NULL, &error));
  waiter_wait_for(told, 2);
  CHECK(strncmp(told->text, "registration.settled {", 22) == 0);
  CHECK(strstr(told->text, "\"unregistered\"") != NULL);
  CHECK_OK(enroll_events_unsubscribe(client, subscription, &error));
  CHECK_STATUS(ENROLL_E_NOT_FOUND, enroll_events_unsubscribe(client, subscription, &error));
  provider_sign_in(server, client);
  /* Callbacks run one at a time and in order: after this callback, no event's callback can be running. */
  waiter *done = waiter_new();
  CHECK_OK(enroll_token_access_start(client, 0, ENROLL_NO_TIMEOUT, waiter_access, done, NULL, &error));
  waiter_wait(done);
  CHECK_NUMBER(2, told->calls);
  CHECK_OK(enroll_client_free(client));
  waiter_free(done);
  waiter_free(told);
  provider_free(server);
}

struct gate {
  waiter *entered, *open;
};

static void stop_here(void *user_data, enroll_status status, const enroll_state *state, const enroll_error *failure) {
  struct gate *gate = user_data;
  waiter_state(gate->entered, status, state, failure);
  waiter_wait(gate->open);
}

TEST("a callback that does not return keeps no call of other threads from ending") {
  provider *server = provider_new();
  enroll_client *client = provider_signed_in(server, NULL);
  struct gate gate = {waiter_new(), waiter_new()};
  waiter *after = waiter_new();
  char token[64];
  forget_error();
  CHECK_OK(enroll_registration_state_start(client, 0, ENROLL_NO_TIMEOUT, stop_here, &gate, NULL, &error));
  /* Waits before the second call starts: two calls in progress may end in any order. */
  waiter_wait(gate.entered);
  CHECK_OK(enroll_registration_state_start(client, 0, ENROLL_NO_TIMEOUT, waiter_state, after, NULL, &error));
  CHECK_OK(enroll_token_copy(client, 0, ENROLL_NO_TIMEOUT, token, sizeof token, NULL, NULL, &error));
  enroll_buf renewed = ENROLL_BUF_INIT;
  CHECK_OK(enroll_token_refresh(client, ENROLL_NO_TIMEOUT, NULL, &renewed, &error));
  enroll_buf_free(&renewed);
  CHECK_NUMBER(0, after->calls);
  waiter_event(gate.open, "", "", 0);
  waiter_wait(after);
  CHECK_OK(enroll_client_free(client));
  waiter_free(after);
  waiter_free(gate.entered);
  waiter_free(gate.open);
  provider_free(server);
}

int main(int count, char **arguments) { return check_main(count, arguments); }
