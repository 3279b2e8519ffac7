/*
 * allocations.c - makes allocations of jansson, OpenSSL or libcurl fail, and checks what EnrollKit does.
 *
 *     allocations LIBRARY once|forever STRETCH ISSUER CONFIGURATION FOLDER FIRST STEP [LAST]
 *     allocations LIBRARY cold walk ISSUER CONFIGURATION FOLDER FIRST STEP [LAST]
 *
 * STRETCH is a part of a session: sign-in, session, or walk for all of it. For n = FIRST, FIRST + STEP, … the n-th
 * allocation of the library in the stretch fails. With forever, every later allocation fails, too. Each call that fails
 * is repeated with enough memory, and must then succeed. One exception: the failed call may have used up the redirect,
 * and then the user signs in again.
 *
 * A stretch leaves the session as it was, so the same process continues with the next n and shows what the previous
 * failure left behind. After each n, no more memory may be allocated than before the first one. With cold, each n has a
 * new process that has not run the stretch before. If OpenSSL has no memory for an algorithm at its first use, it never
 * loads that algorithm later: such a process cannot recover, and the next process must work.
 *
 * A crash is reported, and another process continues with the next n. The program ends after LAST, or when the stretch
 * has fewer than n allocations. It prints one line for each n with a problem, then one line of JSON: the number of
 * failed allocations, and the errors of the failed calls.
 */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <dirent.h>
#include <enroll.h>
#include <jansson.h>
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JANSSON, OPENSSL, CURL_LIBRARY, LIBRARIES };
static const char *const library_names[LIBRARIES] = {"jansson", "openssl", "curl"};

/* The allocators. */

static atomic_long outstanding[LIBRARIES];
static atomic_long counted;
static atomic_int hits;
static int target;
static int is_forever, is_cold;
static _Atomic long failing; /* 0: nothing fails */

static int fails(int library) {
  long at = atomic_load(&failing);
  if (library != target || at == 0) return 0;
  long number = atomic_fetch_add(&counted, 1) + 1;
  if (is_forever ? number < at : number != at) return 0;
  atomic_fetch_add(&hits, 1);
  return 1;
}

static void *take(int library, size_t size) {
  if (size == 0 || fails(library)) return NULL;
  void *memory = malloc(size);
  if (memory != NULL) atomic_fetch_add(&outstanding[library], 1);
  return memory;
}

static void give_back(int library, void *memory) {
  if (memory == NULL) return;
  atomic_fetch_sub(&outstanding[library], 1);
  free(memory);
}

static void *resize(int library, void *memory, size_t size) {
  if (memory == NULL) return take(library, size);
  if (size == 0) return give_back(library, memory), NULL;
  return fails(library) ? NULL : realloc(memory, size);
}

static void *jansson_malloc(size_t size) { return take(JANSSON, size); }
static void jansson_free(void *memory) { give_back(JANSSON, memory); }

static void *openssl_malloc(size_t size, const char *file, int line) {
  (void)file, (void)line;
  return take(OPENSSL, size);
}
static void *openssl_realloc(void *memory, size_t size, const char *file, int line) {
  (void)file, (void)line;
  return resize(OPENSSL, memory, size);
}
static void openssl_free(void *memory, const char *file, int line) {
  (void)file, (void)line;
  give_back(OPENSSL, memory);
}

static void *curl_own_malloc(size_t size) { return take(CURL_LIBRARY, size); }
static void curl_own_free(void *memory) { give_back(CURL_LIBRARY, memory); }
static void *curl_own_realloc(void *memory, size_t size) { return resize(CURL_LIBRARY, memory, size); }
static char *curl_own_strdup(const char *text) {
  char *copy = take(CURL_LIBRARY, strlen(text) + 1);
  return copy == NULL ? NULL : strcpy(copy, text);
}
static void *curl_own_calloc(size_t count, size_t size) {
  void *memory = take(CURL_LIBRARY, count * size);
  return memory == NULL ? NULL : memset(memory, 0, count * size);
}

/* The results of a child process, which its parent reads. */

#define STATUSES 100
static struct report {
  long at; /* the current n; 0: no allocation has failed yet */
  long points, bad;
  int is_told; /* whether a problem at this n was reported */
  int is_lost; /* whether OpenSSL has lost an algorithm, for the rest of this process */
  long lost;
  int failures[STATUSES]; /* by -status */
  char example[STATUSES][600];
  int sign_ins_again;
} *report;

static const char *label;

/* Reports only the first problem at each n: later problems are mostly consequences of the first problem. */
static void problem(const char *what, const char *more) {
  if (report->is_told) return;
  report->is_told = 1;
  report->bad++;
  printf("%s %ld: %s: %s\n", label, report->at, what, more);
  fflush(stdout);
}

/* The user. */

static void connected(const char *issuer, int *out) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  address.sin_port = htons((uint16_t)atoi(strrchr(issuer, ':') + 1));
  *out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(*out, (struct sockaddr *)&address, sizeof address) != 0) abort();
}

/* Lets the user consent to everything; returns the redirect, which the caller frees. */
static char *play_user(const char *issuer, const char *url) {
  char request[8192], body[6144], answer[16384];
  snprintf(body, sizeof body, "{\"do\":\"settle\",\"url\":\"%s\"}", url);
  snprintf(request, sizeof request,
           "POST /_control HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
           "Content-Length: %zu\r\n\r\n%s",
           strlen(body), body);
  int server;
  connected(issuer, &server);
  if (write(server, request, strlen(request)) < 0) abort();
  size_t length = 0;
  ssize_t count;
  while ((count = read(server, answer + length, sizeof answer - 1 - length)) > 0) length += (size_t)count;
  close(server);
  answer[length] = 0;
  char *from = strstr(answer, "\"redirect\":\"");
  if (from == NULL) return NULL;
  from += strlen("\"redirect\":\"");
  char *redirect = calloc(1, strlen(from) + 1), *to = redirect;
  for (; *from != '"' && *from != 0; from++)
    if (*from != '\\') *to++ = *from;
  return redirect;
}

/* The store. */

static void each_file(const char *folder, void (*each)(const char *path, const char *name)) {
  DIR *open = opendir(folder);
  if (open == NULL) return;
  for (struct dirent *entry; (entry = readdir(open)) != NULL;) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_type == DT_REG) each(path, entry->d_name);
  }
  closedir(open);
}
static void look(const char *path, const char *name) {
  (void)path;
  if (strstr(name, ".corrupt-") != NULL) problem("store", "an intact file was set aside");
}
static void erase(const char *path, const char *name) {
  (void)name;
  unlink(path);
}

/* The walk. */

static struct walk {
  const char *issuer;
  const char *configuration;
  const char *store;
  enroll_client *client;
  enroll_buf text;
  char *redirect;
  enroll_error error;
} walk;

static enroll_status open_client(void) {
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = walk.configuration;
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store_directory = walk.store;
  options.store_directory_size = ENROLL_NUL_TERMINATED;
  return enroll_client_new(&options, &walk.client, &walk.error);
}
static enroll_status begin(void) {
  return enroll_registration_begin(walk.client, NULL, ENROLL_NO_TIMEOUT, NULL, &walk.text, NULL, &walk.error);
}
static enroll_status resume(void) {
  enroll_state state = ENROLL_STATE_INIT;
  return enroll_registration_resume(walk.client, walk.redirect, ENROLL_NUL_TERMINATED, ENROLL_NO_TIMEOUT, &state,
                                    &walk.error);
}
static enroll_status confirm(void) {
  enroll_state state = ENROLL_STATE_INIT;
  return enroll_registration_confirm(walk.client, &state, &walk.error);
}
static enroll_status token(void) {
  return enroll_token_access(walk.client, 0, ENROLL_NO_TIMEOUT, NULL, &walk.text, &walk.error);
}
static enroll_status renew(void) {
  return enroll_token_refresh(walk.client, ENROLL_NO_TIMEOUT, NULL, &walk.text, &walk.error);
}
static enroll_status profile(void) { return enroll_identity_profile(walk.client, &walk.text, &walk.error); }
static enroll_status userinfo(void) {
  return enroll_identity_userinfo(walk.client, ENROLL_NO_TIMEOUT, &walk.text, &walk.error);
}
static enroll_status diagnose(void) { return enroll_diagnostics_export(walk.client, &walk.text, &walk.error); }
static enroll_status log_out(void) {
  return enroll_logout_begin(walk.client, 0, ENROLL_NO_TIMEOUT, &walk.text, &walk.error);
}

/* Whether the error must never be the result of missing memory: with such an error the host would report a
 * wrong cause, or sign the user out. */
static int is_lie(enroll_status status) {
  switch (status) {
    case ENROLL_E_STORE_CORRUPT:
    case ENROLL_E_STORE_KEY:
    case ENROLL_E_STORE_LOCKED:
    case ENROLL_E_REAUTHENTICATE:
    case ENROLL_E_OAUTH:
    case ENROLL_E_CONFIGURATION:
    case ENROLL_E_ISSUER_MISMATCH:
    case ENROLL_E_PROFILE_MISMATCH:
    case ENROLL_E_ID_TOKEN_INVALID:
    case ENROLL_E_TLS: return 1;
    default: return 0;
  }
}

/* Whether this status is the result of an algorithm that OpenSSL has lost. The status is `internal` if
 * OpenSSL then gives an error that does not mention memory, and `out of memory` if OpenSSL gives no error. */
static int has_lost_algorithm(enroll_status status) {
  report->is_lost = is_cold && target == OPENSSL && (status == ENROLL_E_INTERNAL || status == ENROLL_E_OUT_OF_MEMORY);
  return report->is_lost;
}

static enroll_status attempt(const char *name, enroll_status (*step)(void)) {
  if (report->is_lost) return ENROLL_E_INTERNAL;
  enroll_error_init(&walk.error, sizeof walk.error);
  int before = atomic_load(&hits);
  enroll_status status = step();
  if (status == ENROLL_OK) return status;
  if (atomic_load(&hits) == 0 || (before != 0 && !is_forever)) {
    if (has_lost_algorithm(status)) return status;
    problem(name, "failed although it got all its memory");
  }
  if (-status < STATUSES && -status >= 0) {
    report->failures[-status]++;
    snprintf(report->example[-status], sizeof report->example[0], "%s: %s", name, walk.error.message);
  }
  if (walk.error.status != status || walk.error.message[0] == 0) problem(name, "no typed error");
  if (is_lie(status)) problem(name, walk.error.message);
  atomic_store(&failing, 0);
  status = step();
  if (status != ENROLL_OK && step != resume && !has_lost_algorithm(status)) problem(name, walk.error.message);
  return status;
}

static int sign_in(void) {
  if (attempt("begin", begin) != ENROLL_OK) return 0;
  free(walk.redirect);
  walk.redirect = play_user(walk.issuer, walk.text.data);
  enroll_buf_free(&walk.text);
  if (walk.redirect == NULL) return problem("user", "no redirect came"), 0;
  return attempt("resume", resume) == ENROLL_OK;
}

static void text(const char *name, enroll_status (*step)(void)) {
  attempt(name, step);
  enroll_buf_free(&walk.text);
}

static int enter(void) {
  if (attempt("open", open_client) != ENROLL_OK) return 0;
  if (!sign_in()) {
    report->sign_ins_again++;
    if (!sign_in() && !report->is_lost) problem("sign-in", walk.error.message);
  }
  attempt("confirm", confirm);
  text("token", token);
  enroll_client_free(walk.client);
  return 1;
}

/* Uses the session through a new client, which knows only the store on disk. */
static int be_there(void) {
  if (attempt("open", open_client) != ENROLL_OK) return 0;
  text("token", token);
  text("renewal", renew);
  text("profile", profile);
  text("userinfo", userinfo);
  text("diagnosis", diagnose);
  enroll_client_free(walk.client);
  return 1;
}

static int leave(void) {
  if (attempt("open", open_client) != ENROLL_OK) return 0;
  text("logout", log_out);
  enroll_client_free(walk.client);
  return 1;
}

/* Each stretch leaves the session as it was. This stretch first erases the store, because unfinished sign-ins
 * would accumulate in the store. */
static void sign_in_and_out(void) {
  each_file(walk.store, erase);
  (void)(enter() && leave());
}
static void session(void) { be_there(); }
static void whole_walk(void) { (void)(enter() && be_there() && leave()); }

static const struct stretch {
  const char *name;
  void (*go)(void);
  int is_within; /* whether a user signs in before the stretch */
} stretches[] = {{"sign-in", sign_in_and_out, 0}, {"session", session, 1}, {"walk", whole_walk, 0}};

static void *run_in_thread(void *way) {
  walk.text = (enroll_buf)ENROLL_BUF_INIT;
  (*(void (**)(void))way)();
  free(walk.redirect);
  walk.redirect = NULL;
  return NULL;
}

/* Runs a stretch on a separate thread, because OpenSSL keeps the texts of errors until their thread ends. */
static void run(void (*way)(void)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_in_thread, &way) != 0 || pthread_join(thread, NULL) != 0) abort();
}

/* Waits until all other threads have ended, because OpenSSL keeps memory for each thread until the thread
 * ends. */
static void wait_for_threads(void) {
  for (int left = 1; left; usleep(1000)) {
    left = -3; /* ., .. and this thread */
    DIR *threads = opendir("/proc/self/task");
    while (threads != NULL && readdir(threads) != NULL) left++;
    if (threads != NULL) closedir(threads);
  }
}

static long all_outstanding(void) {
  wait_for_threads();
  return atomic_load(&outstanding[JANSSON]) + atomic_load(&outstanding[OPENSSL]) +
         atomic_load(&outstanding[CURL_LIBRARY]);
}

static void enter_undisturbed(void) { enter(); }
static void leave_undisturbed(void) { leave(); }

/* Makes the n-th allocation of the stretch fail. Returns whether the stretch reached that allocation. */
static int disturb(const struct stretch *stretch, long n, long *before) {
  report->at = n;
  report->is_told = report->is_lost = 0;
  alarm(300);
  atomic_store(&counted, 0);
  atomic_store(&hits, 0);
  atomic_store(&failing, n);
  run(stretch->go);
  atomic_store(&failing, 0);
  if (atomic_load(&hits) == 0) return 0;
  report->points++;
  long after = all_outstanding();
  if (!is_cold && after > *before) {
    char text[80];
    snprintf(text, sizeof text, "%ld allocations before, %ld after", *before, after);
    problem("memory", text);
    *before = after;
  }
  each_file(walk.store, look);
  return 1;
}

/* Makes the n-th allocation fail, for n = first, first + step, … up to last; with cold, only for the first n.
 * Returns whether there is a next n. */
static int child(const struct stretch *stretch, long first, long step, long last) {
  if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, curl_own_malloc, curl_own_free, curl_own_realloc, curl_own_strdup,
                           curl_own_calloc) != CURLE_OK)
    abort();
  long before = 0, n = first;
  int is_more = 1;
  report->at = report->is_told = 0;
  alarm(300);
  if (is_cold) {
    /* Initializes OpenSSL first, because OpenSSL does not recover if its initialization fails. */
    unsigned char byte;
    OPENSSL_init_crypto(0, NULL);
    RAND_bytes(&byte, 1);
    is_more = disturb(stretch, n, &before);
    report->lost += report->is_lost;
    if (!report->is_lost) run(whole_walk); /* no allocation fails now: everything works again */
  } else {
    if (stretch->is_within) run(enter_undisturbed);
    /* The first two runs make the allocations that are made only once. */
    for (int times = 0; times < 2; times++) run(stretch->go);
    for (before = all_outstanding(); n <= last && is_more; n += step) is_more = disturb(stretch, n, &before);
    if (stretch->is_within) run(leave_undisturbed);
  }
  return is_more;
}

/* Checks that the next process works, after OpenSSL lost an algorithm in the previous process. - Returns: 1.
   */
static int next_process_works(void) {
  report->is_lost = 0;
  fflush(stdout);
  pid_t process = fork();
  if (process == 0) {
    alarm(300);
    run(whole_walk);
    exit(report->is_told);
  }
  int status = 0;
  waitpid(process, &status, 0);
  if (status != 0) problem("the next process", "it could not go on");
  return 1;
}

int main(int count, char **arguments) {
  if (count < 9) return 2;
  for (target = 0; target < LIBRARIES && strcmp(library_names[target], arguments[1]) != 0;) target++;
  const struct stretch *stretch = stretches, *end = stretches + sizeof stretches / sizeof *stretches;
  while (stretch != end && strcmp(stretch->name, arguments[3]) != 0) stretch++;
  if (target == LIBRARIES || stretch == end) return 2;
  is_forever = strcmp(arguments[2], "forever") == 0;
  is_cold = strcmp(arguments[2], "cold") == 0;
  walk.issuer = arguments[4];
  walk.configuration = arguments[5];
  char store[4096], name[80];
  walk.store = store;
  snprintf(name, sizeof name, "%s %s %s", arguments[1], arguments[2], arguments[3]);
  label = name;
  long first = atol(arguments[7]), step = atol(arguments[8]), last = count > 9 ? atol(arguments[9]) : 1000000;
  json_set_alloc_funcs(jansson_malloc, jansson_free);
  if (!CRYPTO_set_mem_functions(openssl_malloc, openssl_realloc, openssl_free)) abort();
  report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int is_more = 1; first <= last && is_more;) {
    snprintf(store, sizeof store, "%s/%ld", arguments[6], first);
    mkdir(store, 0700);
    fflush(stdout);
    pid_t process = fork();
    if (process == 0) exit(child(stretch, first, step, last) ? 0 : 1);
    int status = 0;
    waitpid(process, &status, 0);
    is_more = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (report->is_lost && is_more) is_more = next_process_works();
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
      char text[64];
      snprintf(text, sizeof text, "%s %d", WIFSIGNALED(status) ? "signal" : "exit",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
      report->is_told = 0;
      problem("the process ended badly", text);
      /* A process that exits by itself has tried every n. A crash before the first n has another cause. */
      is_more = WIFSIGNALED(status) && report->at != 0;
    }
    first = (report->at != 0 ? report->at : first) + step;
    each_file(store, erase);
    rmdir(store);
  }
  printf("{\"points\": %ld, \"bad\": %ld, \"signInsAgain\": %d, \"lost\": %ld, \"failures\": {", report->points,
         report->bad, report->sign_ins_again, report->lost);
  const char *comma = "";
  for (int number = 0; number < STATUSES; number++)
    if (report->failures[number]) {
      printf("%s\"%s\": %d", comma, enroll_status_name(-number), report->failures[number]);
      fprintf(stderr, "%s: %s\n", enroll_status_name(-number), report->example[number]);
      comma = ", ";
    }
  printf("}}\n");
  return report->bad != 0;
}
