/* The functions of driver_json.h. */

#include "driver_json.h"

#include <stdlib.h>
#include <string.h>

text text_of(json_t *parameters, const char *name) {
  json_t *value = json_object_get(parameters, name);
  text found = {NULL, 0};
  if (json_is_string(value)) {
    found.data = json_string_value(value);
    found.size = json_string_length(value);
  }
  return found;
}

int64_t integer_of(json_t *parameters, const char *name, int64_t otherwise) {
  json_t *value = json_object_get(parameters, name);
  return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

int64_t timeout_of(json_t *parameters) { return integer_of(parameters, "timeout", 30) * 1000; }

char *words_of(json_t *parameters, const char *name) {
  json_t *value = json_object_get(parameters, name);
  if (json_is_string(value)) return strdup(json_string_value(value));
  if (!json_is_array(value)) return NULL;
  size_t index, size = 1;
  json_t *word;
  json_array_foreach(value, index, word) size += json_string_length(word) + 1;
  char *words = calloc(1, size);
  json_array_foreach(value, index, word) {
    if (index > 0) strcat(words, " ");
    strcat(words, json_string_value(word));
  }
  return words;
}

json_t *json_of_error(const enroll_error *error) {
  json_t *object = json_object();
  json_object_set_new(object, "status", json_string(enroll_status_name(error->status)));
  json_object_set_new(object, "code", json_integer(error->status));
  json_object_set_new(object, "blame", json_string(enroll_blame_name(error->blame)));
  json_object_set_new(object, "retryable", json_boolean(error->is_retryable));
  json_object_set_new(object, "message", json_string(error->message));
  if (error->field[0] != 0) json_object_set_new(object, "field", json_string(error->field));
  if (error->http_status != 0) json_object_set_new(object, "httpStatus", json_integer(error->http_status));
  if (error->oauth_error[0] != 0) json_object_set_new(object, "oauthError", json_string(error->oauth_error));
  if (error->oauth_error_description[0] != 0)
    json_object_set_new(object, "oauthErrorDescription", json_string(error->oauth_error_description));
  if (error->retry_after_seconds != 0) json_object_set_new(object, "retryAfter", json_integer(error->retry_after_seconds));
  return object;
}

/* `has_ended`: whether the error ended a sign-in, which then cannot be retried, whatever the reason was. */
static json_t *json_of_reason(enroll_status status, const char *message, int32_t http_status, const char *oauth_error,
                              const char *description, int has_ended) {
  enroll_error error = ENROLL_ERROR_INIT;
  error.status = status;
  error.blame = enroll_status_blame(status);
  error.is_retryable = !has_ended && enroll_status_is_retryable(status);
  error.http_status = http_status;
  strncpy(error.message, message, sizeof error.message - 1);
  strncpy(error.oauth_error, oauth_error, sizeof error.oauth_error - 1);
  strncpy(error.oauth_error_description, description, sizeof error.oauth_error_description - 1);
  return json_of_error(&error);
}

json_t *json_of_begun(const enroll_transaction *transaction, const enroll_buf *url, const enroll_buf *redirect_uri) {
  json_t *action = NULL;
  switch (transaction->action) {
    case ENROLL_ACTION_OPEN_URL: action = json_pack("{s:s, s:s}", "type", "openURL", "url", url->data); break;
    case ENROLL_ACTION_OPEN_OTHER_APP: action = json_pack("{s:s, s:s}", "type", "openOtherApp", "url", url->data); break;
    case ENROLL_ACTION_ENTER_CODE: action = json_pack("{s:s}", "type", "enterCode"); break;
    case ENROLL_ACTION_AWAIT_LINK: action = json_pack("{s:s}", "type", "awaitLink"); break;
    case ENROLL_ACTION_SHOW_DEVICE_CODE:
      action = json_pack("{s:s, s:s, s:s}", "type", "showDeviceCode", "userCode", transaction->user_code,
                         "verificationUri", transaction->verification_uri);
      if (strcmp(url->data, transaction->verification_uri) != 0)
        json_object_set_new(action, "verificationUriComplete", json_string(url->data));
      break;
  }
  json_t *begun = json_pack("{s:s, s:o, s:I, s:b}", "transaction", transaction->id, "action", action, "expiresAt",
                            (json_int_t)transaction->expires_at, "survivesProcess", transaction->survives_process);
  if (redirect_uri->size > 0) json_object_set_new(begun, "redirectUri", json_string(redirect_uri->data));
  if (transaction->url_expires_at != 0)
    json_object_set_new(begun, "urlExpiresAt", json_integer(transaction->url_expires_at));
  return begun;
}

json_t *json_of_state(const enroll_state *state, json_t *claims) {
  json_t *object = json_object();
  json_object_set_new(object, "state", json_string(enroll_state_name(state->kind)));
  switch (state->kind) {
    case ENROLL_STATE_AUTHENTICATING:
      json_object_set_new(object, "transaction", json_string(state->transaction));
      json_object_set_new(object, "step", json_string(enroll_step_name(state->step)));
      break;
    case ENROLL_STATE_AWAITING_CONFIRMATION:
      json_object_set_new(object, "transaction", json_string(state->transaction));
      json_object_set(object, "profile", claims);
      break;
    case ENROLL_STATE_ACTIVE:
      json_object_set_new(object, "reason", json_string(enroll_active_reason_name(state->active_reason)));
      break;
    case ENROLL_STATE_RENEWAL_FAILED:
    case ENROLL_STATE_REGISTRATION_FAILED:
      json_object_set_new(object, "error",
                          json_of_reason(state->reason, state->reason_message, state->reason_http_status,
                                         state->reason_oauth_error, state->reason_oauth_error_description,
                                         state->kind == ENROLL_STATE_REGISTRATION_FAILED));
      if (state->kind == ENROLL_STATE_REGISTRATION_FAILED) {
        json_object_set_new(object, "reason", json_string("registration"));
        break;
      }
      json_object_set_new(object, "reason", json_string("renewal"));
      json_object_set_new(object, "remedy", json_string(enroll_remedy_name(state->remedy)));
      json_object_set_new(object, "tokenUsable", json_boolean(state->is_token_usable));
      break;
    default: break;
  }
  return object;
}

json_t *json_of_access(const enroll_access *access, const enroll_buf *token) {
  json_t *object = json_object();
  int is_stale = access->outcome == ENROLL_ACCESS_STALE;
  json_object_set_new(object, "outcome", json_string(is_stale ? "stale" : "valid"));
  json_object_set_new(object, "accessToken", json_stringn(token->data, token->size));
  json_object_set_new(object, "tokenType", json_string(access->token_type));
  if (access->expires_at != INT64_MAX) json_object_set_new(object, "expiresAt", json_integer(access->expires_at));
  if (is_stale) json_object_set_new(object, "reason", json_string(enroll_status_name(access->reason)));
  return object;
}

json_t *json_of_no_token(const enroll_error *error) {
  const char *outcome = NULL;
  switch (error->status) {
    case ENROLL_E_EXPIRED: outcome = "expired"; break;
    case ENROLL_E_REJECTED: outcome = "rejected"; break;
    case ENROLL_E_REAUTHENTICATE: outcome = "reauthenticate"; break;
    case ENROLL_E_STORE_LOCKED: outcome = "storeLocked"; break;
    case ENROLL_E_BUSY: outcome = "busy"; break;
    default: return NULL;
  }
  json_t *object = json_object();
  json_object_set_new(object, "outcome", json_string(outcome));
  if (error->reason != ENROLL_OK) {
    const char *reason = error->oauth_error[0] != 0 && error->status == ENROLL_E_REJECTED
                             ? error->oauth_error
                             : enroll_status_name(error->reason);
    json_object_set_new(object, "reason", json_string(reason));
    json_object_set_new(object, "error",
                        json_of_reason(error->reason, error->message, error->http_status, error->oauth_error,
                                       error->oauth_error_description, 0));
  } else if (error->status == ENROLL_E_REAUTHENTICATE) {
    json_object_set_new(object, "reason", json_string(error->message));
  }
  if (error->retry_after_seconds != 0) json_object_set_new(object, "retryAfter", json_integer(error->retry_after_seconds));
  return object;
}

json_t *json_of_buffer(enroll_buf *buffer) {
  json_t *value = json_loadb(buffer->data, buffer->size, JSON_REJECT_DUPLICATES, NULL);
  enroll_buf_free(buffer);
  return value;
}
