// libcurl's declarations, for EnrollHost and EnrollGatewayMail. libcurl itself is not linked, but opened at first use.
// One struct holds the functions that dlsym finds. Each call goes through a `static inline` function here, with the
// type that the variadic curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt expect.
#ifndef ENROLL_CCURL_SHIM_H
#define ENROLL_CCURL_SHIM_H
#define CURL_DISABLE_TYPECHECK
#include <arpa/inet.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ENROLL_CURL_FUNCTIONS(each) \
  each(global_init) each(easy_init) each(easy_cleanup) each(easy_setopt) each(easy_getinfo) each(easy_strerror) \
  each(multi_init) each(multi_cleanup) each(multi_setopt) each(multi_add_handle) \
  each(multi_remove_handle) each(multi_perform) each(multi_poll) each(multi_info_read) each(slist_append) \
  each(slist_free_all) each(easy_pause)

struct enroll_curl {
#define ENROLL_CURL_FIELD(name) __typeof__(&curl_##name) name;
  ENROLL_CURL_FUNCTIONS(ENROLL_CURL_FIELD)
#undef ENROLL_CURL_FIELD
  // The function SSL_CTX_set_keylog_callback of the OpenSSL that libcurl uses. NULL if libcurl uses another TLS
  // library.
  void (*set_key_log)(void *context, void *callback);
  // Whether SSLKEYLOGFILE named a file when libcurl was initialised: libcurl reads that variable only then.
  int found_key_log;
};

// Whether the environment variable SSLKEYLOGFILE names a file, to which TLS libraries write the secrets of every
// connection.
static inline int enroll_curl_is_key_log_wanted(void) {
  const char *path = getenv("SSLKEYLOGFILE");
  return path && *path;
}

// Finds every function of the library. Returns the name of the first function that is missing; NULL if the library has
// all of them.
static inline const char *enroll_curl_bind(void *library, struct enroll_curl *curl) {
#define ENROLL_CURL_BIND(name) \
  curl->name = (__typeof__(curl->name))dlsym(library, "curl_" #name); \
  if (!curl->name) return "curl_" #name;
  ENROLL_CURL_FUNCTIONS(ENROLL_CURL_BIND)
#undef ENROLL_CURL_BIND
  // dlsym on a library's handle also finds functions of the libraries that it depends on.
  curl->set_key_log = (__typeof__(curl->set_key_log))dlsym(library, "SSL_CTX_set_keylog_callback");
  return NULL;
}

static inline CURLcode enroll_curl_global_init(struct enroll_curl *curl) {
  curl->found_key_log = enroll_curl_is_key_log_wanted();
  return curl->global_init(CURL_GLOBAL_DEFAULT);
}
static inline const char *enroll_curl_strerror(const struct enroll_curl *curl, CURLcode code) {
  return curl->easy_strerror(code);
}

static inline CURL *enroll_curl_easy_init(const struct enroll_curl *curl) { return curl->easy_init(); }
static inline void enroll_curl_easy_cleanup(const struct enroll_curl *curl, CURL *easy) { curl->easy_cleanup(easy); }

static inline CURLcode enroll_curl_set_long(const struct enroll_curl *curl, CURL *easy, CURLoption option, long value) {
  return curl->easy_setopt(easy, option, value);
}
static inline CURLcode enroll_curl_set_offset(const struct enroll_curl *curl, CURL *easy, CURLoption option, int64_t value) {
  return curl->easy_setopt(easy, option, (curl_off_t)value);
}
// Sets the option to a copy of the text. NULL clears the option.
static inline CURLcode enroll_curl_set_text(const struct enroll_curl *curl, CURL *easy, CURLoption option, const char *value) {
  return curl->easy_setopt(easy, option, value);
}
// Sets the option to this memory, which must stay valid until the option is set again or the handle is cleaned up.
static inline CURLcode enroll_curl_set_memory(const struct enroll_curl *curl, CURL *easy, CURLoption option, const void *value) {
  return curl->easy_setopt(easy, option, value);
}
static inline CURLcode enroll_curl_set_list(const struct enroll_curl *curl, CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl->easy_setopt(easy, option, value);
}
static inline CURLcode enroll_curl_set_receiver(
    const struct enroll_curl *curl, CURL *easy, CURLoption option, curl_write_callback value) {
  return curl->easy_setopt(easy, option, value);
}
static inline CURLcode enroll_curl_set_sender(const struct enroll_curl *curl, CURL *easy, curl_read_callback value) {
  return curl->easy_setopt(easy, CURLOPT_READFUNCTION, value);
}
static inline CURLcode enroll_curl_set_socket_opener(
    const struct enroll_curl *curl, CURL *easy, curl_opensocket_callback value) {
  return curl->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode enroll_curl_set_socket_closer(
    const struct enroll_curl *curl, CURL *easy, curl_closesocket_callback value) {
  return curl->easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, value);
}
// Sets the allowed protocols for a libcurl before 7.85, which accepts protocols only as a bit mask.
static inline CURLcode enroll_curl_set_protocol_bits(const struct enroll_curl *curl, CURL *easy) {
  long option = 181;  // CURLOPT_PROTOCOLS, whose name is deprecated
  return curl->easy_setopt(easy, (CURLoption)option, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
}
// Turns the key log off for one connection. libcurl calls this function with the connection's SSL_CTX, after it has
// configured the SSL_CTX and before it sends anything.
static inline CURLcode enroll_curl_drop_key_log(CURL *easy, void *context, void *curl) {
  (void)easy;
  ((const struct enroll_curl *)curl)->set_key_log(context, NULL);
  return CURLE_OK;
}
// Keeps the TLS secrets of this handle's connections out of the file that SSLKEYLOGFILE names. libcurl has a hook for this only
// with OpenSSL. Returns CURLE_NOT_BUILT_IN for another TLS library.
static inline CURLcode enroll_curl_forbid_key_log(const struct enroll_curl *curl, CURL *easy) {
  struct curl_tlssessioninfo *tls = NULL;
  if (!curl->set_key_log || curl->easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &tls) != CURLE_OK || !tls ||
      tls->backend != CURLSSLBACKEND_OPENSSL)
    return CURLE_NOT_BUILT_IN;
  CURLcode code = curl->easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, enroll_curl_drop_key_log);
  return code != CURLE_OK ? code : curl->easy_setopt(easy, CURLOPT_SSL_CTX_DATA, (void *)curl);
}
// Whether SSLKEYLOGFILE named a file when libcurl was initialised, or names a file now. libcurl or its TLS library may
// then write TLS secrets to that file.
static inline int enroll_curl_logs_keys(const struct enroll_curl *curl) {
  return curl->found_key_log || enroll_curl_is_key_log_wanted();
}
static inline CURLcode enroll_curl_get_long(const struct enroll_curl *curl, CURL *easy, CURLINFO info, long *value) {
  return curl->easy_getinfo(easy, info, value);
}

// Gets a time in microseconds, for the CURLINFO values whose names end in _T.
static inline CURLcode enroll_curl_get_time(
    const struct enroll_curl *curl, CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl->easy_getinfo(easy, info, value);
}

// The socket of the connection that libcurl keeps after this handle's transfer; -1 if it keeps none.
static inline int enroll_curl_kept_socket(const struct enroll_curl *curl, CURL *easy) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  return curl->easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? socket : -1;
}
// Whether bytes, or the end of the connection, wait to be read.
static inline int enroll_curl_has_input(int socket) {
  struct pollfd waited = {.fd = socket, .events = POLLIN};
  return poll(&waited, 1, 0) > 0;
}
// Ends a connection and discards what it received, so that every later read finds its end. The socket stays open.
static inline void enroll_curl_end(int socket) {
  char bytes[4096];
  shutdown(socket, SHUT_RDWR);
  while (recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
  }
}

static inline CURLM *enroll_curl_multi_init(const struct enroll_curl *curl) { return curl->multi_init(); }
static inline void enroll_curl_multi_cleanup(const struct enroll_curl *curl, CURLM *multi) { curl->multi_cleanup(multi); }
static inline CURLMcode enroll_curl_multi_set_long(
    const struct enroll_curl *curl, CURLM *multi, CURLMoption option, long value) {
  return curl->multi_setopt(multi, option, value);
}
static inline CURLMcode enroll_curl_multi_add(const struct enroll_curl *curl, CURLM *multi, CURL *easy) {
  return curl->multi_add_handle(multi, easy);
}
static inline CURLMcode enroll_curl_multi_remove(const struct enroll_curl *curl, CURLM *multi, CURL *easy) {
  return curl->multi_remove_handle(multi, easy);
}
static inline CURLMcode enroll_curl_multi_perform(const struct enroll_curl *curl, CURLM *multi, int *running) {
  return curl->multi_perform(multi, running);
}
// Waits until the transfer can continue, `wake` is readable (-1: no descriptor), or the timeout passes.
static inline CURLMcode enroll_curl_multi_wait(
    const struct enroll_curl *curl, CURLM *multi, int wake, int timeout_milliseconds) {
  struct curl_waitfd extra = {.fd = wake, .events = CURL_WAIT_POLLIN};
  return curl->multi_poll(multi, wake < 0 ? NULL : &extra, wake < 0 ? 0 : 1, timeout_milliseconds, NULL);
}
// Returns 1 and sets `*outcome` once the only transfer of the multi handle has ended.
static inline int enroll_curl_multi_outcome(const struct enroll_curl *curl, CURLM *multi, CURLcode *outcome) {
  int left = 0;
  for (CURLMsg *message; (message = curl->multi_info_read(multi, &left));)
    if (message->msg == CURLMSG_DONE) {
      *outcome = message->data.result;
      return 1;
    }
  return 0;
}

// Waits until any transfer can continue, one of the `count` descriptors in `waits` is ready, or the timeout passes.
static inline CURLMcode enroll_curl_multi_wait_for(
    const struct enroll_curl *curl, CURLM *multi, struct curl_waitfd *waits, unsigned count, int timeout_milliseconds) {
  return curl->multi_poll(multi, waits, count, timeout_milliseconds, NULL);
}
// Returns a handle whose transfer has ended, with its outcome; NULL if no transfer has ended.
static inline CURL *enroll_curl_multi_ended(const struct enroll_curl *curl, CURLM *multi, CURLcode *outcome) {
  int left = 0;
  for (CURLMsg *message; (message = curl->multi_info_read(multi, &left));)
    if (message->msg == CURLMSG_DONE) {
      *outcome = message->data.result;
      return message->easy_handle;
    }
  return NULL;
}
// Lets a paused transfer continue. libcurl may call the receiver before this function returns.
static inline CURLcode enroll_curl_continue(const struct enroll_curl *curl, CURL *easy) {
  return curl->easy_pause(easy, CURLPAUSE_CONT);
}

// Appends a copy of `line`. Returns 0 and leaves the list unchanged if there is not enough memory.
static inline int enroll_curl_list_append(const struct enroll_curl *curl, struct curl_slist **list, const char *line) {
  struct curl_slist *longer = curl->slist_append(*list, line);
  if (!longer) return 0;
  *list = longer;
  return 1;
}
// Wipes the lines, because they contain credentials, then frees the list.
static inline void enroll_curl_list_free(const struct enroll_curl *curl, struct curl_slist *list) {
  for (struct curl_slist *item = list; item; item = item->next) {
    memset(item->data, 0, strlen(item->data));
    __asm__ volatile("" : : "r"(item->data) : "memory");  // The compiler must keep the wipe, as in COpenSSL.
  }
  curl->slist_free_all(list);
}

static inline int enroll_curl_is_loopback(const struct curl_sockaddr *address) {
  if (address->family == AF_INET) {
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->addr;
    return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
  }
  if (address->family == AF_INET6) {
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->addr;
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
  }
  return 0;
}
#endif
