/* Threads: everything here runs on the main loop's thread, the library's callbacks included (enroll_queue), except the
 * functions marked "pool thread": calls that may wait for a disk, a keyring or a renewal (open, close, those without a
 * client). These pass their results to the main loop, which they wake, and touch nothing else. */

#include "bridge.h"

#include <enroll.h>
#include <glib-unix.h>
#include <jansson.h>
#include <string.h>

#define HANDLER "enroll"
#define WORLD "enroll-bridge"
#define SERVICE "EnrollKit"
#define URLS_HELD 4
#define DEFAULT_TIMEOUT 30 /* seconds, as the manifest says */

struct bridge {
  WebKitWebView *view;
  char *data_directory;
  GHashTable *clients; /* id -> client */
  GHashTable *calls;   /* number -> request, while it is pending */
  GQueue urls;         /* held_url, the oldest first */
  gint64 listener;     /* the callback of the page's `listen`; 0: no listener */
  GThreadPool *openers, *closers;
  enroll_queue *queue; /* the library's callbacks, until the main loop runs them */
  guint page, last_client, last_url;
};

typedef struct client {
  bridge *bridge;
  char id[16];
  enroll_client *handle;
} client;

typedef struct held_url {
  guint id;
  char *url;
} held_url;

/* The program's only bridge. It is a global variable, because an event's `user_data` has room only for the client's
 * number. */
static bridge *the_bridge;

/* One request of the page, until it is answered. */
typedef struct request {
  bridge *bridge;
  gint64 callback;
  WebKitScriptMessageReply *reply;
  JSCContext *context;
  json_t *arguments;
  guint page;            /* the number of the page that sent it */
  enroll_client *client; /* of a `url.handle` */
  gint64 number; /* of a call that may be cancelled; else 0 */
  enroll_pending *pending;
} request;

/* The script that runs in the bridge's separate script world. Requests and answers are JSON texts. */
static const char relay[] =
    "(() => {\n"
    "  const port = window.webkit.messageHandlers." HANDLER ";\n"
    "  const answer = (text) => document.dispatchEvent(new CustomEvent('enroll-answer', {detail: text}));\n"
    "  globalThis.enrollAnswer = answer;\n"
    "  document.addEventListener('enroll-request', (event) => {\n"
    "    if (typeof event.detail === 'string') port.postMessage(event.detail).then(answer, () => {});\n"
    "  });\n"
    "})();\n";

/* ---- Answers -------------------------------------------------------------------------------------------------- */

static json_t *error_json(const enroll_error *error) {
  json_t *detail = json_pack(
      "{s:s, s:i, s:s, s:b, s:s}", "status", enroll_status_name(error->status), "code", error->status, "blame",
      enroll_blame_name(error->blame), "retryable", error->is_retryable, "message", error->message);
  if (error->field[0] != '\0') json_object_set_new(detail, "field", json_string(error->field));
  if (error->http_status != 0) json_object_set_new(detail, "httpStatus", json_integer(error->http_status));
  if (error->oauth_error[0] != '\0') json_object_set_new(detail, "oauthError", json_string(error->oauth_error));
  if (error->oauth_error_description[0] != '\0')
    json_object_set_new(detail, "oauthErrorDescription", json_string(error->oauth_error_description));
  if (error->retry_after_seconds != 0)
    json_object_set_new(detail, "retryAfter", json_integer(error->retry_after_seconds));
  if (error->reason != ENROLL_OK) json_object_set_new(detail, "reason", json_string(enroll_status_name(error->reason)));
  return detail;
}

static char *error_text(const enroll_error *error) {
  json_t *detail = error_json(error);
  char *text = json_dumps(detail, JSON_COMPACT);
  json_decref(detail);
  return text;
}

static void wipe(char *text) {
  if (text != NULL) enroll_wipe(text, strlen(text));
  g_free(text);
}

static char *answer_text(gint64 callback, gboolean good, const char *value) {
  return g_strdup_printf("{\"callback\":%" G_GINT64_FORMAT ",\"ok\":%s,\"value\":%s}", callback,
                         good ? "true" : "false", value);
}

/* Answers a request with a JSON text, and ends it. */
static void answer(request *request, gboolean good, const char *value) {
  char *text = answer_text(request->callback, good, value);
  JSCValue *reply = jsc_value_new_string(request->context, text);
  webkit_script_message_reply_return_value(request->reply, reply);
  g_object_unref(reply);
  wipe(text);

  if (request->number != 0 && g_hash_table_lookup(request->bridge->calls, &request->number) == request)
    g_hash_table_remove(request->bridge->calls, &request->number);
  enroll_pending_free(request->pending);
  webkit_script_message_reply_unref(request->reply);
  g_object_unref(request->context);
  json_decref(request->arguments);
  g_free(request);
}

static void answer_error(request *request, const enroll_error *error) {
  char *text = error_text(error);
  answer(request, FALSE, text);
  free(text);
}

/* Answers a request with a failure of the shell itself. */
static void refuse(request *request, enroll_status status, const char *field, const char *message) {
  enroll_error error = ENROLL_ERROR_INIT;
  error.status = status;
  error.blame = enroll_status_blame(status);
  error.is_retryable = enroll_status_is_retryable(status);
  g_strlcpy(error.field, field, sizeof error.field);
  g_strlcpy(error.message, message, sizeof error.message);
  answer_error(request, &error);
}

/* Sends `message` to the page's listener, if there is one, and takes ownership of it. */
static void tell(bridge *bridge, json_t *message) {
  if (bridge->listener != 0) {
    char *value = json_dumps(message, JSON_COMPACT);
    char *text = answer_text(bridge->listener, TRUE, value);
    GVariantDict arguments;
    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "text", "s", text);
    /* `enrollAnswer` exists only in the app's own pages. */
    webkit_web_view_call_async_javascript_function(bridge->view, "if (globalThis.enrollAnswer) enrollAnswer(text)", -1,
                                                   g_variant_dict_end(&arguments), WORLD, NULL, NULL, NULL, NULL);
    wipe(text);
    free(value);
  }
  json_decref(message);
}

/* ---- From other threads to the main loop ---------------------------------------------------------------------- */

/* The answer to a request, on its way to the main loop. */
typedef struct delivery {
  request *request;
  enroll_client *opened;
  char *json;
  gboolean good;
} delivery;

static void delivery_free(gpointer data) {
  delivery *delivery = data;
  wipe(delivery->json);
  g_free(delivery);
}

static void admit(request *request, enroll_client *handle);

static gboolean deliver_now(gpointer data) {
  delivery *delivery = data;
  if (delivery->opened != NULL)
    admit(delivery->request, delivery->opened);
  else
    answer(delivery->request, delivery->good, delivery->json);
  return G_SOURCE_REMOVE;
}

/* May run on any thread: attaching the source wakes the main loop through its own descriptor. */
static void deliver(delivery *delivery) {
  GSource *source = g_idle_source_new();
  g_source_set_priority(source, G_PRIORITY_DEFAULT);
  g_source_set_callback(source, deliver_now, delivery, delivery_free);
  g_source_attach(source, NULL);
  g_source_unref(source);
}

/* May run on any thread. Exactly one of `result` and `error` is set; `opened` is the client that was opened, or
 * NULL. */
static void deliver_outcome(request *request, const char *result, size_t size, const enroll_error *error,
                            enroll_client *opened) {
  delivery *outcome = g_new0(delivery, 1);
  outcome->request = request;
  outcome->opened = opened;
  outcome->good = error == NULL;
  if (error == NULL) {
    outcome->json = g_strndup(result, size);
  } else {
    char *text = error_text(error);
    outcome->json = g_strdup(text);
    free(text);
  }
  deliver(outcome);
}

/* ---- The library's callbacks ---------------------------------------------------------------------------------- */

/* Callbacks wait in the library's queue, whose descriptor the main loop polls. */
static gboolean run_callbacks(gint descriptor, GIOCondition condition, gpointer data) {
  (void)descriptor;
  (void)condition;
  enroll_queue_dispatch(((bridge *)data)->queue, NULL, NULL);
  return G_SOURCE_CONTINUE;
}

static void on_result(void *user_data, enroll_status status, const char *result, size_t size,
                      const enroll_error *error) {
  if (status != ENROLL_OK) return answer_error(user_data, error);
  char *json = g_strndup(result, size);
  answer(user_data, TRUE, json);
  wipe(json);
}

/* The client may be gone when its event arrives, so `user_data` is its number, not a pointer. */
static void on_event(void *user_data, const char *name, const char *parameters, size_t size) {
  char id[16];
  g_snprintf(id, sizeof id, "c%u", GPOINTER_TO_UINT(user_data));
  if (!g_hash_table_contains(the_bridge->clients, id)) return;
  tell(the_bridge, json_pack("{s:s, s:s, s:s, s:o}", "type", "event", "client", id, "name", name, "parameters",
                             json_loadb(parameters, size, 0, NULL)));
}

/* Gives a client that was opened its number and its subscription. */
static void admit(request *request, enroll_client *handle) {
  bridge *bridge = request->bridge;
  if (request->page != bridge->page) {
    g_thread_pool_push(bridge->closers, handle, NULL);
    return refuse(request, ENROLL_E_CANCELLED, "", "the page that sent the request is gone");
  }
  guint number = ++bridge->last_client;
  client *opened = g_new0(client, 1);
  opened->bridge = bridge;
  opened->handle = handle;
  g_snprintf(opened->id, sizeof opened->id, "c%u", number);
  g_hash_table_insert(bridge->clients, opened->id, opened);

  enroll_error error = ENROLL_ERROR_INIT;
  int64_t subscription;
  if (enroll_events_subscribe(handle, on_event, GUINT_TO_POINTER(number), NULL, &subscription, &error) != ENROLL_OK) {
    g_hash_table_remove(bridge->clients, opened->id);
    return answer_error(request, &error);
  }
  char value[32];
  g_snprintf(value, sizeof value, "{\"client\":\"%s\"}", opened->id);
  answer(request, TRUE, value);
}

/* ---- Calls that may wait: on the threads of a pool --------------------------------------------------------------- */

/* The directory of a store that a page named; NULL if the name is invalid. A page does not pass paths. */
static char *store_path(bridge *bridge, json_t *name) {
  const char *text = name == NULL ? "enroll" : json_string_value(name);
  if (text == NULL || !g_regex_match_simple("^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", text, G_REGEX_DOLLAR_ENDONLY, 0))
    return NULL;
  return g_build_filename(bridge->data_directory, text, NULL);
}

static const char *text_of(json_t *object, const char *key) { return json_string_value(json_object_get(object, key)); }

/* Pool thread: the key of the store may be in a slow keyring. */
static void open_client(request *request) {
  json_t *wish = json_array_get(request->arguments, 0), *platform = json_object_get(wish, "platform");
  char *configuration = json_dumps(json_object_get(wish, "configuration"), JSON_COMPACT | JSON_ENCODE_ANY);
  char *directory = store_path(request->bridge, json_object_get(wish, "store"));

  enroll_keys keys = ENROLL_KEYS_INIT;
  keys.provider = ENROLL_KEYS_AUTO;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = configuration;
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store_directory = directory;
  options.store_directory_size = ENROLL_NUL_TERMINATED;
  options.keys = &keys;
  options.queue = request->bridge->queue;
  options.account = text_of(wish, "account");
  options.account_size = ENROLL_NUL_TERMINATED;
  options.is_not_native = json_is_false(json_object_get(platform, "native"));
  options.waits_for_platform = json_is_true(json_object_get(wish, "waitForPlatform"));
  options.renews_in_background = json_is_true(json_object_get(wish, "renewInBackground"));
  options.platform_type = text_of(platform, "type");
  options.platform_type_size = ENROLL_NUL_TERMINATED;
  options.app_version = text_of(platform, "appVersion");
  options.app_version_size = ENROLL_NUL_TERMINATED;
  options.device_id = text_of(platform, "deviceId");
  options.device_id_size = ENROLL_NUL_TERMINATED;
  options.platform_width = json_integer_value(json_object_get(platform, "width"));
  options.platform_height = json_integer_value(json_object_get(platform, "height"));

  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *handle = NULL;
  enroll_status status = enroll_client_new(&options, &handle, &error);
  deliver_outcome(request, "{}", 2, status == ENROLL_OK ? NULL : &error, handle);
  free(configuration);
  g_free(directory);
}

/* Pool thread. Runs a command that needs no client; a command about a store gets its directory and its key provider. */
static void call_without_client(request *request) {
  const char *command = json_string_value(json_array_get(request->arguments, 2));
  json_t *parameters = json_array_get(request->arguments, 3);
  if (g_str_has_prefix(command, "accounts.") || g_str_has_prefix(command, "installation.") ||
      g_str_has_prefix(command, "store.")) {
    char *directory = store_path(request->bridge, json_object_get(parameters, "store"));
    json_object_set_new(parameters, "store", json_string(directory));
    json_object_set_new(parameters, "keys", json_pack("{s:s}", "provider", "auto"));
    g_free(directory);
  }
  char *text = json_dumps(parameters, JSON_COMPACT);
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf result = ENROLL_BUF_INIT;
  enroll_status status = enroll_call(NULL, command, ENROLL_NUL_TERMINATED, text, ENROLL_NUL_TERMINATED,
                                     ENROLL_NO_TIMEOUT, &result, &error);
  deliver_outcome(request, result.data, result.size, status == ENROLL_OK ? NULL : &error, NULL);
  enroll_buf_free(&result);
  free(text);
}

static json_t *offers_json(int32_t offers) {
  json_t *list = json_array();
  if (offers & ENROLL_OFFER_SIGN_IN) json_array_append_new(list, json_string("signIn"));
  if (offers & ENROLL_OFFER_REGISTER) json_array_append_new(list, json_string("register"));
  return list;
}

/* The meaning of a URL, in the manifest's form for `url.handle`. */
static json_t *handled_json(enroll_client *client, int32_t kind, int32_t offers, const enroll_transaction *transaction,
                            const char *url) {
  enroll_buf state = ENROLL_BUF_INIT;
  switch (kind) {
  case ENROLL_URL_LOGOUT:
    return json_pack("{s:s}", "kind", "logout");
  case ENROLL_URL_LINK_USED:
    return json_pack("{s:s, s:o}", "kind", "linkUsed", "offers", offers_json(offers));
  case ENROLL_URL_LINK_EXPIRED:
    return json_pack("{s:s, s:o}", "kind", "linkExpired", "offers", offers_json(offers));
  case ENROLL_URL_BEGUN:
    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:I, s:b}", "kind", "begun", "transaction", transaction->id, "action",
                     "type", "openURL", "url", url, "expiresAt", (json_int_t)transaction->expires_at, "survivesProcess",
                     transaction->survives_process);
  case ENROLL_URL_REGISTRATION: {
    json_t *answer = NULL;
    if (enroll_call(client, "registration.state", ENROLL_NUL_TERMINATED, NULL, 0, 0, &state, NULL) == ENROLL_OK)
      answer = json_loads(state.data, 0, NULL);
    enroll_buf_free(&state);
    if (answer == NULL) answer = json_object();
    json_object_set_new(answer, "kind", json_string("registration"));
    return answer;
  }
  default:
    return json_pack("{s:s, s:o}", "kind", "unsolicited", "offers", offers_json(offers));
  }
}

/* Pool thread: the library redeems the code of a redirect. */
static void handle_url(request *request) {
  json_t *parameters = json_array_get(request->arguments, 3), *timeout = json_object_get(parameters, "timeout");
  int64_t timeout_ms = (json_is_integer(timeout) ? json_integer_value(timeout) : DEFAULT_TIMEOUT) * 1000;
  int32_t kind, offers = 0;
  enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
  enroll_buf url = ENROLL_BUF_INIT;
  enroll_error error = ENROLL_ERROR_INIT;
  if (enroll_url_handle(request->client, text_of(parameters, "url"), ENROLL_NUL_TERMINATED, timeout_ms, &kind, NULL,
                        &offers, &transaction, &url, &error) != ENROLL_OK)
    return deliver_outcome(request, NULL, 0, &error, NULL);
  json_t *outcome = handled_json(request->client, kind, offers, &transaction, url.data);
  char *text = json_dumps(outcome, JSON_COMPACT);
  deliver_outcome(request, text, strlen(text), NULL, NULL);
  free(text);
  json_decref(outcome);
  enroll_buf_free(&url);
}

/* Pool thread: closing waits for a renewal that was sent. */
static void close_client(gpointer handle, gpointer unused) {
  (void)unused;
  enroll_client_free(handle);
}

static void run_in_pool(gpointer data, gpointer unused) {
  (void)unused;
  request *request = data;
  if (json_array_size(request->arguments) == 1)
    open_client(request);
  else if (request->client != NULL)
    handle_url(request);
  else
    call_without_client(request);
}

/* ---- The actions of the page ---------------------------------------------------------------------------------- */

static client *find_client(request *request, size_t index) {
  const char *id = json_string_value(json_array_get(request->arguments, index));
  client *client = id == NULL ? NULL : g_hash_table_lookup(request->bridge->clients, id);
  if (client == NULL) refuse(request, ENROLL_E_HANDLE, "client", "expected the id of an open client");
  return client;
}

static void do_open(request *request) {
  json_t *wish = json_array_get(request->arguments, 0);
  char *directory = store_path(request->bridge, json_object_get(wish, "store"));
  if (directory == NULL)
    return refuse(request, ENROLL_E_INVALID_ARGUMENT, "store",
                  "expected a name of at most 64 letters, digits, '.', '-' and '_'");
  g_free(directory);
  g_thread_pool_push(request->bridge->openers, request, NULL);
}

static void do_close(request *request) {
  client *client = find_client(request, 0);
  if (client == NULL) return;
  g_hash_table_remove(request->bridge->clients, client->id);
  answer(request, TRUE, "{}");
}

/* [number, client or null, command, parameters] */
static void do_call(request *request) {
  json_t *id = json_array_get(request->arguments, 1), *parameters = json_array_get(request->arguments, 3);
  const char *command = json_string_value(json_array_get(request->arguments, 2));
  if (command == NULL || !json_is_object(parameters))
    return refuse(request, ENROLL_E_INVALID_ARGUMENT, "command", "expected a command and its parameters");
  if (json_is_null(id)) {
    json_t *store = json_object_get(parameters, "store");
    char *directory = store_path(request->bridge, store);
    if (directory == NULL)
      return refuse(request, ENROLL_E_INVALID_ARGUMENT, "store",
                    "expected a name of at most 64 letters, digits, '.', '-' and '_'");
    g_free(directory);
    if (json_object_get(parameters, "keys") != NULL)
      return refuse(request, ENROLL_E_INVALID_ARGUMENT, "keys", "the app itself chooses the key provider");
    g_thread_pool_push(request->bridge->openers, request, NULL);
    return;
  }

  client *client = find_client(request, 1);
  if (client == NULL) return;
  /* The C function for `url.handle` has no variant with a callback, so a thread of the pool calls it. */
  if (strcmp(command, "url.handle") == 0) {
    request->client = client->handle;
    g_thread_pool_push(request->bridge->openers, request, NULL);
    return;
  }
  json_t *timeout = json_object_get(parameters, "timeout");
  int64_t timeout_ms = (json_is_integer(timeout) ? json_integer_value(timeout) : DEFAULT_TIMEOUT) * 1000;
  char *text = json_dumps(parameters, JSON_COMPACT);
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_status status =
      enroll_call_start(client->handle, command, ENROLL_NUL_TERMINATED, text, ENROLL_NUL_TERMINATED,
                        timeout_ms < 0 ? 0 : timeout_ms, on_result, request, &request->pending, &error);
  free(text);
  if (status != ENROLL_OK) return answer_error(request, &error);
  request->number = json_integer_value(json_array_get(request->arguments, 0));
  g_hash_table_replace(request->bridge->calls, &request->number, request);
}

static void do_cancel(request *request) {
  gint64 number = json_integer_value(json_array_get(request->arguments, 0));
  struct request *call = g_hash_table_lookup(request->bridge->calls, &number);
  if (call != NULL) enroll_pending_cancel(call->pending);
  answer(request, TRUE, "{}");
}

static void tell_url(bridge *bridge, const held_url *held) {
  tell(bridge, json_pack("{s:s, s:i, s:s}", "type", "url", "id", (int)held->id, "url", held->url));
}

/* All later events and URLs go to this callback. */
static void do_listen(request *request) {
  bridge *bridge = request->bridge;
  bridge->listener = request->callback;
  answer(request, TRUE, "{\"type\":\"ready\"}");
  for (GList *link = bridge->urls.head; link != NULL; link = link->next) tell_url(bridge, link->data);
}

static void drop_url(bridge *bridge, GList *link) {
  held_url *held = link->data;
  wipe(held->url);
  g_free(held);
  g_queue_delete_link(&bridge->urls, link);
}

static void do_taken(request *request) {
  guint id = (guint)json_integer_value(json_array_get(request->arguments, 0));
  for (GList *link = request->bridge->urls.head; link != NULL; link = link->next) {
    if (((held_url *)link->data)->id != id) continue;
    drop_url(request->bridge, link);
    break;
  }
  answer(request, TRUE, "{}");
}

static void on_launched(GObject *source, GAsyncResult *result, gpointer data) {
  (void)source;
  GError *error = NULL;
  if (g_app_info_launch_default_for_uri_finish(result, &error)) return answer(data, TRUE, "{}");
  refuse(data, ENROLL_E_UNSUPPORTED, "url", error->message);
  g_error_free(error);
}

/* Whether a URL may be opened: a provider's page over https, or over http on this machine. Another app's link may
 * have its own scheme, but no scheme that reads a page or a file. */
static gboolean may_open(const char *url, gboolean other_app) {
  GUri *uri = g_uri_parse(url, G_URI_FLAGS_NONE, NULL);
  if (uri == NULL) return FALSE;
  const char *scheme = g_uri_get_scheme(uri), *host = g_uri_get_host(uri);
  static const char *const loopback[] = {"127.0.0.1", "localhost", "::1", NULL};
  static const char *const never[] = {"about", "app", "blob", "data", "file", "javascript", "mailto", "resource", NULL};
  gboolean good = strcmp(scheme, "https") == 0;
  if (strcmp(scheme, "http") == 0)
    good = host != NULL && g_strv_contains(loopback, host);
  else if (!good)
    good = other_app && strchr(scheme, '.') != NULL && !g_strv_contains(never, scheme);
  g_uri_unref(uri);
  return good;
}

static void do_browse(request *request) {
  const char *url = json_string_value(json_array_get(request->arguments, 0));
  if (url == NULL || !may_open(url, json_is_true(json_array_get(request->arguments, 1))))
    return refuse(request, ENROLL_E_INVALID_ARGUMENT, "url", "expected an https URL for the browser");
  g_app_info_launch_default_for_uri_async(url, NULL, NULL, on_launched, request);
}

static const struct {
  const char *name;
  size_t arguments;
  void (*run)(request *request);
} actions[] = {
    {"open", 1, do_open},     {"close", 1, do_close},   {"call", 4, do_call},     {"cancel", 1, do_cancel},
    {"listen", 0, do_listen}, {"taken", 1, do_taken}, {"browse", 2, do_browse},
};

/* {"callback": 7, "service": "EnrollKit", "action": "call", "arguments": […]} */
static void run(request *request, json_t *message) {
  const char *service = text_of(message, "service"), *name = text_of(message, "action");
  request->callback = json_integer_value(json_object_get(message, "callback"));
  request->arguments = json_incref(json_object_get(message, "arguments"));
  if (g_strcmp0(service, SERVICE) != 0) return answer(request, FALSE, "\"Class not found\"");
  for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
    if (g_strcmp0(name, actions[i].name) != 0) continue;
    if (json_array_size(request->arguments) == actions[i].arguments) return actions[i].run(request);
    return refuse(request, ENROLL_E_INVALID_ARGUMENT, "arguments", "the number of arguments is wrong");
  }
  answer(request, FALSE, "\"Invalid action\"");
}

/* The handler exists only in the bridge's script world. Nevertheless, this function checks the origin of the request
 * again. */
static gboolean on_message(WebKitUserContentManager *manager, JSCValue *value, WebKitScriptMessageReply *reply,
                           gpointer data) {
  (void)manager;
  bridge *bridge = data;
  const char *page = webkit_web_view_get_uri(bridge->view);
  char *text = jsc_value_is_string(value) ? jsc_value_to_string(value) : NULL;
  json_t *message = text == NULL ? NULL : json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  if (page == NULL || !g_str_has_prefix(page, APP_ORIGIN) || !json_is_object(message)) {
    webkit_script_message_reply_return_error_message(reply, "not for this page");
  } else {
    request *request = g_new0(struct request, 1);
    request->bridge = bridge;
    request->page = bridge->page;
    request->reply = webkit_script_message_reply_ref(reply);
    request->context = g_object_ref(jsc_value_get_context(value));
    run(request, message);
  }
  json_decref(message);
  wipe(text);
  return TRUE;
}

/* ---- The bridge ----------------------------------------------------------------------------------------------- */

/* The library sends no more events of the client; events on their way find no client with that number. */
static void client_gone(gpointer data) {
  client *client = data;
  g_thread_pool_push(client->bridge->closers, client->handle, NULL);
  g_free(client);
}

bridge *bridge_new(WebKitUserContentManager *manager, const char *application_id) {
  bridge *bridge = the_bridge = g_new0(struct bridge, 1);
  bridge->data_directory = g_build_filename(g_get_user_data_dir(), application_id, NULL);
  g_mkdir_with_parents(bridge->data_directory, 0700);
  bridge->clients = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, client_gone);
  bridge->calls = g_hash_table_new(g_int64_hash, g_int64_equal);
  bridge->openers = g_thread_pool_new(run_in_pool, NULL, -1, FALSE, NULL);
  bridge->closers = g_thread_pool_new(close_client, NULL, -1, FALSE, NULL);
  g_queue_init(&bridge->urls);
  gint descriptor;
  if (enroll_queue_new(&bridge->queue, NULL) != ENROLL_OK ||
      enroll_queue_descriptor(bridge->queue, &descriptor, NULL) != ENROLL_OK)
    g_error("no file descriptor is free");
  g_unix_fd_add(descriptor, G_IO_IN, run_callbacks, bridge);

  const char *const pages[] = {APP_ORIGIN "*", NULL};
  WebKitUserScript *script = webkit_user_script_new_for_world(
      relay, WEBKIT_USER_CONTENT_INJECT_TOP_FRAME, WEBKIT_USER_SCRIPT_INJECT_AT_DOCUMENT_START, WORLD, pages, NULL);
  webkit_user_content_manager_add_script(manager, script);
  webkit_user_script_unref(script);
  g_signal_connect(manager, "script-message-with-reply-received::" HANDLER, G_CALLBACK(on_message), bridge);
  webkit_user_content_manager_register_script_message_handler_with_reply(manager, HANDLER, WORLD);
  return bridge;
}

void bridge_set_view(bridge *bridge, WebKitWebView *view) { bridge->view = view; }

void bridge_take_url(bridge *bridge, const char *url) {
  held_url *held = g_new0(held_url, 1);
  held->id = ++bridge->last_url;
  held->url = g_strdup(url);
  g_queue_push_tail(&bridge->urls, held);
  while (g_queue_get_length(&bridge->urls) > URLS_HELD) drop_url(bridge, bridge->urls.head);
  tell_url(bridge, held);
}

void bridge_reset(bridge *bridge) {
  bridge->listener = 0;
  bridge->page++;
  /* The callbacks of these calls still arrive, and answer a page that is gone. */
  GHashTableIter calls;
  gpointer call;
  g_hash_table_iter_init(&calls, bridge->calls);
  while (g_hash_table_iter_next(&calls, NULL, &call)) enroll_pending_cancel(((request *)call)->pending);
  g_hash_table_remove_all(bridge->calls);
  g_hash_table_remove_all(bridge->clients);
}

void bridge_free(bridge *bridge) {
  bridge_reset(bridge);
  /* Renewals in progress are stored before the program ends. The queue is kept: without it, callbacks would run on
   * other threads than this one. */
  g_thread_pool_free(bridge->closers, FALSE, TRUE);
}
