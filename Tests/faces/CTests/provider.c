/* The provider of provider.h. */

#include "provider.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ISSUER "https://provider.example"
#define REDIRECT "com.example.app:/callback"
/* A test waits this long only if something hangs. */
#define TIMEOUT_SECONDS 300

struct provider {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int64_t lifetime;
  int token_bytes;
  int token_status;
  int is_held;
  int token_requests;
  int issued;
  void (*hook)(void *hook_data);
  void *hook_data;
};

static void die(const char *what) {
  fprintf(stderr, "%s\n", what);
  abort();
}

static void wait_changed(pthread_cond_t *changed, pthread_mutex_t *mutex, const char *what) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += TIMEOUT_SECONDS;
  if (pthread_cond_timedwait(changed, mutex, &end) == ETIMEDOUT) die(what);
}

provider *provider_new(void) {
  provider *server = calloc(1, sizeof *server);
  if (server == NULL) die("no memory");
  pthread_mutex_init(&server->mutex, NULL);
  pthread_cond_init(&server->changed, NULL);
  server->lifetime = 3600;
  server->token_status = 200;
  return server;
}

void provider_free(provider *server) {
  pthread_cond_destroy(&server->changed);
  pthread_mutex_destroy(&server->mutex);
  free(server);
}

static enroll_status answer(enroll_http_response *response, int status, const char *body) {
  enroll_http_response_set_status(response, status);
  enroll_http_response_add_header(response, "Content-Type", ENROLL_NUL_TERMINATED, "application/json",
                                  ENROLL_NUL_TERMINATED);
  return enroll_http_response_add_body(response, body, strlen(body));
}

/* The value of the form's parameter `name`, followed by the rest of the form; NULL if there is no such parameter. */
static const char *form_value(const enroll_http_request *request, const char *name) {
  const char *body = (const char *)request->body;
  size_t length = strlen(name);
  for (size_t at = 0; at + length < request->body_size; at++)
    if ((at == 0 || body[at - 1] == '&') && memcmp(body + at, name, length) == 0 && body[at + length] == '=')
      return body + at + length + 1;
  return NULL;
}

static enroll_status answer_token(provider *server, const enroll_http_request *request,
                                  enroll_http_response *response) {
  char body[8192], padding[4096] = "";
  const char *resource = form_value(request, "resource");
  pthread_mutex_lock(&server->mutex);
  server->token_requests++;
  pthread_cond_broadcast(&server->changed);
  while (server->is_held) wait_changed(&server->changed, &server->mutex, "nobody released the token endpoint");
  int status = server->token_status;
  int number = status == 200 ? ++server->issued : 0;
  long long lifetime = server->lifetime;
  /* "access-1" has eight. */
  if (server->token_bytes > 8) memset(padding, 'a', (size_t)server->token_bytes - 8);
  pthread_mutex_unlock(&server->mutex);
  if (status != 200) return answer(response, status, "{}");
  /* RFC 8707 2: this provider knows one resource server. */
  if (resource != NULL && strncmp(resource, "https%3A%2F%2Fapi.example", 25) != 0)
    return answer(response, 400, "{\"error\":\"invalid_target\"}");
  snprintf(body, sizeof body,
           "{\"access_token\":\"access-%d%s\",\"token_type\":\"Bearer\",\"expires_in\":%lld,"
           "\"refresh_token\":\"refresh-%d\"}",
           number, padding, lifetime, number);
  return answer(response, 200, body);
}

static enroll_status serve(void *user_data, const enroll_http_request *request, enroll_http_response *response) {
  provider *server = user_data;
  if (server->hook != NULL) server->hook(server->hook_data);
  const char *path = request->url;
  if (strncmp(path, ISSUER, strlen(ISSUER)) != 0) return ENROLL_E_NETWORK;
  path += strlen(ISSUER);
  if (strcmp(path, "/.well-known/openid-configuration") == 0)
    return answer(response, 200,
                  "{\"issuer\":\"" ISSUER "\",\"authorization_endpoint\":\"" ISSUER "/authorize\","
                  "\"token_endpoint\":\"" ISSUER "/token\",\"userinfo_endpoint\":\"" ISSUER "/userinfo\","
                  "\"revocation_endpoint\":\"" ISSUER "/revoke\",\"end_session_endpoint\":\"" ISSUER "/logout\","
                  "\"jwks_uri\":\"" ISSUER "/keys\",\"response_types_supported\":[\"code\"],"
                  "\"subject_types_supported\":[\"public\"],"
                  "\"id_token_signing_alg_values_supported\":[\"ES256\"],"
                  "\"code_challenge_methods_supported\":[\"S256\"]}");
  if (strcmp(path, "/token") == 0) return answer_token(server, request, response);
  if (strcmp(path, "/userinfo") == 0)
    return answer(response, 200, "{\"sub\":\"alice\",\"name\":\"Alice \\u00c4\"}");
  if (strcmp(path, "/revoke") == 0) return answer(response, 200, "{}");
  return answer(response, 404, "{}");
}

enroll_client *provider_client(provider *server, const char *directory) {
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  return provider_open(server, directory, options);
}

enroll_client *provider_open(provider *server, const char *directory, enroll_client_options options) {
  enroll_transport transport = ENROLL_TRANSPORT_INIT;
  transport.user_data = server;
  transport.send = serve;
  options.configuration = "{\"issuer\":\"" ISSUER "\",\"clientId\":\"native\",\"redirectUri\":\"" REDIRECT
                          "\",\"scopes\":\"profile offline_access\"}";
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store = directory == NULL ? ENROLL_STORE_MEMORY : ENROLL_STORE_DIRECTORY;
  options.store_directory = directory;
  options.store_directory_size = ENROLL_NUL_TERMINATED;
  options.transport = &transport;
  enroll_client *client = NULL;
  enroll_error error = ENROLL_ERROR_INIT;
  if (enroll_client_new(&options, &client, &error) != ENROLL_OK) die(error.message);
  return client;
}

char *provider_redirect(provider *server, const char *url) {
  (void)server;
  const char *state = strstr(url, "state=");
  if (state == NULL) die("the authorize URL has no state");
  size_t size = strcspn(state, "&");
  char *redirect = malloc(size + sizeof REDIRECT + 16);
  if (redirect == NULL) die("no memory");
  sprintf(redirect, "%s?code=abc&%.*s", REDIRECT, (int)size, state);
  return redirect;
}

void provider_sign_in(provider *server, enroll_client *client) {
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_state state = ENROLL_STATE_INIT;
  enroll_buf url = ENROLL_BUF_INIT;
  if (enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, &error)) die(error.message);
  char *redirect = provider_redirect(server, url.data);
  if (enroll_registration_resume(client, redirect, ENROLL_NUL_TERMINATED, ENROLL_NO_TIMEOUT, &state, &error))
    die(error.message);
  if (enroll_registration_confirm(client, &state, &error)) die(error.message);
  free(redirect);
  enroll_buf_free(&url);
}

enroll_client *provider_signed_in(provider *server, const char *directory) {
  enroll_client *client = provider_client(server, directory);
  provider_sign_in(server, client);
  return client;
}

static void set(provider *server, void (*change)(provider *server, int64_t value), int64_t value) {
  pthread_mutex_lock(&server->mutex);
  change(server, value);
  pthread_cond_broadcast(&server->changed);
  pthread_mutex_unlock(&server->mutex);
}

static void change_lifetime(provider *server, int64_t value) { server->lifetime = value; }
static void change_bytes(provider *server, int64_t value) { server->token_bytes = (int)value; }
static void change_status(provider *server, int64_t value) { server->token_status = (int)value; }
static void change_hold(provider *server, int64_t value) { server->is_held = (int)value; }

void provider_set_lifetime(provider *server, int64_t seconds) { set(server, change_lifetime, seconds); }
void provider_set_token_bytes(provider *server, int bytes) { set(server, change_bytes, bytes < 4000 ? bytes : 4000); }
void provider_set_token_status(provider *server, int status) { set(server, change_status, status); }
void provider_hold(provider *server) { set(server, change_hold, 1); }
void provider_release(provider *server) { set(server, change_hold, 0); }

void provider_wait_for_requests(provider *server, int count) {
  pthread_mutex_lock(&server->mutex);
  while (server->token_requests < count) wait_changed(&server->changed, &server->mutex, "no request came");
  pthread_mutex_unlock(&server->mutex);
}

int provider_token_requests(provider *server) {
  pthread_mutex_lock(&server->mutex);
  int count = server->token_requests;
  pthread_mutex_unlock(&server->mutex);
  return count;
}

void provider_on_send(provider *server, void (*hook)(void *hook_data), void *hook_data) {
  server->hook = hook;
  server->hook_data = hook_data;
}

/* Waiting. */

typedef struct waiter_sync {
  pthread_mutex_t mutex;
  pthread_cond_t called;
} waiter_sync;

waiter *waiter_new(void) {
  waiter *waiting = calloc(1, sizeof *waiting);
  waiter_sync *sync = calloc(1, sizeof *sync);
  if (waiting == NULL || sync == NULL) die("no memory");
  pthread_mutex_init(&sync->mutex, NULL);
  pthread_cond_init(&sync->called, NULL);
  waiting->sync = sync;
  return waiting;
}

void waiter_free(waiter *waiting) {
  waiter_sync *sync = waiting->sync;
  /* The thread of the last callback may still hold the mutex. */
  pthread_mutex_lock(&sync->mutex);
  pthread_mutex_unlock(&sync->mutex);
  pthread_cond_destroy(&sync->called);
  pthread_mutex_destroy(&sync->mutex);
  free(sync);
  free(waiting);
}

void waiter_wait_for(waiter *waiting, int calls) {
  waiter_sync *sync = waiting->sync;
  pthread_mutex_lock(&sync->mutex);
  while (waiting->calls < calls) wait_changed(&sync->called, &sync->mutex, "no callback came");
  pthread_mutex_unlock(&sync->mutex);
}

void waiter_wait(waiter *waiting) { waiter_wait_for(waiting, 1); }

static void fill(waiter *waiting, enroll_status status, const enroll_error *error, const char *text, int32_t state_kind,
                 int32_t outcome) {
  waiter_sync *sync = waiting->sync;
  pthread_mutex_lock(&sync->mutex);
  waiting->calls++;
  waiting->status = status;
  waiting->reason = error == NULL ? ENROLL_OK : error->reason;
  waiting->state_kind = state_kind;
  waiting->outcome = outcome;
  if ((status == ENROLL_OK) != (error == NULL)) die("a callback has an error exactly when it failed");
  if (error != NULL && error->status != status) die("a callback's error has its status");
  snprintf(waiting->text, sizeof waiting->text, "%s", text != NULL ? text : error != NULL ? error->message : "");
  pthread_cond_broadcast(&sync->called);
  pthread_mutex_unlock(&sync->mutex);
}

void waiter_state(void *waiting, enroll_status status, const enroll_state *state, const enroll_error *error) {
  if ((status == ENROLL_OK) != (state != NULL)) die("a callback has a state exactly when it succeeded");
  fill(waiting, status, error, state == NULL ? NULL : state->transaction, state == NULL ? -1 : state->kind, 0);
}

void waiter_begun(void *waiting, enroll_status status, const enroll_transaction *transaction, const char *url,
                  const char *redirect_uri, const enroll_error *error) {
  if ((status == ENROLL_OK) != (transaction != NULL && url != NULL && redirect_uri != NULL))
    die("a callback has a transaction exactly when it succeeded");
  fill(waiting, status, error, url, -1, 0);
}

void waiter_access(void *waiting, enroll_status status, const enroll_access *access, const char *token,
                   size_t token_size, const enroll_error *error) {
  if ((status == ENROLL_OK) != (access != NULL && token != NULL)) die("a token comes exactly with success");
  if (token != NULL && strlen(token) != token_size) die("a token's size does not count its NUL");
  fill(waiting, status, error, token, -1, access == NULL ? 0 : access->outcome);
}

void waiter_result(void *waiting, enroll_status status, const char *result, size_t result_size,
                   const enroll_error *error) {
  if ((status == ENROLL_OK) != (result != NULL)) die("a result comes exactly with success");
  if (result != NULL && strlen(result) != result_size) die("a result's size does not count its NUL");
  fill(waiting, status, error, result, -1, 0);
}

void waiter_event(void *waiting, const char *name, const char *parameters, size_t parameters_size) {
  if (strlen(parameters) != parameters_size) die("an event's size does not count its NUL");
  char text[1024];
  snprintf(text, sizeof text, "%s %s", name, parameters);
  fill(waiting, ENROLL_OK, NULL, text, -1, 0);
}
