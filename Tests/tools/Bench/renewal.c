/*
 * renewal.c - compares a renewal over TLS with a bare POST of the same form by curl, both on a kept
 * connection and on a new one. A renewal saves the session twice, durably. The program also measures two such
 * saves without sealing, in the same folder, and subtracts their time. All measurements run in one process,
 * in turn.
 *
 *     renewal ISSUER CA_FILE FOLDER
 */

#include <curl/curl.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "enroll.h"
#include "rounds.h"

#define ROUNDS 301
#define REDIRECT "com.example.app:/callback"
#define RECORD_BYTES 3000
#define FORM "grant_type=refresh_token&refresh_token=refresh-00000001&client_id=native"

static void die(const char *what) {
  fprintf(stderr, "renewal: %s\n", what);
  exit(1);
}

static enroll_client *signed_in(const char *issuer, const char *ca_file, const char *folder) {
  char configuration[2048];
  snprintf(configuration, sizeof configuration,
           "{\"issuer\":\"%s\",\"clientId\":\"native\",\"redirectUri\":\"" REDIRECT
           "\",\"scopes\":\"profile offline_access\",\"caFile\":\"%s\"}",
           issuer, ca_file);
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = configuration;
  options.configuration_size = strlen(configuration);
  options.store_directory = folder;
  options.store_directory_size = strlen(folder);
  enroll_client *client = NULL;
  enroll_error error = ENROLL_ERROR_INIT;
  if (enroll_client_new(&options, &client, &error) != ENROLL_OK) die(error.message);
  enroll_buf url = ENROLL_BUF_INIT;
  if (enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, &error)) die(error.message);
  const char *state_parameter = strstr(url.data, "state=");
  char redirect[1024];
  snprintf(redirect, sizeof redirect, REDIRECT "?code=abc&%.*s", (int)strcspn(state_parameter, "&"), state_parameter);
  enroll_state state = ENROLL_STATE_INIT;
  if (enroll_registration_resume(client, redirect, strlen(redirect), ENROLL_NO_TIMEOUT, &state, &error))
    die(error.message);
  if (enroll_registration_confirm(client, &state, &error)) die(error.message);
  enroll_buf_free(&url);
  return client;
}

static size_t take(char *data, size_t size, size_t count, void *got) {
  (void)data;
  *(size_t *)got += size * count;
  return size * count;
}

static CURL *poster(const char *issuer, const char *ca_file, long is_fresh, size_t *got) {
  static char url[1024];
  snprintf(url, sizeof url, "%s/token", issuer);
  CURL *curl = curl_easy_init();
  curl_easy_setopt(curl, CURLOPT_URL, url);
  curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, FORM);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, got);
  curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, is_fresh);
  curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, is_fresh);
  return curl;
}

/* Sends a bare POST; returns the microseconds that it took. */
static double post(CURL *curl) {
  int64_t began = bench_now();
  if (curl_easy_perform(curl) != CURLE_OK) die("a bare POST failed");
  return (double)(bench_now() - began) / 1e3;
}

static void save(const char *folder) {
  static char bytes[RECORD_BYTES], temporary[1024], name[1024];
  snprintf(temporary, sizeof temporary, "%s/bare.new", folder);
  snprintf(name, sizeof name, "%s/bare", folder);
  int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int directory = open(folder, O_RDONLY | O_DIRECTORY);
  if (file < 0 || directory < 0 || write(file, bytes, sizeof bytes) != sizeof bytes || fsync(file) != 0 ||
      rename(temporary, name) != 0 || fsync(directory) != 0)
    die("a bare save failed");
  close(file);
  close(directory);
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  char store[1024];
  snprintf(store, sizeof store, "%s/store", arguments[3]);
  enroll_client *client = signed_in(arguments[1], arguments[2], store);
  size_t got = 0;
  CURL *pooled = poster(arguments[1], arguments[2], 0, &got), *fresh = poster(arguments[1], arguments[2], 1, &got);
  double *ours = bench_numbers(ROUNDS), *ours_again = bench_numbers(ROUNDS), *saves = bench_numbers(ROUNDS);
  double *by_pooled = bench_numbers(ROUNDS), *by_fresh = bench_numbers(ROUNDS);
  double *ratios = bench_numbers(ROUNDS), *fresh_ratios = bench_numbers(ROUNDS);
  enroll_error error = ENROLL_ERROR_INIT;
  for (int round = -1; round < ROUNDS; round++) {
    int64_t began = bench_now();
    enroll_buf token = ENROLL_BUF_INIT;
    if (enroll_token_refresh(client, ENROLL_NO_TIMEOUT, NULL, &token, &error) != ENROLL_OK) die(error.message);
    enroll_buf_free(&token);
    double renewal = (double)(bench_now() - began) / 1e3;
    double kept = post(pooled), own = post(fresh);
    int64_t posted = bench_now();
    save(arguments[3]);
    save(arguments[3]);
    int64_t saved = bench_now();
    /* The first round is not measured, because it opens the connections. */
    if (round < 0) continue;
    saves[round] = (double)(saved - posted) / 1e3;
    by_pooled[round] = kept;
    by_fresh[round] = own;
    ours[round] = ours_again[round] = renewal - saves[round];
    ratios[round] = ours[round] / kept;
    fresh_ratios[round] = ours[round] / own;
  }
  if (got == 0) die("the bare POST got no answer");
  char more[64];
  snprintf(more, sizeof more, ",\"two_saves\":%.1f", bench_share(saves, ROUNDS, 0.5));
  bench_line("renewal over TLS, warm, less two saves", ours, by_pooled, ratios, ROUNDS, "µs", more);
  bench_line("renewal over TLS, less two saves and the connection", ours_again, by_fresh, fresh_ratios, ROUNDS, "µs", more);
  curl_easy_cleanup(pooled);
  curl_easy_cleanup(fresh);
  enroll_client_free(client);
  return 0;
}
