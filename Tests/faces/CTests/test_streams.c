/* A host without standard streams (a daemon that closed them, `program <&- >&- 2>&-`). The next descriptors that are
 * opened get the numbers 0, 1 and 2, and so receive the lines that the host continues to write to its log. The
 * library never uses these numbers, not even for a moment: a log line could reach a file or a connection, or a write
 * to a socket without a peer would kill the host. */

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "provider.h"

#define LINE "a line of the host's log\n"
#define RENEWALS 50

extern char **environ;
static const char *program;
static enroll_error error = ENROLL_ERROR_INIT;

/* Writes to the descriptors 0 to 2 as the host's log does, whatever they are now. */
static void *log_on(void *given) {
  volatile int *is_over = given;
  while (!*is_over)
    for (int number = 0; number < 3; number++)
      if (write(number, LINE, sizeof LINE - 1) < 0) continue;
  return NULL;
}

/* How many of the numbers 0, 1 and 2 are open descriptors. */
static int taken(void) {
  int count = 0;
  for (int number = 0; number < 3; number++) count += fcntl(number, F_GETFD) >= 0;
  return count;
}

/* A provider on this machine that answers one request, for its discovery document. */
struct server {
  int listener, port, taken;
};

static int listen_here(struct server *server) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(server->listener, (struct sockaddr *)&address, size) != 0 || listen(server->listener, 4) != 0 ||
      getsockname(server->listener, (struct sockaddr *)&address, &size) != 0)
    return 0;
  server->port = ntohs(address.sin_port);
  return 1;
}

/* Accepts a connection. The server's end gets a descriptor above 2, too, because the log writes to the descriptors 0
 * to 2. */
static int accept_above(int listener) {
  int low[3], count = 0;
  while (count < 3 && (low[count] = open("/", O_PATH | O_CLOEXEC)) >= 0 && low[count] < 3) count++;
  if (count < 3) close(low[count]);
  int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  while (count > 0) close(low[--count]);
  return connection;
}

static void *serve(void *given) {
  struct server *server = given;
  struct pollfd polled = {server->listener, POLLIN, 0};
  char request[4096], body[512], answer[1024];
  if (poll(&polled, 1, -1) != 1) return NULL;
  /* At this moment the library has its connection open. */
  server->taken = taken();
  int connection = accept_above(server->listener), port = server->port;
  if (connection < 0 || read(connection, request, sizeof request) <= 0) return NULL;
  snprintf(body, sizeof body,
           "{\"issuer\":\"http://127.0.0.1:%d\",\"authorization_endpoint\":\"http://127.0.0.1:%d/authorize\","
           "\"token_endpoint\":\"http://127.0.0.1:%d/token\",\"jwks_uri\":\"http://127.0.0.1:%d/keys\","
           "\"response_types_supported\":[\"code\"],\"subject_types_supported\":[\"public\"],"
           "\"id_token_signing_alg_values_supported\":[\"ES256\"],\"code_challenge_methods_supported\":[\"S256\"]}",
           port, port, port, port);
  snprintf(answer, sizeof answer,
           "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
           strlen(body), body);
  int is_sent = write(connection, answer, strlen(answer)) == (ssize_t)strlen(answer);
  close(connection);
  return is_sent ? server : NULL;
}

/* Signs in with a store, reads the token, and renews it several times. */
static int uses_a_store(const char *directory) {
  provider *server = provider_new();
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  enroll_queue *queue = NULL;
  char token[64], wanted[64];
  if (enroll_queue_new(&queue, NULL) != ENROLL_OK) return 10;
  options.queue = queue;
  options.renews_in_background = 1;
  enroll_client *client = provider_open(server, directory, options);
  provider_sign_in(server, client);
  for (int number = 1; number <= RENEWALS; number++) {
    snprintf(wanted, sizeof wanted, "access-%d", number);
    if (enroll_token_copy(client, 0, ENROLL_NO_TIMEOUT, token, sizeof token, NULL, NULL, &error) != ENROLL_OK) return 11;
    if (strcmp(token, wanted) != 0) return 12;
    /* A second client reads the token from the store, as another process would. */
    enroll_client *other = provider_client(server, directory);
    if (enroll_token_copy(other, 0, ENROLL_NO_TIMEOUT, token, sizeof token, NULL, NULL, &error) != ENROLL_OK) return 13;
    if (strcmp(token, wanted) != 0) return 14;
    if (enroll_client_free(other) != ENROLL_OK) return 15;
    enroll_buf renewed = ENROLL_BUF_INIT;
    if (number == RENEWALS) break;
    if (enroll_token_refresh(client, ENROLL_NO_TIMEOUT, NULL, &renewed, &error) != ENROLL_OK) return 16;
    enroll_buf_free(&renewed);
  }
  if (taken() != 0) return 17;
  if (enroll_client_free(client) != ENROLL_OK || enroll_queue_free(queue) != ENROLL_OK) return 18;
  provider_free(server);
  return 0;
}

/* Uses the library's own HTTP, and its listener for the redirect. */
static int uses_the_network(struct server *server) {
  enroll_client *client = NULL;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  char configuration[256];
  pthread_t thread;
  void *answered = NULL;
  if (pthread_create(&thread, NULL, serve, server) != 0) return 20;
  snprintf(configuration, sizeof configuration,
           "{\"issuer\":\"http://127.0.0.1:%d\",\"clientId\":\"native\",\"allowLoopbackHTTP\":true,"
           "\"redirectUri\":\"http://127.0.0.1/callback\"}",
           server->port);
  options.configuration = configuration;
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store = ENROLL_STORE_MEMORY;
  if (enroll_client_new(&options, &client, &error) != ENROLL_OK) return 21;
  enroll_buf url = ENROLL_BUF_INIT;
  if (enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, &error) != ENROLL_OK) return 22;
  enroll_buf_free(&url);
  pthread_join(thread, &answered);
  if (answered == NULL || server->taken != 0) return 23;
  if (taken() != 0) return 24;
  if (enroll_client_free(client) != ENROLL_OK) return 25;
  close(server->listener);
  return 0;
}

/* Runs as a program without standard streams. Returns 0, or a number that says what failed. */
static int without_streams(const char *directory) {
  volatile int is_over = 0;
  pthread_t logging;
  struct server server = {.taken = -1};
  alarm(300); /* Kills the process if it hangs. */
  if (!listen_here(&server)) return 1;
  for (int number = 0; number < 3; number++) close(number);
  if (pthread_create(&logging, NULL, log_on, (void *)&is_over) != 0) return 2;
  int wrong = uses_a_store(directory);
  if (wrong == 0 && getenv("ENROLL_TEST_WITHOUT_HTTP") == NULL) wrong = uses_the_network(&server);
  is_over = 1;
  pthread_join(logging, NULL);
  return wrong;
}

/* Whether a file of the folder contains a line of the host's log. */
static int is_spoilt(const char *directory) {
  char command[128];
  snprintf(command, sizeof command, "grep -rqaF \"a line of the host's log\" '%s'", directory);
  return system(command) == 0;
}

TEST("a host whose standard streams are closed and written to loses nothing, and the library takes none of their numbers") {
  char folder[] = "/tmp/enroll-streams-XXXXXX", directory[64], command[64], token[64], wanted[64];
  CHECK(mkdtemp(folder) != NULL);
  snprintf(directory, sizeof directory, "%s/store", folder);
  char *words[] = {(char *)program, "--without-streams", directory, NULL};
  pid_t child;
  int status = -1;
  CHECK(posix_spawn(&child, program, NULL, NULL, words, environ) == 0);
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK_NUMBER(0, WEXITSTATUS(status));
  CHECK(!is_spoilt(directory));
  /* This program has standard streams, and finds what the program without standard streams stored. */
  provider *server = provider_new();
  enroll_client *client = provider_client(server, directory);
  snprintf(wanted, sizeof wanted, "access-%d", RENEWALS);
  CHECK_OK(enroll_token_copy(client, 0, ENROLL_NO_TIMEOUT, token, sizeof token, NULL, NULL, &error));
  CHECK_TEXT(wanted, token);
  CHECK_NUMBER(0, provider_token_requests(server));
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  CHECK_NUMBER(0, system(command));
}

int main(int count, char **words) {
  /* If this program is built for another processor, it cannot be started directly: the variable ENROLL_TEST_PROGRAM
   * names its launcher. */
  program = getenv("ENROLL_TEST_PROGRAM") != NULL ? getenv("ENROLL_TEST_PROGRAM") : words[0];
  if (count == 3 && strcmp(words[1], "--without-streams") == 0) return without_streams(words[2]);
  return check_main(count, words);
}
