/* driver_json.h - converts between the structs of enroll.h and the JSON of the manifest, for driver.c. */
#ifndef ENROLL_TEST_DRIVER_JSON_H
#define ENROLL_TEST_DRIVER_JSON_H

#include <jansson.h>

#include "enroll.h"

/* A text parameter; empty if it is absent. */
typedef struct text {
  const char *data;
  size_t size;
} text;

text text_of(json_t *parameters, const char *name);
int64_t integer_of(json_t *parameters, const char *name, int64_t otherwise);
/* The parameter `timeout` is in seconds, and 30 if it is absent. */
int64_t timeout_of(json_t *parameters);
/* An array of texts, or a text, joined with spaces. The caller frees it. */
char *words_of(json_t *parameters, const char *name);

json_t *json_of_error(const enroll_error *error);
json_t *json_of_begun(const enroll_transaction *transaction, const enroll_buf *url, const enroll_buf *redirect_uri);
/* `claims` is the profile; it is only used in the state awaitingConfirmation. */
json_t *json_of_state(const enroll_state *state, json_t *claims);
json_t *json_of_access(const enroll_access *access, const enroll_buf *token);
/* The outcome without a token that this error means; NULL if the error means no such outcome. */
json_t *json_of_no_token(const enroll_error *error);
/* Parses and frees a buffer. */
json_t *json_of_buffer(enroll_buf *buffer);

#endif
