/*
 * driver.c - the C face as a process. A test writes commands as lines, with the names of the manifest:
 *
 *     registration.begin {"kind": "signIn"}          ok {"transaction": "…", …}
 *     token.access {}                                error {"status": "handle", "message": "…", …}
 *
 * The first command is client.open; there is one client. Commands run one after the other. Each calls its typed
 * function, or enroll_call if this file does not call a typed function for it. The process ends when its input ends.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_json.h"

static enroll_client *client;
static enroll_error error = ENROLL_ERROR_INIT;

/* Runs a command. Its result goes to *result; the reason for a failure goes into `error`. */
typedef enroll_status (*handler)(json_t *parameters, json_t **result);

static enroll_status client_open(json_t *parameters, json_t **result) {
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  json_t *platform = json_object_get(parameters, "platform");
  text store = text_of(parameters, "store"), account = text_of(parameters, "account");
  text type = text_of(platform, "type"), version = text_of(platform, "appVersion"), id = text_of(platform, "deviceId");
  char *configuration = json_dumps(json_object_get(parameters, "configuration"), JSON_COMPACT);
  options.configuration = configuration;
  options.configuration_size = ENROLL_NUL_TERMINATED;
  if (store.data != NULL && strcmp(store.data, "memory") == 0) {
    options.store = ENROLL_STORE_MEMORY;
  } else {
    options.store_directory = store.data;
    options.store_directory_size = store.size;
  }
  options.account = account.data;
  options.account_size = account.size;
  options.is_not_native = json_is_false(json_object_get(platform, "native"));
  options.waits_for_platform = json_is_true(json_object_get(parameters, "waitForPlatform"));
  options.renews_in_background = json_is_true(json_object_get(parameters, "renewInBackground"));
  options.platform_type = type.data;
  options.platform_type_size = type.size;
  options.app_version = version.data;
  options.app_version_size = version.size;
  options.device_id = id.data;
  options.device_id_size = id.size;
  options.platform_width = integer_of(platform, "width", 0);
  options.platform_height = integer_of(platform, "height", 0);
  enroll_status status = enroll_client_new(&options, &client, &error);
  free(configuration);
  if (status == ENROLL_OK) *result = json_pack("{s:s}", "client", "c1");
  return status;
}

static enroll_status client_close(json_t *parameters, json_t **result) {
  (void)parameters;
  error.status = enroll_client_free(client);
  *result = json_object();
  return error.status;
}

static enroll_status platform_ready(json_t *parameters, json_t **result) {
  (void)parameters;
  *result = json_object();
  return enroll_platform_ready(client, &error);
}

/* Makes the answer of the commands that return the registration state. */
static enroll_status answer_state(enroll_status status, const enroll_state *state, json_t **result) {
  json_t *claims = NULL;
  if (status != ENROLL_OK) return status;
  if (state->kind == ENROLL_STATE_AWAITING_CONFIRMATION) {
    enroll_buf profile = ENROLL_BUF_INIT;
    status = enroll_account_waiting(client, NULL, &profile, NULL, &error);
    if (status != ENROLL_OK) return status;
    claims = json_of_buffer(&profile);
  }
  *result = json_object();
  json_object_set_new(*result, "state", json_of_state(state, claims));
  json_decref(claims);
  return ENROLL_OK;
}

static enroll_status registration_state(json_t *parameters, json_t **result) {
  enroll_state state = ENROLL_STATE_INIT;
  int32_t wait = json_is_true(json_object_get(parameters, "wait"));
  return answer_state(enroll_registration_state(client, wait, timeout_of(parameters), &state, &error), &state, result);
}

static enroll_status registration_begin(json_t *parameters, json_t **result) {
  static const char *const kinds[] = {"signIn", "register", "passwordless", "app2app", "bff", "device"};
  enroll_begin_options options = ENROLL_BEGIN_OPTIONS_INIT;
  enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
  enroll_buf url = ENROLL_BUF_INIT, redirect_uri = ENROLL_BUF_INIT;
  json_t *given = json_object_get(parameters, "options"), *more = json_object_get(parameters, "parameters");
  text kind = text_of(parameters, "kind"), prompt = text_of(given, "prompt"), hint = text_of(given, "loginHint");
  text id_token_hint = text_of(given, "idTokenHint"), connection = text_of(given, "connection");
  text email = text_of(given, "email"), phone = text_of(given, "phoneNumber"), message = text_of(given, "message");
  char *scopes = words_of(parameters, "scopes"), *acr = words_of(given, "acrValues"), *ui = words_of(given, "uiLocales");
  char *encoded = more == NULL ? NULL : json_dumps(more, JSON_COMPACT);
  for (int32_t index = 0; kind.data != NULL && index < 6; index++)
    if (strcmp(kind.data, kinds[index]) == 0) options.kind = index;
  options.opens_later = json_is_true(json_object_get(given, "opensLater"));
  options.has_max_age = json_object_get(given, "maxAge") != NULL;
  options.max_age_seconds = integer_of(given, "maxAge", 0);
  options.scopes = scopes;
  options.scopes_size = ENROLL_NUL_TERMINATED;
  options.prompt = prompt.data;
  options.prompt_size = prompt.size;
  options.login_hint = hint.data;
  options.login_hint_size = hint.size;
  options.ui_locales = ui;
  options.ui_locales_size = ENROLL_NUL_TERMINATED;
  options.acr_values = acr;
  options.acr_values_size = ENROLL_NUL_TERMINATED;
  options.id_token_hint = id_token_hint.data;
  options.id_token_hint_size = id_token_hint.size;
  options.connection = connection.data;
  options.connection_size = connection.size;
  options.email = email.data;
  options.email_size = email.size;
  options.phone_number = phone.data;
  options.phone_number_size = phone.size;
  options.message = message.data != NULL && strcmp(message.data, "link") == 0 ? ENROLL_MESSAGE_LINK : ENROLL_MESSAGE_CODE;
  options.parameters = encoded;
  options.parameters_size = ENROLL_NUL_TERMINATED;
  enroll_status status =
      enroll_registration_begin(client, &options, timeout_of(parameters), &transaction, &url, &redirect_uri, &error);
  free(scopes);
  free(acr);
  free(ui);
  free(encoded);
  if (status == ENROLL_OK) *result = json_of_begun(&transaction, &url, &redirect_uri);
  enroll_buf_free(&url);
  enroll_buf_free(&redirect_uri);
  return status;
}

static enroll_status registration_resume(json_t *parameters, json_t **result) {
  enroll_state state = ENROLL_STATE_INIT;
  text url = text_of(parameters, "url"), id = text_of(parameters, "transaction");
  int64_t timeout = timeout_of(parameters);
  if (id.data == NULL)
    return answer_state(enroll_registration_resume(client, url.data, url.size, timeout, &state, &error), &state,
                        result);
  return answer_state(enroll_registration_resume_transaction(client, id.data, id.size, url.data, url.size, timeout,
                                                             &state, &error),
                      &state, result);
}

static enroll_status registration_await(json_t *parameters, json_t **result) {
  enroll_state state = ENROLL_STATE_INIT;
  text id = text_of(parameters, "transaction");
  return answer_state(enroll_registration_await_outcome(client, id.data, id.size, timeout_of(parameters), &state, &error),
                      &state, result);
}

static enroll_status registration_submit_code(json_t *parameters, json_t **result) {
  enroll_state state = ENROLL_STATE_INIT;
  text id = text_of(parameters, "transaction"), code = text_of(parameters, "code");
  return answer_state(enroll_registration_submit_code(client, id.data, id.size, code.data, code.size,
                                                      timeout_of(parameters), &state, &error),
                      &state, result);
}

static enroll_status registration_confirm(json_t *parameters, json_t **result) {
  enroll_state state = ENROLL_STATE_INIT;
  text id = text_of(parameters, "transaction");
  return answer_state(id.size == 0 ? enroll_registration_confirm(client, &state, &error)
                                   : enroll_registration_confirm_transaction(client, id.data, id.size, &state, &error),
                      &state, result);
}

static enroll_status registration_retry(json_t *parameters, json_t **result) {
  enroll_state state = ENROLL_STATE_INIT;
  return answer_state(enroll_registration_retry(client, timeout_of(parameters), &state, &error), &state, result);
}

static enroll_status registration_cancel(json_t *parameters, json_t **result) {
  enroll_state state = ENROLL_STATE_INIT;
  text id = text_of(parameters, "transaction");
  return answer_state(enroll_registration_cancel(client, id.data, id.size, &state, &error), &state, result);
}

static enroll_status registration_other_app_missing(json_t *parameters, json_t **result) {
  enroll_state state = ENROLL_STATE_INIT;
  text id = text_of(parameters, "transaction");
  return answer_state(enroll_registration_other_app_missing(client, id.data, id.size, &state, &error), &state, result);
}

/* Adds the result of enroll_logout_told to the answer of a command that signs out. */
static enroll_status tell_sign_out(json_t *result) {
  static const char *const names[] = {NULL, "told", "queued", "notPossible"};
  enroll_buf reason = ENROLL_BUF_INIT;
  int32_t told = ENROLL_TOLD_NOTHING;
  enroll_status status = enroll_logout_told(client, &told, &reason, &error);
  if (status != ENROLL_OK) return status;
  if (names[told] != NULL) json_object_set_new(result, "providerTold", json_string(names[told]));
  if (reason.size > 0) json_object_set_new(result, "reason", json_string(reason.data));
  enroll_buf_free(&reason);
  return status;
}

static enroll_status registration_deregister(json_t *parameters, json_t **result) {
  enroll_state state = ENROLL_STATE_INIT;
  enroll_buf url = ENROLL_BUF_INIT;
  enroll_status status = enroll_registration_deregister(client, timeout_of(parameters), &url, &state, &error);
  status = answer_state(status, &state, result);
  if (status == ENROLL_OK && url.size > 0) json_object_set_new(*result, "url", json_string(url.data));
  enroll_buf_free(&url);
  return status == ENROLL_OK ? tell_sign_out(*result) : status;
}

static enroll_status installation_reset(json_t *parameters, json_t **result) {
  text store = text_of(parameters, "store");
  *result = json_object();
  return enroll_installation_reset(store.data, store.size, NULL, &error);
}

static enroll_status resource_discover(json_t *parameters, json_t **result) {
  enroll_buf discovery = ENROLL_BUF_INIT;
  char *given = json_dumps(parameters, JSON_COMPACT);
  enroll_status status = enroll_resource_discover(given, ENROLL_NUL_TERMINATED, 60000, &discovery, &error);
  free(given);
  if (status == ENROLL_OK) *result = json_of_buffer(&discovery);
  return status;
}

static enroll_status resource_register(json_t *parameters, json_t **result) {
  enroll_buf registered = ENROLL_BUF_INIT;
  char *given = json_dumps(parameters, JSON_COMPACT);
  enroll_status status = enroll_resource_register(given, ENROLL_NUL_TERMINATED, 60000, &registered, &error);
  free(given);
  if (status == ENROLL_OK) *result = json_of_buffer(&registered);
  return status;
}

static enroll_status redirect_route(json_t *parameters, json_t **result) {
  enroll_buf owner = ENROLL_BUF_INIT;
  text url = text_of(parameters, "url");
  char *configurations = json_dumps(json_object_get(parameters, "configurations"), JSON_COMPACT);
  enroll_status status =
      enroll_redirect_route(configurations, ENROLL_NUL_TERMINATED, url.data, url.size, &owner, &error);
  free(configurations);
  if (status == ENROLL_OK) *result = json_of_buffer(&owner);
  return status;
}

static enroll_status registration_clear(json_t *parameters, json_t **result) {
  enroll_state state = ENROLL_STATE_INIT;
  (void)parameters;
  return answer_state(enroll_registration_clear(client, &state, &error), &state, result);
}

/* The answer to a link: the transaction that began, or why no transaction began, and what the host may offer the
 * user. */
static json_t *json_of_link(int32_t kind, int32_t offers, const enroll_transaction *transaction, enroll_buf *url) {
  if (kind == ENROLL_URL_BEGUN) {
    enroll_buf none = ENROLL_BUF_INIT;
    json_t *begun = json_of_begun(transaction, url, &none);
    json_object_set_new(begun, "kind", json_string("begun"));
    enroll_buf_free(url);
    return begun;
  }
  json_t *names = json_array();
  if (offers & ENROLL_OFFER_SIGN_IN) json_array_append_new(names, json_string("signIn"));
  if (offers & ENROLL_OFFER_REGISTER) json_array_append_new(names, json_string("register"));
  const char *word = kind == ENROLL_URL_LINK_USED      ? "linkUsed"
                     : kind == ENROLL_URL_LINK_EXPIRED ? "linkExpired"
                     : kind == ENROLL_URL_LOGOUT       ? "logout"
                                                       : "unsolicited";
  return json_pack("{s:s, s:o}", "kind", word, "offers", names);
}

static enroll_status registration_handle_link(json_t *parameters, json_t **result) {
  enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
  enroll_buf url = ENROLL_BUF_INIT;
  int32_t kind = 0, offers = 0;
  text link = text_of(parameters, "url");
  enroll_status status = enroll_registration_handle_link(client, link.data, link.size, timeout_of(parameters), &kind,
                                                         &offers, &transaction, &url, &error);
  if (status == ENROLL_OK) *result = json_of_link(kind, offers, &transaction, &url);
  return status;
}

static enroll_status url_handle(json_t *parameters, json_t **result) {
  enroll_state state = ENROLL_STATE_INIT;
  enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
  enroll_buf next = ENROLL_BUF_INIT;
  int32_t kind = 0, offers = 0;
  text url = text_of(parameters, "url");
  enroll_status status = enroll_url_handle(client, url.data, url.size, timeout_of(parameters), &kind, &state, &offers,
                                           &transaction, &next, &error);
  if (status != ENROLL_OK) return status;
  if (kind == ENROLL_URL_REGISTRATION) {
    status = answer_state(status, &state, result);
    if (status == ENROLL_OK) json_object_set_new(*result, "kind", json_string("registration"));
    return status;
  }
  *result = json_of_link(kind, offers, &transaction, &next);
  return status;
}

/* The answer of every command that returns a token. If there is no token, this is an outcome, not an error. */
static enroll_status answer_access(enroll_status status, const enroll_access *access, enroll_buf *token,
                                   json_t **result) {
  if (status != ENROLL_OK) {
    *result = json_of_no_token(&error);
    return *result == NULL ? status : ENROLL_OK;
  }
  *result = json_of_access(access, token);
  enroll_buf_free(token);
  return ENROLL_OK;
}

/* The parameters `resource` and `scope`; NULL if the command has neither. */
static const enroll_audience *audience_of(json_t *parameters, enroll_audience *audience) {
  text resource = text_of(parameters, "resource"), scope = text_of(parameters, "scope");
  if (resource.data == NULL && scope.data == NULL) return NULL;
  enroll_audience_init(audience, sizeof *audience);
  audience->resource = resource.data;
  audience->resource_size = resource.size;
  audience->scope = scope.data;
  audience->scope_size = scope.size;
  return audience;
}

static enroll_status token_access(json_t *parameters, json_t **result) {
  enroll_access access = ENROLL_ACCESS_INIT;
  enroll_audience audience;
  enroll_buf token = ENROLL_BUF_INIT;
  int64_t lifetime = integer_of(parameters, "minimumLifetime", 0);
  const enroll_audience *named = audience_of(parameters, &audience);
  if (named != NULL)
    return answer_access(
        enroll_token_access_for(client, named, lifetime, timeout_of(parameters), &access, &token, &error), &access, &token,
        result);
  return answer_access(enroll_token_access(client, lifetime, timeout_of(parameters), &access, &token, &error), &access,
                       &token, result);
}

static enroll_status token_refresh(json_t *parameters, json_t **result) {
  enroll_access access = ENROLL_ACCESS_INIT;
  enroll_audience audience;
  enroll_buf token = ENROLL_BUF_INIT;
  const enroll_audience *named = audience_of(parameters, &audience);
  if (named != NULL)
    return answer_access(enroll_token_refresh_for(client, named, timeout_of(parameters), &access, &token, &error), &access,
                         &token, result);
  return answer_access(enroll_token_refresh(client, timeout_of(parameters), &access, &token, &error), &access, &token,
                       result);
}

static enroll_status token_list(json_t *parameters, json_t **result) {
  enroll_buf tokens = ENROLL_BUF_INIT;
  (void)parameters;
  enroll_status status = enroll_token_list(client, &tokens, &error);
  if (status != ENROLL_OK) return status;
  *result = json_object();
  json_object_set_new(*result, "tokens", json_of_buffer(&tokens));
  enroll_buf_free(&tokens);
  return status;
}

static enroll_status token_revoke(json_t *parameters, json_t **result) {
  *result = json_object();
  enroll_status status = enroll_token_revoke(client, timeout_of(parameters), &error);
  return status == ENROLL_OK ? tell_sign_out(*result) : status;
}

static enroll_status token_introspect(json_t *parameters, json_t **result) {
  enroll_buf claims = ENROLL_BUF_INIT;
  text token = text_of(parameters, "token");
  int32_t which = token.data != NULL && strcmp(token.data, "refreshToken") == 0 ? ENROLL_TOKEN_REFRESH : ENROLL_TOKEN_ACCESS;
  enroll_status status = enroll_token_introspect(client, which, timeout_of(parameters), &claims, &error);
  if (status != ENROLL_OK) return status;
  json_t *told = json_of_buffer(&claims);
  *result = json_pack("{s:b}", "active", json_is_true(json_object_get(told, "active")));
  json_object_set_new(*result, "claims", told);
  enroll_buf_free(&claims);
  return status;
}

static enroll_status dpop_proof(json_t *parameters, json_t **result) {
  enroll_buf proof = ENROLL_BUF_INIT;
  text method = text_of(parameters, "method"), url = text_of(parameters, "url");
  text nonce = text_of(parameters, "nonce"), token = text_of(parameters, "accessToken");
  enroll_status status = enroll_dpop_proof(client, method.data, method.size, url.data, url.size, nonce.data, nonce.size,
                                           token.data, token.size, &proof, &error);
  if (status == ENROLL_OK) *result = json_pack("{s:s}", "proof", proof.data);
  enroll_buf_free(&proof);
  return status;
}

static enroll_status answer_claims(enroll_status status, enroll_buf *claims, json_t **result) {
  if (status != ENROLL_OK) return status;
  *result = json_object();
  json_object_set_new(*result, "claims", json_of_buffer(claims));
  return status;
}

static enroll_status identity_profile(json_t *parameters, json_t **result) {
  enroll_buf claims = ENROLL_BUF_INIT;
  (void)parameters;
  return answer_claims(enroll_identity_profile(client, &claims, &error), &claims, result);
}

static enroll_status identity_userinfo(json_t *parameters, json_t **result) {
  enroll_buf claims = ENROLL_BUF_INIT;
  return answer_claims(enroll_identity_userinfo(client, timeout_of(parameters), &claims, &error), &claims, result);
}

static json_t *waiting_sign_in(void) {
  enroll_buf transaction = ENROLL_BUF_INIT, profile = ENROLL_BUF_INIT, type = ENROLL_BUF_INIT;
  if (enroll_account_waiting(client, &transaction, &profile, &type, NULL) != ENROLL_OK) return NULL;
  json_t *waiting = json_object();
  json_object_set_new(waiting, "transaction", json_string(transaction.data));
  json_object_set_new(waiting, "profile", json_of_buffer(&profile));
  if (type.size > 0) json_object_set_new(waiting, "registrationType", json_string(type.data));
  enroll_buf_free(&transaction);
  enroll_buf_free(&profile);
  enroll_buf_free(&type);
  return waiting;
}

static enroll_status account_read(json_t *parameters, json_t **result) {
  enroll_buf profile = ENROLL_BUF_INIT, id_token = ENROLL_BUF_INIT, access_token = ENROLL_BUF_INIT,
             type = ENROLL_BUF_INIT;
  int64_t expires_at = 0;
  (void)parameters;
  enroll_status status = enroll_account_read(client, &profile, &id_token, &access_token, &type, &expires_at, &error);
  if (status != ENROLL_OK) return status;
  *result = json_object();
  if (id_token.size > 0) json_object_set_new(*result, "idToken", json_string(id_token.data));
  if (access_token.size > 0) json_object_set_new(*result, "accessToken", json_string(access_token.data));
  if (type.size > 0) json_object_set_new(*result, "registrationType", json_string(type.data));
  if (expires_at != 0) json_object_set_new(*result, "expiresAt", json_integer(expires_at));
  if (profile.size > 0) json_object_set_new(*result, "profile", json_of_buffer(&profile));
  int32_t renews = 0;
  int64_t renewable_until = 0;
  if (enroll_account_renewal(client, &renews, &renewable_until, NULL) == ENROLL_OK) {
    json_object_set_new(*result, "renews", json_boolean(renews));
    if (renewable_until != 0) json_object_set_new(*result, "renewableUntil", json_integer(renewable_until));
  }
  json_t *waiting = waiting_sign_in();
  if (waiting != NULL) json_object_set_new(*result, "waiting", waiting);
  enroll_buf_free(&profile);
  enroll_buf_free(&id_token);
  enroll_buf_free(&access_token);
  enroll_buf_free(&type);
  return status;
}

static enroll_status diagnostics_export(json_t *parameters, json_t **result) {
  enroll_buf diagnostics = ENROLL_BUF_INIT;
  (void)parameters;
  enroll_status status = enroll_diagnostics_export(client, &diagnostics, &error);
  if (status != ENROLL_OK) return status;
  *result = json_object();
  json_object_set_new(*result, "diagnostics", json_of_buffer(&diagnostics));
  enroll_buf_free(&diagnostics);
  return status;
}

static enroll_status answer_pin(enroll_status status, int32_t outcome, int64_t tries, int64_t wait, json_t **result) {
  static const char *const outcomes[] = {"", "unlocked", "wrong", "tooSoon", "erased"};
  if (status == ENROLL_OK)
    *result = json_pack("{s:s, s:I, s:I}", "outcome", outcomes[outcome], "triesLeft", (json_int_t)tries, "retryAfter",
                        (json_int_t)wait);
  return status;
}

static enroll_status pin_set(json_t *parameters, json_t **result) {
  text pin = text_of(parameters, "pin");
  *result = json_object();
  return enroll_pin_set(client, pin.data, pin.size, &error);
}

static enroll_status pin_unlock(json_t *parameters, json_t **result) {
  text pin = text_of(parameters, "pin");
  int32_t outcome = 0;
  int64_t tries = 0, wait = 0;
  enroll_status status = enroll_pin_unlock(client, pin.data, pin.size, &outcome, &tries, &wait, &error);
  return answer_pin(status, outcome, tries, wait, result);
}

static enroll_status pin_change(json_t *parameters, json_t **result) {
  text pin = text_of(parameters, "pin"), new_pin = text_of(parameters, "newPin");
  int32_t outcome = 0;
  int64_t tries = 0, wait = 0;
  enroll_status status =
      enroll_pin_change(client, pin.data, pin.size, new_pin.data, new_pin.size, &outcome, &tries, &wait, &error);
  return answer_pin(status, outcome, tries, wait, result);
}

static enroll_status pin_remove(json_t *parameters, json_t **result) {
  text pin = text_of(parameters, "pin");
  int32_t outcome = 0;
  int64_t tries = 0, wait = 0;
  enroll_status status = enroll_pin_remove(client, pin.data, pin.size, &outcome, &tries, &wait, &error);
  return answer_pin(status, outcome, tries, wait, result);
}

static enroll_status logout_begin(json_t *parameters, json_t **result) {
  enroll_buf url = ENROLL_BUF_INIT;
  int32_t local_only = json_is_true(json_object_get(parameters, "localOnly"));
  enroll_status status = enroll_logout_begin(client, local_only, timeout_of(parameters), &url, &error);
  *result = json_object();
  if (url.size > 0) json_object_set_new(*result, "url", json_string(url.data));
  enroll_buf_free(&url);
  return status == ENROLL_OK ? tell_sign_out(*result) : status;
}

static enroll_status logout_resume(json_t *parameters, json_t **result) {
  text url = text_of(parameters, "url");
  *result = json_pack("{s:b}", "done", 1);
  return enroll_logout_resume(client, url.data, url.size, &error);
}

static const struct {
  const char *command;
  handler run;
} handlers[] = {
    {"client.open", client_open},
    {"client.close", client_close},
    {"platform.ready", platform_ready},
    {"registration.state", registration_state},
    {"registration.begin", registration_begin},
    {"registration.resume", registration_resume},
    {"registration.awaitOutcome", registration_await},
    {"registration.submitCode", registration_submit_code},
    {"registration.confirm", registration_confirm},
    {"registration.retry", registration_retry},
    {"registration.cancel", registration_cancel},
    {"registration.otherAppMissing", registration_other_app_missing},
    {"registration.clear", registration_clear},
    {"registration.deregister", registration_deregister},
    {"installation.reset", installation_reset},
    {"redirect.route", redirect_route},
    {"resource.discover", resource_discover},
    {"resource.register", resource_register},
    {"registration.handleLink", registration_handle_link},
    {"url.handle", url_handle},
    {"token.access", token_access},
    {"token.refresh", token_refresh},
    {"token.list", token_list},
    {"token.revoke", token_revoke},
    {"token.introspect", token_introspect},
    {"dpop.proof", dpop_proof},
    {"identity.profile", identity_profile},
    {"identity.userinfo", identity_userinfo},
    {"account.read", account_read},
    {"diagnostics.export", diagnostics_export},
    {"pin.set", pin_set},
    {"pin.unlock", pin_unlock},
    {"pin.change", pin_change},
    {"pin.remove", pin_remove},
    {"logout.begin", logout_begin},
    {"logout.resume", logout_resume},
};

static enroll_status by_name(const char *command, const char *parameters, json_t **result) {
  enroll_buf answer = ENROLL_BUF_INIT;
  enroll_status status = enroll_call(client, command, ENROLL_NUL_TERMINATED, parameters, ENROLL_NUL_TERMINATED,
                                     ENROLL_NO_TIMEOUT, &answer, &error);
  if (status == ENROLL_OK) *result = json_of_buffer(&answer);
  return status;
}

static enroll_status run(const char *command, const char *text, json_t **result) {
  json_t *parameters = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  enroll_error_init(&error, sizeof error);
  if (!json_is_object(parameters)) {
    json_decref(parameters);
    error.status = ENROLL_E_JSON;
    return ENROLL_E_JSON;
  }
  for (size_t index = 0; index < sizeof handlers / sizeof *handlers; index++) {
    if (strcmp(handlers[index].command, command) != 0) continue;
    enroll_status status = handlers[index].run(parameters, result);
    json_decref(parameters);
    return status;
  }
  json_decref(parameters);
  return by_name(command, text, result);
}

static void answer(const char *word, json_t *value) {
  char *text = json_dumps(value, JSON_COMPACT);
  printf("%s %s\n", word, text);
  fflush(stdout);
  free(text);
}

int main(void) {
  char *line = NULL;
  size_t capacity = 0;
  ssize_t size;
  while ((size = getline(&line, &capacity, stdin)) > 0) {
    line[strcspn(line, "\n")] = 0;
    char *parameters = strchr(line, ' ');
    if (parameters != NULL) *parameters++ = 0;
    json_t *result = NULL;
    enroll_status status = run(line, parameters == NULL ? "{}" : parameters, &result);
    if (status == ENROLL_OK) {
      answer("ok", result);
    } else {
      json_t *failure = json_of_error(&error);
      answer("error", failure);
      json_decref(failure);
    }
    json_decref(result);
  }
  free(line);
  enroll_client_free(client);
  return 0;
}
