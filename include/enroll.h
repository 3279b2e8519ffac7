/*
 * enroll.h - EnrollKit for C: registration and sign-in through an external browser, and a token that renews itself.
 *
 * A program signs its user in like this (Examples/sign_in.c is the whole of it, and is run by the tests):
 *
 *     enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
 *     options.configuration = "{\"issuer\":\"https://id.example\",\"clientId\":\"app\","
 *                             "\"redirectUri\":\"http://127.0.0.1/callback\"}";
 *     options.configuration_size = ENROLL_NUL_TERMINATED;
 *     options.store_directory = "/home/me/.local/share/app";
 *     options.store_directory_size = ENROLL_NUL_TERMINATED;
 *     enroll_client_new(&options, &client, &error);
 *     enroll_registration_begin(client, NULL, 30000, &transaction, &url, NULL, &error);
 *     ... open url.data in the browser ...
 *     enroll_registration_await_outcome(client, transaction.id, ENROLL_NUL_TERMINATED, 300000, &state, &error);
 *     enroll_registration_confirm(client, &state, &error);
 *     enroll_token_access(client, 0, 30000, &access, &token, &error);
 *
 * CALLS. A call that can fail returns an enroll_status: 0 is success, negative numbers are the statuses below; they are
 * stable and never reused. Arguments come in this order: receiver, inputs, outputs, error. Outputs are written only on
 * success. An output that is not wanted may be NULL unless its function says otherwise. The error, always last and
 * always optional, is filled only when the call fails. An error that was not initialized with ENROLL_ERROR_INIT fails
 * every call with ENROLL_E_INVALID_ARGUMENT: there is no place for a message.
 *
 * ARGUMENTS that many functions have. `client` is an open client. `transaction`, as text, is the `id` of an
 * enroll_transaction. `state`, an output, gets the state of the registration after the call. `user_data` is handed to
 * `callback` as it is; it may be NULL, `callback` may not. `pending`, an output, gets a handle to cancel the call with,
 * given back with enroll_pending_free. `struct_size` is the struct's size as the caller knows it. `directory` is a
 * store's, an absolute path; `keys` names its key provider, NULL: a key file in it. For `timeout_ms` see TIME, for
 * `error` CALLS.
 *
 * STRINGS IN are a pointer and a size in bytes (`url` and `url_size`): UTF-8 with no NUL inside, borrowed for the call.
 * The size may be ENROLL_NUL_TERMINATED. NULL with size 0 (or ENROLL_NUL_TERMINATED) is "not given"; NULL with another
 * size is ENROLL_E_INVALID_ARGUMENT, and so are text that is not UTF-8, text over its limit, and text that is not given
 * or is empty where it is not called optional. Limits where no other is stated: 16 KiB for a URL, 1 MiB for JSON, 4095
 * bytes for a path, 256 bytes for the rest.
 *
 * BUFFERS OUT are enroll_buf: owned by the library, terminated by a NUL that `size` does not count, given back with
 * enroll_buf_free, which wipes them first. The previous value of an output is overwritten, not freed. If you copy a
 * secret out, wipe your copy (enroll_wipe).
 *
 * STRUCTS begin with `struct_size`, which the INIT macro of each sets; zero in every other member is the default. They
 * only ever grow at the end: a newer library accepts an older, shorter struct, and writes no further than its size. A
 * longer one with a member set that this library does not know is ENROLL_E_UNSUPPORTED; one shorter than the first
 * version of the struct (struct_size never set, say) is ENROLL_E_INVALID_ARGUMENT.
 *
 * HANDLES (enroll_client, enroll_pending, enroll_queue) are numbers, not addresses: never dereferenced, looked up
 * at each call. Null, stale and doubly freed ones are ENROLL_E_HANDLE. So is a handle of another kind, and one of
 * another copy of the library in the same process.
 *
 * TIME. `timeout_ms` says for how many milliseconds a call may wait: 0 does not wait, ENROLL_NO_TIMEOUT waits as long
 * as it takes (each request ends by itself after 30 seconds), other negative numbers are ENROLL_E_INVALID_ARGUMENT. A
 * renewal that was sent is finished in the background even if its callers do not wait for it. A host's own transport
 * can make other calls later: see `send` of enroll_transport. Dates are seconds since 1970-01-01T00:00:00Z.
 *
 * THREADS. Every function may be called from any thread at any time, also with one client from many threads, and also
 * while another thread frees that client: a call under way keeps what it uses. Nothing here is safe in a signal
 * handler. No function changes signal handlers or the locale. The library's own threads block signals, but for those
 * that a fault raises; callbacks and the host's own transport, secrets, clock and log find the signal mask of the
 * thread that made the client. The stack of such a thread has the default size of the host's threads (512 KiB at
 * least). At exit() the library's threads stop before other handlers run: a client need not be freed first. After
 * fork() the child gets ENROLL_E_FORKED for every handle made before, and makes its own; or it calls exec.
 *
 * CALLBACKS of completion and of events have `user_data` first. They run on a thread of their own, or on one of the
 * host's (enroll_queue), one at a time for each client, with no lock held, and may call every function here,
 * enroll_client_free included. Each completion callback runs exactly once if its call returned ENROLL_OK, and not at
 * all otherwise; what it is handed is borrowed until it returns. Free the `user_data` of a completion in its callback,
 * or later; that of a subscription in its enroll_ended_callback, or later. A host's own transport (enroll_transport),
 * secrets (enroll_secret_store), clock (enroll_clock) and log (enroll_log) are different: they run inside a call, so
 * they may call only functions that take no client; the others, enroll_client_new and enroll_queue_dispatch answer
 * ENROLL_E_REENTRANT.
 *
 * STATUSES in the descriptions below: "[call]" stands for ENROLL_E_HANDLE, ENROLL_E_FORKED, ENROLL_E_REENTRANT and
 * ENROLL_E_INVALID_ARGUMENT (the message names the argument); "[store]" for the seven ENROLL_E_STORE_* and for
 * ENROLL_E_BUSY (its lock was held for 30 seconds); "[network]" for ENROLL_E_NETWORK, ENROLL_E_TLS, ENROLL_E_TIMEOUT,
 * ENROLL_E_SERVER, ENROLL_E_RESPONSE_INVALID, ENROLL_E_ISSUER_MISMATCH and ENROLL_E_CONFIGURATION (`caFile` cannot be
 * read); "[wait]" for ENROLL_E_DEADLINE_EXCEEDED and ENROLL_E_CANCELLED (the client was freed, or the pending call was
 * cancelled). Any call may return ENROLL_E_INTERNAL, ENROLL_E_OUT_OF_MEMORY or, if a library that is opened when needed
 * is missing, ENROLL_E_UNSUPPORTED.
 *
 * COMMAND names the command of the manifest that a function runs: the daemon's method, and enroll_call's. SOURCE names
 * the specification that a function or member speaks of; what names none is this library's own.
 *
 * OTHER LIBRARIES. jansson is linked. OpenSSL 3 (libcrypto.so.3) and libcurl (libcurl.so.4 or libcurl-gnutls.so.4) are
 * opened when they are first needed, and never closed; where one is missing, what needs it is ENROLL_E_UNSUPPORTED.
 * libsecret (libsecret-1.so.0) is opened only where its keyring was asked for (ENROLL_KEYS_*). These are the names on
 * Linux.
 *
 * SINCE. Everything here is there since version 0.1.0 unless it says otherwise. A program that was built with this
 * header runs with every later library of the same soname, libenroll.so.0: what may change, and what may not, is in
 * docs/abi.md.
 */
#ifndef ENROLL_H
#define ENROLL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Statuses ------------------------------------------------------------------------------------------------- */

/** The result of a call: ENROLL_OK or one of ENROLL_E_*. */
typedef int32_t enroll_status;

/** Success. */
#define ENROLL_OK 0
/* <generated by `make generate`> */
/** An argument is missing, of the wrong type or out of range. */
#define ENROLL_E_INVALID_ARGUMENT (-1)
/** The handle is null, stale or already freed. */
#define ENROLL_E_HANDLE (-2)
/** A host callback called back into the library. */
#define ENROLL_E_REENTRANT (-3)
/** The process forked after the client was made; open a new one in the child. */
#define ENROLL_E_FORKED (-4)
/** The caller's buffer is too small; the needed size was reported. */
#define ENROLL_E_BUFFER_TOO_SMALL (-5)
/** The call was cancelled. */
#define ENROLL_E_CANCELLED (-6)
/** The caller's deadline passed first. */
#define ENROLL_E_DEADLINE_EXCEEDED (-7)
/** Too many calls run at once; try again. */
#define ENROLL_E_BUSY (-8)
/** This build, this machine or this provider does not support it. */
#define ENROLL_E_UNSUPPORTED (-9)
/** The registration's state does not allow the call. */
#define ENROLL_E_ILLEGAL_STATE (-10)
/** No such command, account or transaction. */
#define ENROLL_E_NOT_FOUND (-11)
/** Memory ran out. */
#define ENROLL_E_OUT_OF_MEMORY (-12)
/** The configuration is invalid; the error names the key. */
#define ENROLL_E_CONFIGURATION (-20)
/** The URL is not a valid redirect. */
#define ENROLL_E_REDIRECT_MALFORMED (-21)
/** The URL is not the redirect URI of its transaction. */
#define ENROLL_E_REDIRECT_MISMATCH (-22)
/** No pending transaction asked for this URL. */
#define ENROLL_E_UNSOLICITED (-23)
/** The transaction was settled before. */
#define ENROLL_E_ALREADY_SETTLED (-24)
/** The transaction's deadline has passed; begin again. */
#define ENROLL_E_TRANSACTION_EXPIRED (-25)
/** The other app is not on this device. */
#define ENROLL_E_OTHER_APP_MISSING (-26)
/** The link of an e-mail led to no sign-in: it was used elsewhere, is too old, or the user stopped; offer to
 *  sign in or to send the e-mail again. */
#define ENROLL_E_ACTIVATION_FAILED (-27)
/** The server could not be reached. */
#define ENROLL_E_NETWORK (-30)
/** The server's certificate is not trusted. */
#define ENROLL_E_TLS (-31)
/** The server did not answer in time. */
#define ENROLL_E_TIMEOUT (-32)
/** The server failed or is overloaded (5xx or 429). */
#define ENROLL_E_SERVER (-33)
/** The server's response violates the protocol. */
#define ENROLL_E_RESPONSE_INVALID (-34)
/** The provider refused; its error code is given. */
#define ENROLL_E_OAUTH (-35)
/** prompt=none, but the user is not signed in at the provider. */
#define ENROLL_E_LOGIN_REQUIRED (-36)
/** prompt=none, but the provider needs the user. */
#define ENROLL_E_INTERACTION_REQUIRED (-37)
/** prompt=none, but the user has to consent. */
#define ENROLL_E_CONSENT_REQUIRED (-38)
/** The user or the provider denied access. */
#define ENROLL_E_ACCESS_DENIED (-39)
/** The issuer is not the configured one. */
#define ENROLL_E_ISSUER_MISMATCH (-40)
/** The one-time code is wrong or too old; ask the user for it again. */
#define ENROLL_E_CODE_REJECTED (-41)
/** The issuer's keys could not be fetched. */
#define ENROLL_E_KEYS_UNAVAILABLE (-50)
/** The id_token breaks a rule; the message names it. */
#define ENROLL_E_ID_TOKEN_INVALID (-51)
/** Two sources disagree about who the user is. */
#define ENROLL_E_PROFILE_MISMATCH (-52)
/** The e-mail address is not verified; verify it and confirm again. */
#define ENROLL_E_EMAIL_NOT_VERIFIED (-53)
/** The registration check knows no such account; the host can offer to create one. */
#define ENROLL_E_UNKNOWN_ACCOUNT (-54)
/** The session is over; sign in again. */
#define ENROLL_E_REAUTHENTICATE (-60)
/** The provider refused to renew, without ending the session. */
#define ENROLL_E_REJECTED (-61)
/** The token expired and could not be renewed yet. */
#define ENROLL_E_EXPIRED (-62)
/** The store is locked: its key is unavailable. */
#define ENROLL_E_STORE_LOCKED (-70)
/** A file of the store is damaged; the message names it. */
#define ENROLL_E_STORE_CORRUPT (-71)
/** The store's owner, permissions or file type are not safe. */
#define ENROLL_E_STORE_REFUSED (-72)
/** The store could not be read or written. */
#define ENROLL_E_STORE_IO (-73)
/** No space is left for the store. */
#define ENROLL_E_STORE_FULL (-74)
/** The key does not belong to this store. */
#define ENROLL_E_STORE_KEY (-75)
/** The store was written by a newer version. */
#define ENROLL_E_STORE_VERSION (-76)
/** The text is not valid JSON, or exceeds a limit. */
#define ENROLL_E_JSON (-80)
/** A bug in this library; please report it. */
#define ENROLL_E_INTERNAL (-99)
/* </generated by `make generate`> */

/* The party that can fix a failure. */
/** Nobody's. */
#define ENROLL_BLAME_NONE 0
/** The program's that called: an argument, an order of calls. */
#define ENROLL_BLAME_CALLER 1
/** The app's or the device's: its configuration, its disk. */
#define ENROLL_BLAME_HOST 2
/** The user's, who can do something about it. */
#define ENROLL_BLAME_USER 3
/** The provider's, or that of whoever answered in its place. */
#define ENROLL_BLAME_SERVER 4
/** That of the way to the provider, or from it. */
#define ENROLL_BLAME_NETWORK 5
/** This library's. */
#define ENROLL_BLAME_INTERNAL 6

/** The size of a string that ends at its NUL. */
#define ENROLL_NUL_TERMINATED ((size_t)-1)
/** A `timeout_ms` without a limit. */
#define ENROLL_NO_TIMEOUT (-1)

/* Sizes of the character arrays below, in bytes, the terminating NUL included. */
/** Of `message` and `reason_message`. */
#define ENROLL_MESSAGE_CAPACITY 512
/** Of `field`. */
#define ENROLL_FIELD_CAPACITY 64
/** Of `oauth_error` and `reason_oauth_error`. */
#define ENROLL_OAUTH_ERROR_CAPACITY 64
/** Of a transaction's `id`. */
#define ENROLL_TRANSACTION_CAPACITY 48
/** Of `user_code`. */
#define ENROLL_USER_CODE_CAPACITY 64
/** Of `verification_uri`. */
#define ENROLL_VERIFICATION_URI_CAPACITY 512
/** Of `token_type`. */
#define ENROLL_TOKEN_TYPE_CAPACITY 32
/** Of `code_verifier` and `code_challenge`. */
#define ENROLL_PKCE_CAPACITY 48

/** The name of a `status` as it is written in JSON: "storeLocked"; "ok" for ENROLL_OK; "unknown" for any other number.
 *  Never NULL; static, not to be freed. */
const char *enroll_status_name(enroll_status status);

/** One English sentence about a `status`, for logs. Never NULL; static, not to be freed. */
const char *enroll_status_summary(enroll_status status);

/** ENROLL_BLAME_* of a `status`; ENROLL_BLAME_NONE for ENROLL_OK and unknown numbers. */
int32_t enroll_status_blame(enroll_status status);

/** 1 when the same call may succeed later without anybody changing anything, else 0; 0 for unknown numbers of
 *  `status`. For a call that failed see `is_retryable` of its error, which knows more: an attempt to sign in that has
 *  ended is not retryable, whatever its status. */
int32_t enroll_status_is_retryable(enroll_status status);

/** The name of `blame`, ENROLL_BLAME_*, as it is written in JSON: "server"; "none" for ENROLL_BLAME_NONE, "unknown"
 *  for any other number. Never NULL; static, not to be freed. */
const char *enroll_blame_name(int32_t blame);

/* ---- Errors --------------------------------------------------------------------------------------------------- */

/** Why a call failed; the caller's own memory, never freed by the library. No text in it holds a secret. */
typedef struct enroll_error {
  /** sizeof(enroll_error): ENROLL_ERROR_INIT sets it. */
  size_t struct_size;
  /** The status that the call returned. */
  enroll_status status;
  /** ENROLL_BLAME_*. */
  int32_t blame;
  /** 1 when the same call may succeed later; 0 when it ended an attempt to sign in: begin again. */
  int32_t is_retryable;
  /** Status of the HTTP response that caused it; 0 for none. */
  int32_t http_status;
  /** Why renewing failed, with ENROLL_E_EXPIRED and ENROLL_E_REJECTED; ENROLL_OK for none. */
  enroll_status reason;
  /** Zero. */
  int32_t reserved;
  /** Seconds that the server asked us to wait; 0 for none. */
  int64_t retry_after_seconds;
  /** The provider's own error code (RFC 6749 5.2); empty for none. Longer ones are cut. */
  char oauth_error[ENROLL_OAUTH_ERROR_CAPACITY];
  /** The configuration key or the argument at fault; empty for none. */
  char field[ENROLL_FIELD_CAPACITY];
  /** What happened, what was expected and what to do, in English, for a log. Cut at a character's boundary. */
  char message[ENROLL_MESSAGE_CAPACITY];
} enroll_error;

/* clang-format off */
#define ENROLL_ERROR_INIT {sizeof(enroll_error), 0, 0, 0, 0, 0, 0, 0, {0}, {0}, {0}}
/* clang-format on */

/** Does what ENROLL_ERROR_INIT does, for languages without macros: zeroes `struct_size` bytes of `error` and sets its
 *  struct_size. NULL, and a size below that of size_t or over 64 KiB, do nothing. */
void enroll_error_init(enroll_error *error, size_t struct_size);

/* ---- Buffers -------------------------------------------------------------------------------------------------- */

/** Bytes that belong to the library. */
typedef struct enroll_buf {
  /** The bytes, followed by a NUL; NULL in an empty buffer that was never filled. */
  const char *data;
  /** Bytes in `data`, without the NUL. */
  size_t size;
  /** The library's own. */
  uintptr_t owner;
} enroll_buf;

/* clang-format off */
#define ENROLL_BUF_INIT {NULL, 0, 0}
/* clang-format on */

/** Wipes and frees the bytes, and empties `buffer`. NULL, empty and already freed buffers (copies of the struct
 *  included) do nothing. A buffer that is filled again without being freed first leaks its old bytes. */
void enroll_buf_free(enroll_buf *buffer);

/** Overwrites `size` bytes of `memory` with zeros in a way that compilers do not remove. NULL or 0 does nothing. */
void enroll_wipe(void *memory, size_t size);

/** Switches core dumps of this process off, and debuggers of the same user, until it runs another program. The library
 *  never does that by itself: it is for programs that nobody has to debug where they run. enrolld does it.
 *  Returns ENROLL_OK; ENROLL_E_UNSUPPORTED (the system refuses); ENROLL_E_INVALID_ARGUMENT. */
enroll_status enroll_hide_memory(enroll_error *error);

/* ---- Versions and constants ----------------------------------------------------------------------------------- */

/** The interface that this header describes: major * 65536 + minor. A library with the same major and at least this
 *  minor has everything in here. */
#define ENROLL_ABI_VERSION 1

/** ENROLL_ABI_VERSION of the library that is loaded. */
uint32_t enroll_abi_version(void);

/** The library's version, "0.1.0". Never NULL; static, not to be freed. */
const char *enroll_version_string(void);

/** Every constant of this header by its `name`, for languages that cannot read macros: "ENROLL_E_HANDLE" gives -2.
 *  Sizes of structs are named like their type, "sizeof(enroll_error)". ENROLL_NUL_TERMINATED is -1 here. `value` must
 *  not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND; ENROLL_E_INVALID_ARGUMENT. */
enroll_status enroll_constant(const char *name, size_t name_size, int64_t *value);

/** The name of the constant with this `index`, counted from 0; NULL after the last. Static, not to be freed. */
const char *enroll_constant_name(size_t index);

/* ---- Clients -------------------------------------------------------------------------------------------------- */

/** One account at one provider. */
typedef struct enroll_client enroll_client;

/* Where the tokens are kept. */
/** In a directory of sealed files. */
#define ENROLL_STORE_DIRECTORY 0
/** In memory, gone with the client: for tests. */
#define ENROLL_STORE_MEMORY 1

/* The key provider of a store: what protects its key. */
/** A key file of mode 0600: `key` in the directory of the store, or `file`. Everybody who can read the user's files
 *  can read both. */
#define ENROLL_KEYS_FILE 0
/** For a store that is new or moves: the passphrase if one was given, else the Secret Service where there is one, else
 *  a key file. For any other the one that has its key. A locked keyring is not skipped:
 *  ENROLL_E_STORE_LOCKED. */
#define ENROLL_KEYS_AUTO 1
/** The desktop's keyring, by way of libsecret-1.so.0, opened when first needed. It brings GLib's threads into the
 *  process; nobody is asked to unlock anything. */
#define ENROLL_KEYS_SECRET_SERVICE 2
/** A passphrase that the user typed, by way of scrypt: opening takes a good part of a second and 128 MiB. */
#define ENROLL_KEYS_PASSPHRASE 3
/** The host's own secrets: Keychain, Keystore. */
#define ENROLL_KEYS_HOST 4

/** Bytes of a secret that the host keeps. */
#define ENROLL_SECRET_SIZE 32

/** The host's own HTTP; below. */
typedef struct enroll_transport enroll_transport;
/** The host's own secret store; below. */
typedef struct enroll_secret_store enroll_secret_store;
/** The host's own clock; below. */
typedef struct enroll_clock enroll_clock;
/** The host's log of what a client does; below. */
typedef struct enroll_log enroll_log;
/** Callbacks that wait for a thread of the host's; below. */
typedef struct enroll_queue enroll_queue;

/** The key provider of a store: what protects its key. */
typedef struct enroll_keys {
  /** sizeof(enroll_keys): ENROLL_KEYS_INIT sets it. */
  size_t struct_size;
  /** ENROLL_KEYS_*. */
  int32_t provider;
  /** Zero. */
  int32_t reserved;
  /** How long the opened key is remembered in the kernel's keyring for other processes of the user; 0: not at all. At
   *  most a week. Where the kernel refuses, nothing is remembered. */
  int64_t session_cache_seconds;
  /** ENROLL_KEYS_FILE: an absolute path. Optional: `key` in the directory of the store. */
  const char *file;
  size_t file_size;
  /** ENROLL_KEYS_PASSPHRASE, ENROLL_KEYS_AUTO: the passphrase, at most 1024 bytes. Optional: without it a store
   *  that has a passphrase stays locked. */
  const char *passphrase;
  size_t passphrase_size;
  /** ENROLL_KEYS_HOST: required there, NULL otherwise. */
  const enroll_secret_store *host;
} enroll_keys;

/* clang-format off */
#define ENROLL_KEYS_INIT {sizeof(enroll_keys), 0, 0, 0, NULL, 0, NULL, 0, NULL}
/* clang-format on */

/** Does what ENROLL_KEYS_INIT does for `keys`, as enroll_error_init. */
void enroll_keys_init(enroll_keys *keys, size_t struct_size);

/** The options of a client. enroll_client_new copies all of them. */
typedef struct enroll_client_options {
  /** sizeof(enroll_client_options): ENROLL_CLIENT_OPTIONS_INIT sets it. */
  size_t struct_size;
  /** The configuration as a JSON object: `issuer`, `clientId`, `redirectUri`, … At most 1 MiB. Required. */
  const char *configuration;
  size_t configuration_size;
  /** The directory of the store, an absolute path whose parent exists: made with mode 0700 where it is missing. At
   *  most 4095 bytes. Required with ENROLL_STORE_DIRECTORY, not allowed otherwise. */
  const char *store_directory;
  size_t store_directory_size;
  /** The account's name: 1 to 128 bytes without control characters. Optional: "default". The same name at another
   *  issuer or for another client id is another account. */
  const char *account;
  size_t account_size;
  /** ENROLL_STORE_*. */
  int32_t store;
  /** 1: the platform is not a native app; the configured stand-in token is used. 0: it is. */
  int32_t is_not_native;
  /** 1: calls that ask for the registration wait until enroll_platform_ready. 0: they do not. */
  int32_t waits_for_platform;
  /** 1: tokens are renewed in the background, shortly before they are due, until enroll_client_free. 0: the
   *  first call that finds them due renews them. */
  int32_t renews_in_background;
  /** The kind of device or page. Optional, as the next four members: facts about the device, given by the host. */
  const char *platform_type;
  size_t platform_type_size;
  /** The host's own version. Optional. */
  const char *app_version;
  size_t app_version_size;
  /** The host's own name for this device; the library reads no hardware. Optional. */
  const char *device_id;
  size_t device_id_size;
  /** Width of the screen in pixels; 0: not given. */
  int64_t platform_width;
  /** Height of the screen in pixels; 0: not given. */
  int64_t platform_height;
  /** The host's own HTTP; NULL: libcurl, opened when first needed. */
  const enroll_transport *transport;
  /** The key provider of the store; NULL: a key file in its directory. Not allowed with ENROLL_STORE_MEMORY. */
  const enroll_keys *keys;
  /** The host's own clock; NULL: the system's. */
  const enroll_clock *clock;
  /** The log of what the client does; NULL: none. */
  const enroll_log *log;
  /** Where the client's callbacks wait until the host runs them (enroll_queue_dispatch). It is not copied, and may be
   *  freed before the client. NULL: they run on a thread of the client's own. */
  enroll_queue *queue;
} enroll_client_options;

/* clang-format off */
#define ENROLL_CLIENT_OPTIONS_INIT \
  {sizeof(enroll_client_options), NULL, 0, NULL, 0, NULL, 0, 0, 0, 0, 0, NULL, 0, NULL, 0, NULL, 0, 0, 0, NULL, NULL, \
   NULL, NULL, NULL}
/* clang-format on */

/** Does what ENROLL_CLIENT_OPTIONS_INIT does for `options`, as enroll_error_init. */
void enroll_client_options_init(enroll_client_options *options, size_t struct_size);

/** Opens a client. Sends no request. `options` and `client` must not be NULL; `*client` is given back with
 *  enroll_client_free. Two clients for one account in one directory are fine, in one process or in many.
 *  Returns ENROLL_OK; ENROLL_E_CONFIGURATION (`field` names the key); ENROLL_E_JSON; [store]; ENROLL_E_UNSUPPORTED;
 *  ENROLL_E_BUSY (too many handles); [call] (ENROLL_E_HANDLE and ENROLL_E_FORKED speak of the queue).
 *  Command: client.open. */
enroll_status enroll_client_new(const enroll_client_options *options, enroll_client **client, enroll_error *error);

/** Closes a client. Calls of other threads that are waiting in it end with ENROLL_E_CANCELLED, pending ones call back
 *  with it; no callback is waited for. Nothing more is sent; requests under way end, and what servers are being told
 *  has 2 seconds. A code or a refresh token that was sent gets its answer, which is stored (30 seconds at most), so
 *  that a program may end afterwards. Then the subscriptions end (enroll_ended_callback); events that wait for their
 *  callback are not dropped. Tokens stay in the store. NULL does nothing.
 *  Returns ENROLL_OK; ENROLL_E_HANDLE (freed already, or never a client); ENROLL_E_REENTRANT. In a forked child the
 *  handle is given up, and ENROLL_E_FORKED returned.
 *  Command: client.close. */
enroll_status enroll_client_free(enroll_client *client);

/** Reports that the host's platform is ready (Cordova's `deviceready`): calls that wait for it go on. Needed only with
 *  `waits_for_platform`; harmless otherwise.
 *  Returns ENROLL_OK; [call].
 *  Command: platform.ready. */
enroll_status enroll_platform_ready(enroll_client *client, enroll_error *error);

/* ---- Pending calls -------------------------------------------------------------------------------------------- */

/** A call that was started and calls back. Needed only by those who may want to cancel: the functions that start one
 *  take NULL for it as well. */
typedef struct enroll_pending enroll_pending;

/** Asks a pending call to end; its callback then runs soon, with ENROLL_E_CANCELLED unless it was finished already.
 *  A request that was sent is not undone: a renewal goes on in the background and is stored.
 *  Returns ENROLL_OK, also when the call has ended and when it was cancelled before; ENROLL_E_HANDLE;
 *  ENROLL_E_FORKED. */
enroll_status enroll_pending_cancel(enroll_pending *pending);

/** Gives the handle back, before or after the callback. Neither cancels nor waits. NULL does nothing.
 *  Returns ENROLL_OK; ENROLL_E_HANDLE. */
enroll_status enroll_pending_free(enroll_pending *pending);

/* ---- Callbacks on a thread of the host's ---------------------------------------------------------------------- */

/** Makes a queue for a program with an event loop: callbacks of every client that was opened with it wait there, and
 *  run where enroll_queue_dispatch is called. `queue` must not be NULL; `*queue` is given back with enroll_queue_free.
 *  With poll(2), for one:
 *
 *      enroll_queue_new(&queue, &error);
 *      options.queue = queue;
 *      enroll_client_new(&options, &client, &error);
 *      enroll_queue_descriptor(queue, &polled.fd, &error);
 *      polled.events = POLLIN;
 *      while (!done) {
 *        poll(&polled, 1, -1);
 *        enroll_queue_dispatch(queue, NULL, &error);
 *      }
 *
 *  GLib takes the descriptor with g_unix_fd_add, Qt with QSocketNotifier, libuv with uv_poll_init.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many handles or descriptors); ENROLL_E_INVALID_ARGUMENT. */
enroll_status enroll_queue_new(enroll_queue **queue, enroll_error *error);

/** A `descriptor` that is readable while callbacks wait in a `queue`. It belongs to the queue: to be polled, level- or
 *  edge-triggered, and neither read nor closed. `descriptor` must not be NULL.
 *  Returns ENROLL_OK; [call]. */
enroll_status enroll_queue_descriptor(enroll_queue *queue, int32_t *descriptor, enroll_error *error);

/** Runs the callbacks that wait in a `queue` on this thread, in their order; those that come meanwhile are left for the
 *  next call. `count` gets how many ran; an event that was dropped with its subscription counts. Waits for nothing. A
 *  callback may call this again, in a loop of its own, and may free the queue.
 *  Returns ENROLL_OK, also when none waited; ENROLL_E_BUSY (another thread runs callbacks of this queue); [call]. */
enroll_status enroll_queue_dispatch(enroll_queue *queue, size_t *count, enroll_error *error);

/** Gives a `queue` back, and its descriptor. Clients that were opened with it go on: what waits, and what comes later,
 *  calls back on a thread of its own; if the system gives none, on this thread. NULL does nothing.
 *  Returns ENROLL_OK; ENROLL_E_HANDLE (freed already, or never a queue). */
enroll_status enroll_queue_free(enroll_queue *queue);

/* ---- Registration --------------------------------------------------------------------------------------------- */

/* The states of a registration. Letters A to H are those of the documentation; states between have none. */
/** The state was not requested yet, or the platform is not ready. */
#define ENROLL_STATE_STARTING 0
/** D: no token at all; present the ways to register. */
#define ENROLL_STATE_UNREGISTERED 1
/** A transaction is in progress. */
#define ENROLL_STATE_AUTHENTICATING 2
/** G: tokens arrived; show the profile and wait for the user's confirmation. */
#define ENROLL_STATE_AWAITING_CONFIRMATION 3
/** A, B, C, H: there is an access token to use. */
#define ENROLL_STATE_ACTIVE 4
/** E: the token was due and could not be renewed. */
#define ENROLL_STATE_RENEWAL_FAILED 5
/** F: the browser, link, app or code step failed. */
#define ENROLL_STATE_REGISTRATION_FAILED 6

/* The step that a transaction in progress waits for. */
/** No transaction is in progress. */
#define ENROLL_STEP_NONE 0
/** The redirect of the browser. */
#define ENROLL_STEP_BROWSER 1
/** The link in an e-mail. */
#define ENROLL_STEP_EMAIL_PENDING 2
/** The one-time code that the user types, here or on another device. */
#define ENROLL_STEP_CODE_PENDING 3
/** The return of another app. */
#define ENROLL_STEP_OTHER_APP 4
/** The provider's answer to the code: nobody has to do anything. */
#define ENROLL_STEP_EXCHANGING 5
/** The PIN over the account (enroll_pin_set). */
#define ENROLL_STEP_PIN 6

/* How a registration became active. */
/** It is not active. */
#define ENROLL_ACTIVE_REASON_NONE 0
/** A: the platform is not native, a stand-in token is used. */
#define ENROLL_ACTIVE_REASON_NOT_NATIVE 1
/** B: the access token was present and not due. */
#define ENROLL_ACTIVE_REASON_VALID 2
/** C: the token was due, and its renewal succeeded. */
#define ENROLL_ACTIVE_REASON_RENEWED 3
/** H: the user confirmed. */
#define ENROLL_ACTIVE_REASON_CONFIRMED 4

/* The remedy after a failed renewal. */
/** Nothing is needed. */
#define ENROLL_REMEDY_NONE 0
/** Retry, now or when the network is back. */
#define ENROLL_REMEDY_RETRY 1
/** Wait: the provider is failing, or asked for a pause. */
#define ENROLL_REMEDY_WAIT 2
/** Sign in again: the session has ended. */
#define ENROLL_REMEDY_REGISTER_AGAIN 3

/** The state of a registration. */
typedef struct enroll_state {
  /** sizeof(enroll_state): ENROLL_STATE_INIT sets it. */
  size_t struct_size;
  /** ENROLL_STATE_*. */
  int32_t kind;
  /** ENROLL_ACTIVE_REASON_*, while active. */
  int32_t active_reason;
  /** ENROLL_STEP_*, while authenticating. */
  int32_t step;
  /** 1 when nothing more happens until the host or the user acts. */
  int32_t is_settled;
  /** ENROLL_REMEDY_*, in E. */
  int32_t remedy;
  /** 1 when the old access token still works, in E. */
  int32_t is_token_usable;
  /** Why, in E and F; ENROLL_OK elsewhere. In F the attempt has ended, and the user begins again. */
  enroll_status reason;
  /** Status of the HTTP response behind `reason`; 0 for none. */
  int32_t reason_http_status;
  /** The transaction, while authenticating; else empty. */
  char transaction[ENROLL_TRANSACTION_CAPACITY];
  /** The provider's own error code behind `reason`; empty for none. */
  char reason_oauth_error[ENROLL_OAUTH_ERROR_CAPACITY];
  /** `reason` in words, for a log. */
  char reason_message[ENROLL_MESSAGE_CAPACITY];
} enroll_state;

/* clang-format off */
#define ENROLL_STATE_INIT {sizeof(enroll_state), 0, 0, 0, 0, 0, 0, 0, 0, {0}, {0}, {0}}
/* clang-format on */

/** Does what ENROLL_STATE_INIT does for `state`, as enroll_error_init. */
void enroll_state_init(enroll_state *state, size_t struct_size);

/** The name of `kind`, ENROLL_STATE_*, as it is written in JSON: "awaitingConfirmation", "failed" for both failures;
 *  "unknown" for any other number. Never NULL; static, not to be freed. */
const char *enroll_state_name(int32_t kind);

/** The same for `step`, ENROLL_STEP_*: "browser". Never NULL; static, not to be freed. */
const char *enroll_step_name(int32_t step);

/** The same for `active_reason`, ENROLL_ACTIVE_REASON_*: "confirmed". Never NULL; static, not to be freed. */
const char *enroll_active_reason_name(int32_t active_reason);

/** The same for `remedy`, ENROLL_REMEDY_*: "retry". Never NULL; static, not to be freed. */
const char *enroll_remedy_name(int32_t remedy);

/** Reads the state of the registration; the first call starts it: a session whose token is due is renewed, and, with
 *  `waits_for_platform`, the platform is waited for, no longer than `timeout_ms`; with 0 milliseconds the state is
 *  ENROLL_STATE_STARTING meanwhile. With `wait` 1 it answers once the state is settled, so that nothing happens until
 *  the host or the user acts; with 0 it tells of a transaction that is under way, too. That may be one which an earlier
 *  run of the program left in the browser: a program that starts asks with 0, and lets the user begin anew.
 *  Returns ENROLL_OK; [store]; [wait]; [call].
 *  Command: registration.state. */
enroll_status enroll_registration_state(enroll_client *client, int32_t wait, int64_t timeout_ms, enroll_state *state,
                                        enroll_error *error);

/* The kind of transaction to begin. */
/** A sign-in in the browser. */
#define ENROLL_KIND_SIGN_IN 0
/** A registration, as the configuration's `registration` says. */
#define ENROLL_KIND_REGISTER 1
/** A one-time code or a link, by e-mail or SMS. */
#define ENROLL_KIND_PASSWORDLESS 2
/** With the help of another app. */
#define ENROLL_KIND_APP2APP 3
/** Through the host's own back end. */
#define ENROLL_KIND_BFF 4
/** With a browser on another device (RFC 8628). */
#define ENROLL_KIND_DEVICE 5

/* The message to the recipient of ENROLL_KIND_PASSWORDLESS. */
/** A code, to be typed in the app. */
#define ENROLL_MESSAGE_CODE 0
/** A link, to be opened. */
#define ENROLL_MESSAGE_LINK 1

/** How to begin. Texts are optional, 16 KiB each at most unless stated. `scopes` are those of RFC 6749 3.3; `prompt`,
 *  `max_age_seconds` and what stands between `login_hint` and `id_token_hint` those of OpenID Connect Core 3.1.2.1. */
typedef struct enroll_begin_options {
  /** sizeof(enroll_begin_options): ENROLL_BEGIN_OPTIONS_INIT sets it. */
  size_t struct_size;
  /** ENROLL_KIND_*. */
  int32_t kind;
  /** 1: `max_age_seconds` counts. */
  int32_t has_max_age;
  /** The user must have logged in at most so many seconds ago; not negative. */
  int64_t max_age_seconds;
  /** Scopes for this call, separated by spaces, instead of the configured ones. */
  const char *scopes;
  size_t scopes_size;
  /** `none`, `login`, `consent`, `select_account`, `create`, or several separated by spaces. */
  const char *prompt;
  size_t prompt_size;
  /** The user name or address to suggest at sign-in. */
  const char *login_hint;
  size_t login_hint_size;
  /** Languages for the provider's pages, separated by spaces (BCP 47). */
  const char *ui_locales;
  size_t ui_locales_size;
  /** Authentication contexts asked for, separated by spaces. */
  const char *acr_values;
  size_t acr_values_size;
  /** An id_token of the user whose session `prompt=none` checks, for providers that need it; at most 64 KiB. */
  const char *id_token_hint;
  size_t id_token_hint_size;
  /** More authorization parameters, a JSON object of strings; at most 64 KiB. */
  const char *parameters;
  size_t parameters_size;
  /** The provider's name for the connection that the user chose; with ENROLL_KIND_BFF required, the back end's
   *  name for the provider. */
  const char *connection;
  size_t connection_size;
  /** ENROLL_KIND_PASSWORDLESS: the e-mail address that gets the code or link. */
  const char *email;
  size_t email_size;
  /** ENROLL_KIND_PASSWORDLESS: the phone number that gets the code, E.164; this or `email`. */
  const char *phone_number;
  size_t phone_number_size;
  /** ENROLL_KIND_PASSWORDLESS: ENROLL_MESSAGE_*. */
  int32_t message;
  /** 0. */
  int32_t reserved;
} enroll_begin_options;

/* clang-format off */
#define ENROLL_BEGIN_OPTIONS_INIT \
  {sizeof(enroll_begin_options), 0, 0, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, \
   NULL, 0, NULL, 0, 0, 0}
/* clang-format on */

/** Does what ENROLL_BEGIN_OPTIONS_INIT does for `options`, as enroll_error_init. */
void enroll_begin_options_init(enroll_begin_options *options, size_t struct_size);

/* The action that the host takes so that a transaction continues. */
/** Open the URL in the external browser; its redirect goes to enroll_registration_resume, or to the listener. */
#define ENROLL_ACTION_OPEN_URL 1
/** Ask the user for the one-time code that was sent, and hand it to enroll_registration_submit_code. */
#define ENROLL_ACTION_ENTER_CODE 2
/** Tell the user to open the link in the e-mail that was sent; its redirect goes to enroll_registration_resume. */
#define ENROLL_ACTION_AWAIT_LINK 5
/** Open the URL, a link of another app; its way back goes to enroll_registration_resume. */
#define ENROLL_ACTION_OPEN_OTHER_APP 3
/** Show the user `user_code` and `verification_uri`, to be typed in a browser elsewhere, and call
 *  enroll_registration_await_outcome, which asks the provider meanwhile (RFC 8628). The URL is the same address, with
 *  the code in it where the provider gives one: for a QR code. */
#define ENROLL_ACTION_SHOW_DEVICE_CODE 4

/** A transaction that has begun. */
typedef struct enroll_transaction {
  /** sizeof(enroll_transaction): ENROLL_TRANSACTION_INIT sets it. */
  size_t struct_size;
  /** ENROLL_ACTION_*. */
  int32_t action;
  /** 0: the redirect comes to a listener of this process and is lost with it (RFC 8252 7.3): use
   *  enroll_registration_await_outcome. 1: any process with the store may take the redirect, by
   *  enroll_registration_resume. */
  int32_t survives_process;
  /** When it expires: seconds since 1970. */
  int64_t expires_at;
  /** Its id. */
  char id[ENROLL_TRANSACTION_CAPACITY];
  /** ENROLL_ACTION_SHOW_DEVICE_CODE: what the user types (RFC 8628 3.2). */
  char user_code[ENROLL_USER_CODE_CAPACITY];
  /** ENROLL_ACTION_SHOW_DEVICE_CODE: where the user types it. */
  char verification_uri[ENROLL_VERIFICATION_URI_CAPACITY];
} enroll_transaction;

/* clang-format off */
#define ENROLL_TRANSACTION_INIT {sizeof(enroll_transaction), 0, 0, 0, {0}, {0}, {0}}
/* clang-format on */

/** Does what ENROLL_TRANSACTION_INIT does for `transaction`, as enroll_error_init. */
void enroll_transaction_init(enroll_transaction *transaction, size_t struct_size);

/** Begins a transaction: discovers the provider, stores the transaction, and says which URL to open in the browser.
 *  For a loopback redirect it also opens the listener. `options` may be NULL: a sign-in with the configured scopes.
 *  `transaction` says what the host has to do next. `url` must not be NULL. `redirect_uri` is the one that was sent, a
 *  chosen port included.
 *  Where the provider takes pushed requests the URL carries only their name, and what it refuses is told here.
 *  Returns ENROLL_OK; ENROLL_E_ILLEGAL_STATE; ENROLL_E_UNSUPPORTED (kind, or what the configuration insists on);
 *  ENROLL_E_CONFIGURATION (it has no key for this kind); ENROLL_E_JSON (`parameters`); ENROLL_E_BUSY (the port of the
 *  loopback redirect is taken); ENROLL_E_OAUTH (a pushed request was refused); [network]; [store]; [wait]; [call].
 *  Command: registration.begin. Source: RFC 6749 4.1.1, RFC 7636, RFC 8252, RFC 9126. */
enroll_status enroll_registration_begin(enroll_client *client, const enroll_begin_options *options, int64_t timeout_ms,
                                        enroll_transaction *transaction, enroll_buf *url, enroll_buf *redirect_uri,
                                        enroll_error *error);

/** Takes the redirect back: verifies it, exchanges the code, validates the id_token, stores the tokens. A URL that no
 *  pending transaction asked for has no effect at all. When the provider or a rule refuses, the transaction is settled
 *  as failed, the call returns that failure, and the state is F.
 *  Returns ENROLL_OK; ENROLL_E_REDIRECT_MALFORMED; ENROLL_E_REDIRECT_MISMATCH; ENROLL_E_UNSOLICITED;
 *  ENROLL_E_ALREADY_SETTLED; ENROLL_E_TRANSACTION_EXPIRED; ENROLL_E_ACCESS_DENIED; ENROLL_E_LOGIN_REQUIRED;
 *  ENROLL_E_INTERACTION_REQUIRED; ENROLL_E_CONSENT_REQUIRED; ENROLL_E_OAUTH; ENROLL_E_ACTIVATION_FAILED (after the link
 *  of an e-mail); ENROLL_E_ID_TOKEN_INVALID; ENROLL_E_KEYS_UNAVAILABLE; ENROLL_E_PROFILE_MISMATCH;
 *  ENROLL_E_ILLEGAL_STATE; [network]; [store]; [wait]; [call].
 *  Command: registration.resume. Source: RFC 6749 4.1.2, RFC 9207, OpenID Connect Core 3.1.3.7. */
enroll_status enroll_registration_resume(enroll_client *client, const char *url, size_t url_size, int64_t timeout_ms,
                                         enroll_state *state, enroll_error *error);

/** As enroll_registration_resume, for a URL that the host takes for the return of this transaction. Needed only for
 *  returns without `state` (ENROLL_KIND_APP2APP) when several transactions of that kind are pending; with a `state`
 *  in the URL, it must be that transaction's.
 *  Returns what enroll_registration_resume returns; ENROLL_E_NOT_FOUND.
 *  Command: registration.resume. */
enroll_status enroll_registration_resume_transaction(enroll_client *client, const char *transaction,
                                                     size_t transaction_size, const char *url, size_t url_size,
                                                     int64_t timeout_ms, enroll_state *state, enroll_error *error);

/** Takes the one-time `code` that the user typed after ENROLL_ACTION_ENTER_CODE; at most 64 bytes.
 *  ENROLL_E_CODE_REJECTED says that it is wrong and the transaction waits for another. After five wrong ones the
 *  transaction ends with ENROLL_E_ACCESS_DENIED, or earlier as the provider says, with ENROLL_E_OAUTH. When the
 *  provider cannot be reached nothing has changed, and the code may be sent again.
 *  Returns ENROLL_OK; ENROLL_E_CODE_REJECTED; ENROLL_E_ACCESS_DENIED; ENROLL_E_OAUTH; ENROLL_E_NOT_FOUND;
 *  ENROLL_E_ALREADY_SETTLED; ENROLL_E_TRANSACTION_EXPIRED; ENROLL_E_ILLEGAL_STATE; ENROLL_E_ID_TOKEN_INVALID;
 *  ENROLL_E_KEYS_UNAVAILABLE; [network]; [store]; [wait]; [call].
 *  Command: registration.submitCode. */
enroll_status enroll_registration_submit_code(enroll_client *client, const char *transaction, size_t transaction_size,
                                              const char *code, size_t code_size, int64_t timeout_ms,
                                              enroll_state *state, enroll_error *error);

/** Waits until a `transaction` that comes back by itself is settled: by a loopback redirect, or by the user of another
 *  device (ENROLL_KIND_DEVICE), about whom the provider is asked as often as it allows. Any process with the store may
 *  await the latter.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND; ENROLL_E_TRANSACTION_EXPIRED; what enroll_registration_resume returns;
 *  ENROLL_E_DEADLINE_EXCEEDED (the transaction stays pending); [call].
 *  Command: registration.awaitOutcome. Source: RFC 8252 7.3, RFC 8628 3.5. */
enroll_status enroll_registration_await_outcome(enroll_client *client, const char *transaction, size_t transaction_size,
                                                int64_t timeout_ms, enroll_state *state, enroll_error *error);

/** Confirms the profile for the user: G becomes H, the provisional tokens become the session. With
 *  `requireVerifiedEmail` or `registrationCheckUri` the provider and the back end may be asked first; each request ends
 *  by itself after 30 seconds.
 *  Returns ENROLL_OK; ENROLL_E_ILLEGAL_STATE; ENROLL_E_EMAIL_NOT_VERIFIED, ENROLL_E_UNKNOWN_ACCOUNT, [network] (the
 *  state stays G); ENROLL_E_PROFILE_MISMATCH (F); ENROLL_E_OAUTH (E); [store]; [wait]; [call].
 *  Command: registration.confirm. */
enroll_status enroll_registration_confirm(enroll_client *client, enroll_state *state, enroll_error *error);

/** Another try: provisional tokens are revoked and cleared, confirmed ones survive, the next begin lets the user
 *  choose another account. Servers that cannot be reached get the revocation later.
 *  Returns ENROLL_OK; ENROLL_E_ILLEGAL_STATE; [store]; [wait]; [call].
 *  Command: registration.retry. */
enroll_status enroll_registration_retry(enroll_client *client, int64_t timeout_ms, enroll_state *state,
                                        enroll_error *error);

/** Reports that the user left the browser: only a hint, since a valid redirect that comes late still wins until the
 *  transaction's deadline. A registration waits from then on for the link in the user's e-mail
 *  (ENROLL_STEP_EMAIL_PENDING, also after the process ends); enroll_registration_retry gives that up. `transaction` is
 *  optional: without it, all pending ones are meant.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND; [store]; [call].
 *  Command: registration.cancel. */
enroll_status enroll_registration_cancel(enroll_client *client, const char *transaction, size_t transaction_size,
                                         enroll_state *state, enroll_error *error);

/** Logs out and forgets the device: as enroll_logout_begin, and what was begun before is not even known any more, and
 *  the installation id is reset. enroll_logout_told says whether the provider knows. `url`, which may be NULL, gets the
 *  URL that ends the session in the browser, or becomes empty, with size 0.
 *  Returns ENROLL_OK; [store]; [wait]; [call].
 *  Command: registration.deregister. */
enroll_status enroll_registration_deregister(enroll_client *client, int64_t timeout_ms, enroll_buf *url,
                                             enroll_state *state, enroll_error *error);

/** Reports that the link of ENROLL_ACTION_OPEN_OTHER_APP could not be opened, since no such app is on the device: the
 *  transaction is over, with F.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND; ENROLL_E_ILLEGAL_STATE (not ENROLL_KIND_APP2APP);
 *  ENROLL_E_ALREADY_SETTLED; ENROLL_E_TRANSACTION_EXPIRED; [store]; [call].
 *  Command: registration.otherAppMissing. */
enroll_status enroll_registration_other_app_missing(enroll_client *client, const char *transaction,
                                                    size_t transaction_size, enroll_state *state, enroll_error *error);

/** Empties the local state; sends nothing. For logging out see enroll_logout_begin.
 *  Returns ENROLL_OK; [store]; [call].
 *  Command: registration.clear. */
enroll_status enroll_registration_clear(enroll_client *client, enroll_state *state, enroll_error *error);

/* The kinds of URLs that reach the app. */
/** A redirect of a transaction; `state` is the registration's state now. */
#define ENROLL_URL_REGISTRATION 1
/** The callback of a logout that was begun here. */
#define ENROLL_URL_LOGOUT 2
/** No transaction asked for it; nothing changed. */
#define ENROLL_URL_UNSOLICITED 3
/** A link led on: do what `transaction` says with the URL that is handed out. */
#define ENROLL_URL_BEGUN 4
/** A link that came before, or a fallback after one was taken; nothing changed. */
#define ENROLL_URL_LINK_USED 5
/** A link that nobody waits for any more; nothing changed. */
#define ENROLL_URL_LINK_EXPIRED 6

/* The ways forward that a host may offer if a link had no effect: bits, added up. */
/** To sign in: the account may exist, the link may have been opened in another browser. */
#define ENROLL_OFFER_SIGN_IN 1
/** To register: another e-mail is sent. */
#define ENROLL_OFFER_REGISTER 2

/** Takes a `link` that reached the app: the one in the e-mail of a registration (`appLinks`), or `fallbackUri`. Each
 *  leads on once, and only while a transaction waits for it; then `kind` gets ENROLL_URL_BEGUN, `transaction` and `url`
 *  what the host must do now. Otherwise it gets ENROLL_URL_UNSOLICITED, ENROLL_URL_LINK_USED or
 *  ENROLL_URL_LINK_EXPIRED, and `offers` ENROLL_OFFER_*. `url` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_REDIRECT_MALFORMED (not a proper URL, or a token that is missing, too long or of other
 *  characters); ENROLL_E_REDIRECT_MISMATCH (no link of ours); ENROLL_E_ILLEGAL_STATE; [network] (the link is not used
 *  up); [store]; [wait]; [call].
 *  Command: registration.handleLink. Source: RFC 9700 4.11. */
enroll_status enroll_registration_handle_link(enroll_client *client, const char *link, size_t link_size,
                                              int64_t timeout_ms, int32_t *kind, int32_t *offers,
                                              enroll_transaction *transaction, enroll_buf *url, enroll_error *error);

/** Takes any `url` that reaches the app. `kind` gets ENROLL_URL_*; `state` is written for
 *  ENROLL_URL_REGISTRATION only, `transaction` and `next_url` (which may be NULL for a client without links) for
 *  ENROLL_URL_BEGUN only, `offers` where a link led nowhere. A fallback that found nobody signed in at the provider is
 *  followed by an ordinary sign-in: ENROLL_URL_BEGUN.
 *  Returns ENROLL_OK; what enroll_registration_resume and enroll_registration_handle_link return, ENROLL_E_UNSOLICITED
 *  and ENROLL_E_REDIRECT_MISMATCH excepted.
 *  Command: url.handle. */
enroll_status enroll_url_handle(enroll_client *client, const char *url, size_t url_size, int64_t timeout_ms,
                                int32_t *kind, enroll_state *state, int32_t *offers, enroll_transaction *transaction,
                                enroll_buf *next_url, enroll_error *error);

/** How a begun transaction calls back. `transaction`, `url` and `redirect_uri` are NULL unless `status` is ENROLL_OK,
 *  `error` is NULL if it is. */
typedef void (*enroll_begin_callback)(void *user_data, enroll_status status, const enroll_transaction *transaction,
                                      const char *url, const char *redirect_uri, const enroll_error *error);

/** How a state calls back. `state` is NULL unless `status` is ENROLL_OK, `error` is NULL if it is. */
typedef void (*enroll_state_callback)(void *user_data, enroll_status status, const enroll_state *state,
                                      const enroll_error *error);

/** As enroll_registration_state, but returns at once: the callback gets what that would have returned.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls: nothing will call back); [call]. */
enroll_status enroll_registration_state_start(enroll_client *client, int32_t wait, int64_t timeout_ms,
                                              enroll_state_callback callback, void *user_data, enroll_pending **pending,
                                              enroll_error *error);

/** As enroll_registration_begin, but returns at once: the callback gets what that would have returned.
 *  Returns ENROLL_OK; ENROLL_E_JSON (`parameters`); ENROLL_E_BUSY (too many pending calls: nothing will call back);
 *  [call]. */
enroll_status enroll_registration_begin_start(enroll_client *client, const enroll_begin_options *options,
                                              int64_t timeout_ms, enroll_begin_callback callback, void *user_data,
                                              enroll_pending **pending, enroll_error *error);

/** As enroll_registration_resume, but returns at once: the callback gets what that would have returned.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls: nothing will call back); [call]. */
enroll_status enroll_registration_resume_start(enroll_client *client, const char *url, size_t url_size,
                                               int64_t timeout_ms, enroll_state_callback callback, void *user_data,
                                               enroll_pending **pending, enroll_error *error);

/** As enroll_registration_await_outcome, but returns at once: the callback gets what that would have returned. Each
 *  holds a thread of the client.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls: nothing will call back); [call]. */
enroll_status enroll_registration_await_outcome_start(enroll_client *client, const char *transaction,
                                                      size_t transaction_size, int64_t timeout_ms,
                                                      enroll_state_callback callback, void *user_data,
                                                      enroll_pending **pending, enroll_error *error);

/* ---- Tokens --------------------------------------------------------------------------------------------------- */

/* The outcome with which an access token is returned. */
/** It is fresh, or was just renewed. */
#define ENROLL_ACCESS_VALID 1
/** It is due and could not be renewed (`reason`); it still works until `expires_at`. */
#define ENROLL_ACCESS_STALE 2

/** About an access token. */
typedef struct enroll_access {
  /** sizeof(enroll_access): ENROLL_ACCESS_INIT sets it. */
  size_t struct_size;
  /** ENROLL_ACCESS_*. */
  int32_t outcome;
  /** Why a stale token was not renewed; ENROLL_OK otherwise. */
  enroll_status reason;
  /** When the token ends, by this device's clock: seconds since 1970. */
  int64_t expires_at;
  /** As the server spelt it: "Bearer", "DPoP". A DPoP token goes into `Authorization: DPoP TOKEN`, beside a proof by
   *  enroll_dpop_proof. */
  char token_type[ENROLL_TOKEN_TYPE_CAPACITY];
} enroll_access;

/* clang-format off */
#define ENROLL_ACCESS_INIT {sizeof(enroll_access), 0, 0, 0, {0}}
/* clang-format on */

/** Does what ENROLL_ACCESS_INIT does for `access`, as enroll_error_init. */
void enroll_access_init(enroll_access *access, size_t struct_size);

/** Gives an access token that works: the call that hosts make before every request. A fresh one comes from
 *  memory; one that is due is renewed first, once for all threads and processes that ask at the same time.
 *  `minimum_lifetime` is how many seconds it must still live; 0 leaves that to the configured grace. `access` says what
 *  came of it. `token` must not be NULL.
 *  Returns ENROLL_OK (`access->outcome` is ENROLL_ACCESS_VALID or ENROLL_ACCESS_STALE); ENROLL_E_REAUTHENTICATE
 *  (no user is signed in, or the provider ended the session); ENROLL_E_EXPIRED (no network: try later);
 *  ENROLL_E_REJECTED; ENROLL_E_BUSY (another renewal is under way, and `timeout_ms` passed);
 *  ENROLL_E_ILLEGAL_STATE (the tokens wait for confirmation); [store]; ENROLL_E_CANCELLED; [call].
 *  Command: token.access. Source: RFC 6749 6, RFC 8707. */
enroll_status enroll_token_access(enroll_client *client, int64_t minimum_lifetime, int64_t timeout_ms,
                                  enroll_access *access, enroll_buf *token, enroll_error *error);

/** As enroll_token_access, but copies the token and a NUL into the caller's `buffer` of `capacity` bytes. With a
 *  fresh token in memory it allocates nothing, does no input or output and takes well under a microsecond. `size`
 *  gets the bytes of the token without the NUL, also with ENROLL_E_BUFFER_TOO_SMALL: then `*size + 1` bytes are
 *  needed, and the buffer's content is undefined but holds no token. `buffer` may be NULL with capacity 0, to ask for
 *  the size. `expires_at` gets when the token ends, in seconds since 1970.
 *  Returns what enroll_token_access returns; ENROLL_E_BUFFER_TOO_SMALL. */
enroll_status enroll_token_copy(enroll_client *client, int64_t minimum_lifetime, int64_t timeout_ms, char *buffer,
                                size_t capacity, size_t *size, int64_t *expires_at, enroll_error *error);

/** Renews now, whatever is left of the token: for after a resource server refused it. `access` gets the outcome.
 *  A pause that the provider asked for, or that follows its refusal, holds: nothing is sent then. `token` must not be
 *  NULL.
 *  Returns what enroll_token_access returns.
 *  Command: token.refresh. Source: RFC 6749 6, RFC 8707. */
enroll_status enroll_token_refresh(enroll_client *client, int64_t timeout_ms, enroll_access *access, enroll_buf *token,
                                   enroll_error *error);

/** For whom an access token is to be that is not the session's own (RFC 8707): `resource`, `scope` or both. Each
 *  audience has an access token of its own, kept beside the session's and renewed with the same refresh token. There
 *  are at most 16. */
typedef struct enroll_audience {
  /** sizeof(enroll_audience): ENROLL_AUDIENCE_INIT sets it. */
  size_t struct_size;
  /** The resource server: an absolute https URL without fragment, at most 2048 bytes; optional. */
  const char *resource;
  size_t resource_size;
  /** The scopes that the token is to have, of those that the user granted, separated by spaces; optional. */
  const char *scope;
  size_t scope_size;
} enroll_audience;

/* clang-format off */
#define ENROLL_AUDIENCE_INIT {sizeof(enroll_audience), NULL, 0, NULL, 0}
/* clang-format on */

/** Does what ENROLL_AUDIENCE_INIT does for `audience`, as enroll_error_init. */
void enroll_audience_init(enroll_audience *audience, size_t struct_size);

/** As enroll_token_access, for `audience`; NULL: the session's own token. If the provider refuses this audience, the
 *  session and all other tokens stay as they are, and no process asks for this audience again for a minute.
 *  enroll_token_list says which scopes the provider granted. `minimum_lifetime` is that of enroll_token_access. `token`
 *  must not be NULL.
 *  Returns what enroll_token_access returns; ENROLL_E_REJECTED (`invalid_target`, `invalid_scope`, no refresh token).
 *  Command: token.access. Source: RFC 6749 6, RFC 8707. */
enroll_status enroll_token_access_for(enroll_client *client, const enroll_audience *audience, int64_t minimum_lifetime,
                                      int64_t timeout_ms, enroll_access *access, enroll_buf *token,
                                      enroll_error *error);

/** As enroll_token_copy, for `audience`; NULL: the session's own token. It is as fast, whatever the order of the
 *  scopes. `minimum_lifetime` is that of enroll_token_access.
 *  Returns what enroll_token_access_for returns; ENROLL_E_BUFFER_TOO_SMALL. */
enroll_status enroll_token_copy_for(enroll_client *client, const enroll_audience *audience, int64_t minimum_lifetime,
                                    int64_t timeout_ms, char *buffer, size_t capacity, size_t *size,
                                    int64_t *expires_at, enroll_error *error);

/** As enroll_token_refresh, for `audience`; NULL: the session's own token. `token` must not be NULL.
 *  Returns what enroll_token_access_for returns.
 *  Command: token.refresh. Source: RFC 6749 6, RFC 8707. */
enroll_status enroll_token_refresh_for(enroll_client *client, const enroll_audience *audience, int64_t timeout_ms,
                                       enroll_access *access, enroll_buf *token, enroll_error *error);

/** Lists the access tokens that are kept, without the tokens themselves. `tokens` becomes a JSON array of objects: the
 *  granted scopes, the type, the end and, but for the session's own token, which comes first, the `resource` and the
 *  `scope` that were asked for; the manifest describes them as KeptToken. `tokens` must not be NULL.
 *  Returns ENROLL_OK; [store]; [call].
 *  Command: token.list. Source: RFC 8707. */
enroll_status enroll_token_list(enroll_client *client, enroll_buf *tokens, enroll_error *error);

/** Erases the tokens here and has the provider revoke them, without ending the session in the browser. Transactions
 *  that were begun before end with the tokens. enroll_logout_told says whether the provider knows.
 *  Returns ENROLL_OK; [store]; [wait]; [call].
 *  Command: token.revoke. Source: RFC 7009. */
enroll_status enroll_token_revoke(enroll_client *client, int64_t timeout_ms, enroll_error *error);

/* Which of the session's tokens. */
/** The access token. */
#define ENROLL_TOKEN_ACCESS 0
/** The refresh token. */
#define ENROLL_TOKEN_REFRESH 1

/** Asks the provider what it holds of a `token`, ENROLL_TOKEN_*, which is not handed out: a JSON object whose member
 *  `active` is true or false. An access token that is due is renewed first. `claims` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_UNSUPPORTED (no such endpoint); ENROLL_E_NOT_FOUND (no such token); ENROLL_E_OAUTH (the
 *  provider tells this client nothing); what enroll_token_access returns; [network]; [wait]; [call].
 *  Command: token.introspect. Source: RFC 7662. */
enroll_status enroll_token_introspect(enroll_client *client, int32_t token, int64_t timeout_ms, enroll_buf *claims,
                                      enroll_error *error);

/** Makes the proof for one request of the host's own that carries a token of type "DPoP", for the request's header
 *  `DPoP`. `method` as it is sent; `url` https, without user information: its path as it is sent, query and fragment
 *  are taken off. `nonce` is what the server demanded in `DPoP-Nonce` (at most 1024 bytes); optional: the last one of
 *  that server. `access_token` is the token that the request carries, at most 1 MiB; optional: the present one. Asks
 *  nobody. `proof` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_ILLEGAL_STATE (the token is a Bearer token); ENROLL_E_REAUTHENTICATE; [store]; [call].
 *  Command: dpop.proof. Source: RFC 9449 4.2, 7, 9. */
enroll_status enroll_dpop_proof(enroll_client *client, const char *method, size_t method_size, const char *url,
                                size_t url_size, const char *nonce, size_t nonce_size, const char *access_token,
                                size_t access_token_size, enroll_buf *proof, enroll_error *error);

/** How a token calls back. `access` and `token` are NULL unless `status` is ENROLL_OK, `error` is NULL if it is.
 *  `token` is terminated by a NUL that `token_size` does not count, and is wiped when the callback returns. */
typedef void (*enroll_access_callback)(void *user_data, enroll_status status, const enroll_access *access,
                                       const char *token, size_t token_size, const enroll_error *error);

/** As enroll_token_access, but returns at once: the callback gets what that would have returned. No thread is held
 *  while a renewal is waited for. `minimum_lifetime` is that of enroll_token_access.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls: nothing will call back); [call]. */
enroll_status enroll_token_access_start(enroll_client *client, int64_t minimum_lifetime, int64_t timeout_ms,
                                        enroll_access_callback callback, void *user_data, enroll_pending **pending,
                                        enroll_error *error);

/** As enroll_token_refresh, but returns at once: the callback gets what that would have returned. No thread is held
 *  while a renewal is waited for.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls: nothing will call back); [call]. */
enroll_status enroll_token_refresh_start(enroll_client *client, int64_t timeout_ms, enroll_access_callback callback,
                                         void *user_data, enroll_pending **pending, enroll_error *error);

/** As enroll_token_access_for, but returns at once: the callback gets what that would have returned. `audience` need
 *  not outlive the call. `minimum_lifetime` is that of enroll_token_access.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls: nothing will call back); [call]. */
enroll_status enroll_token_access_for_start(enroll_client *client, const enroll_audience *audience,
                                            int64_t minimum_lifetime, int64_t timeout_ms,
                                            enroll_access_callback callback, void *user_data, enroll_pending **pending,
                                            enroll_error *error);

/** As enroll_token_refresh_for, but returns at once: the callback gets what that would have returned. `audience` need
 *  not outlive the call.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls: nothing will call back); [call]. */
enroll_status enroll_token_refresh_for_start(enroll_client *client, const enroll_audience *audience, int64_t timeout_ms,
                                             enroll_access_callback callback, void *user_data,
                                             enroll_pending **pending, enroll_error *error);

/* ---- The user ------------------------------------------------------------------------------------------------- */

/** The user's profile, a JSON object of the proven claims of the id_token, from the store. `claims` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND (nobody is signed in); [store]; [call].
 *  Command: identity.profile. Source: OpenID Connect Core 5.1. */
enroll_status enroll_identity_profile(enroll_client *client, enroll_buf *claims, enroll_error *error);

/** The claims that the provider's userinfo endpoint tells now, a JSON object; refused unless they are about the user
 *  of the id_token. `claims` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_UNSUPPORTED (no such endpoint); ENROLL_E_PROFILE_MISMATCH; what enroll_token_access
 *  returns; [network]; [wait]; [call].
 *  Command: identity.userinfo. Source: OpenID Connect Core 5.3. */
enroll_status enroll_identity_userinfo(enroll_client *client, int64_t timeout_ms, enroll_buf *claims,
                                       enroll_error *error);

/** Reads the data kept about the account; never the refresh token. If nothing is kept for a buffer, it becomes empty,
 *  with size 0; `expires_at` becomes 0. `profile` is a JSON object, `id_token` the token that the provider sent,
 *  `access_token` the confirmed session's token as it is stored, even if it has expired (enroll_token_access returns a
 *  valid one), `registration_type` is "SOCIAL" or "PASSWORDLESS".
 *  Returns ENROLL_OK; [store]; [call].
 *  Command: account.read. */
enroll_status enroll_account_read(enroll_client *client, enroll_buf *profile, enroll_buf *id_token,
                                  enroll_buf *access_token, enroll_buf *registration_type, int64_t *expires_at,
                                  enroll_error *error);

/* ---- A PIN over the account ----------------------------------------------------------------------------------- */

/* How a PIN was taken. */
/** The account is open in this process. */
#define ENROLL_PIN_UNLOCKED 1
/** It is another one. */
#define ENROLL_PIN_WRONG 2
/** Not looked at: the pause after the last wrong one is not over. */
#define ENROLL_PIN_TOO_SOON 3
/** It was the last try: the account is gone from this device. */
#define ENROLL_PIN_ERASED 4

/** Guards what is kept of the account with a `pin` of 4 to 64 bytes. The account stays open in this process; every
 *  other one answers ENROLL_E_STORE_LOCKED, field "pin", until enroll_pin_unlock. Everybody who holds the store's key
 *  can try all short PINs. Takes up to a second, as the functions below do. Ends ENROLL_STEP_PIN: the profile that
 *  waited for it is shown (G) or, without confirmation, confirmed (H).
 *  Returns ENROLL_OK; ENROLL_E_ILLEGAL_STATE (it has one, or nothing is kept yet); ENROLL_E_UNSUPPORTED (the store is
 *  in memory); [store]; [call].
 *  Command: pin.set. */
enroll_status enroll_pin_set(enroll_client *client, const char *pin, size_t pin_size, enroll_error *error);

/** Opens the account in this process with its `pin`. `outcome` gets ENROLL_PIN_*, `tries_left` how many wrong ones
 *  erase the account, `retry_after` the seconds until the next try is looked at; a wrong PIN is ENROLL_OK.
 *  Returns ENROLL_OK; ENROLL_E_ILLEGAL_STATE (it has no PIN); [store]; [call].
 *  Command: pin.unlock. */
enroll_status enroll_pin_unlock(enroll_client *client, const char *pin, size_t pin_size, int32_t *outcome,
                                int64_t *tries_left, int64_t *retry_after, enroll_error *error);

/** Replaces `pin` by `new_pin`, of 4 to 64 bytes. `outcome`, `tries_left` and `retry_after` are those of
 *  enroll_pin_unlock.
 *  Returns what enroll_pin_unlock returns.
 *  Command: pin.change. */
enroll_status enroll_pin_change(enroll_client *client, const char *pin, size_t pin_size, const char *new_pin,
                                size_t new_pin_size, int32_t *outcome, int64_t *tries_left, int64_t *retry_after,
                                enroll_error *error);

/** Takes `pin` away. `outcome`, `tries_left` and `retry_after` are those of enroll_pin_unlock.
 *  Returns what enroll_pin_unlock returns.
 *  Command: pin.remove. */
enroll_status enroll_pin_remove(enroll_client *client, const char *pin, size_t pin_size, int32_t *outcome,
                                int64_t *tries_left, int64_t *retry_after, enroll_error *error);

/** Everything that support needs in one JSON object for people: versions, configuration, provider, state, expiries,
 *  store, transactions and the last errors; no token, code, key or PIN, and nothing about the user. Asks nobody.
 *  `diagnostics` must not be NULL.
 *  Returns ENROLL_OK; [call].
 *  Command: diagnostics.export. */
enroll_status enroll_diagnostics_export(enroll_client *client, enroll_buf *diagnostics, enroll_error *error);

/* ---- Logging out ---------------------------------------------------------------------------------------------- */

/* Whether the provider knows of a sign-out. */
/** There was nothing to tell: nobody was signed in, or the sign-out was this device's alone. */
#define ENROLL_TOLD_NOTHING 0
/** The provider revoked the refresh token, or the access token of a session that has no other. */
#define ENROLL_TOLD 1
/** The provider could not be reached: it is told later, for at most 7 days. */
#define ENROLL_TOLD_QUEUED 2
/** The provider cannot be told: its tokens work until they end by themselves. */
#define ENROLL_TOLD_NOT_POSSIBLE 3

/** Erases the tokens here first, then tells the provider (later, if it cannot be reached: enroll_logout_told), and
 *  hands out the URL that ends the session in the browser: open it. Transactions that were begun before end with the
 *  session: tokens that are still on their way are revoked, not stored. `url` becomes empty, with size 0, when there
 *  is none to open. With `local_only` 1 nothing is sent and no URL is handed out. `url` must not be NULL.
 *  Returns ENROLL_OK; [store]; [wait]; [call].
 *  Command: logout.begin. Source: RFC 7009, OpenID Connect RP-Initiated Logout 1.0. */
enroll_status enroll_logout_begin(enroll_client *client, int32_t local_only, int64_t timeout_ms, enroll_buf *url,
                                  enroll_error *error);

/** Says in `told` (ENROLL_TOLD_*) whether the provider knows of the last sign-out of this client: by
 *  enroll_logout_begin, enroll_token_revoke or enroll_registration_deregister. `told` must not be NULL. `reason`,
 *  which may be NULL, gets why the provider cannot be told, for people, or becomes empty, with size 0. Asks nobody.
 *  Returns ENROLL_OK; [call]. */
enroll_status enroll_logout_told(enroll_client *client, int32_t *told, enroll_buf *reason, enroll_error *error);

/** Takes `url`, the browser's answer to that of enroll_logout_begin, back: the logout is finished.
 *  Returns ENROLL_OK; ENROLL_E_UNSOLICITED; ENROLL_E_REDIRECT_MALFORMED; [store]; [call].
 *  Command: logout.resume. Source: OpenID Connect RP-Initiated Logout 1.0, 3. */
enroll_status enroll_logout_resume(enroll_client *client, const char *url, size_t url_size, enroll_error *error);

/* ---- Events --------------------------------------------------------------------------------------------------- */

/** How an event calls back: its `name` ("registration.changed") and its `parameters`, a JSON object. */
typedef void (*enroll_event_callback)(void *user_data, const char *name, const char *parameters,
                                      size_t parameters_size);

/** How the end of a subscription calls back. No event of it calls back afterwards, and `user_data` is not used again:
 *  free it here. */
typedef void (*enroll_ended_callback)(void *user_data);

/** Calls back for every event of the client from now on: registration.changed, registration.settled, token.renewed,
 *  token.renewalFailed, logout.finished, error.reported. In the order in which they happened. `subscription`
 *  gets what enroll_events_unsubscribe takes, and must not be NULL; it is written before the first event calls back.
 *  `ended` is optional. It is called exactly once, where events call back, when the subscription has ended
 *  (enroll_events_unsubscribe, enroll_client_free) and its last event has returned. It is not called if this function
 *  fails, nor in a forked child, nor once exit() has stopped the library's threads. Callbacks that wait in a queue
 *  (enroll_queue) wait for enroll_queue_dispatch or enroll_queue_free, and so does `ended`.
 *  Returns ENROLL_OK; [call].
 *  Command: events.subscribe. */
enroll_status enroll_events_subscribe(enroll_client *client, enroll_event_callback callback, void *user_data,
                                      enroll_ended_callback ended, int64_t *subscription, enroll_error *error);

/** Ends a `subscription`. Events that wait for their callback are dropped; one whose callback runs now may still be
 *  running when this returns (enroll_ended_callback). A callback of the subscription may call this.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND; [call].
 *  Command: events.unsubscribe. */
enroll_status enroll_events_unsubscribe(enroll_client *client, int64_t subscription, enroll_error *error);

/* ---- Every command by its name -------------------------------------------------------------------------------- */

/** Runs any `command` of the manifest by its name: the door for bindings. `parameters` is a JSON object without the
 *  member `client`; optional. `client` is NULL for the commands that need none. `result` gets a JSON object and must
 *  not be NULL. A command's `outcome` is in the object: token.access without a session returns ENROLL_OK, and the
 *  object says "reauthenticate".
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND (no such command); ENROLL_E_JSON; ENROLL_E_UNSUPPORTED (client.open,
 *  client.close, events.subscribe and events.unsubscribe are functions of their own here); [call]; what the command's
 *  own function returns. */
enroll_status enroll_call(enroll_client *client, const char *command, size_t command_size, const char *parameters,
                          size_t parameters_size, int64_t timeout_ms, enroll_buf *result, enroll_error *error);

/** How a command calls back. `result` is NULL unless `status` is ENROLL_OK, `error` is NULL if it is; wiped when the
 *  callback returns. */
typedef void (*enroll_result_callback)(void *user_data, enroll_status status, const char *result, size_t result_size,
                                       const enroll_error *error);

/** As enroll_call, with `command` and `parameters`, but returns at once: the callback gets what it would have returned.
 *  Without a `client` it runs on a thread of the library's own, and can be cancelled until it begins.
 *  Returns ENROLL_OK; ENROLL_E_JSON; ENROLL_E_BUSY (too many pending calls: nothing will call back); [call]. */
enroll_status enroll_call_start(enroll_client *client, const char *command, size_t command_size, const char *parameters,
                                size_t parameters_size, int64_t timeout_ms, enroll_result_callback callback,
                                void *user_data, enroll_pending **pending, enroll_error *error);

/** The manifest: every command with its documentation and the JSON Schemas of its input and output, a JSON object.
 *  `manifest` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_INVALID_ARGUMENT. */
enroll_status enroll_manifest(enroll_buf *manifest, enroll_error *error);

/** Describes this library: versions, flavour, commands, key providers; a JSON object. `description` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_INVALID_ARGUMENT.
 *  Command: system.describe. */
enroll_status enroll_system_describe(enroll_buf *description, enroll_error *error);

/* ---- Resources, without a client ------------------------------------------------------------------------------ */

/** Finds the authorization server that gives tokens for a resource (an API, an MCP server). `parameters` is a JSON
 *  object: the parameters of the command, `resource` for one. Registers nothing and sends no token: show `issuer` of
 *  the answer to the user before you go on. `discovery` gets a JSON object and must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_UNSUPPORTED (the resource has no metadata); ENROLL_E_JSON; [network]; [wait];
 *  ENROLL_E_INVALID_ARGUMENT.
 *  Command: resource.discover. Source: RFC 9728, RFC 8414, OpenID Connect Discovery. */
enroll_status enroll_resource_discover(const char *parameters, size_t parameters_size, int64_t timeout_ms,
                                       enroll_buf *discovery, enroll_error *error);

/** Makes a configuration for a resource: with your client id, with your client id metadata document, or with a client
 *  that is registered once and kept in the store. `parameters` is a JSON object: the parameters of the command, with
 *  `resource`, `issuer`, `redirectUri` and `store`. `client` gets a JSON object, whose member `configuration` is for
 *  enroll_client_new, and must not be NULL. The object may hold a secret of the client: wipe it with enroll_buf_free.
 *  Returns ENROLL_OK; ENROLL_E_UNSUPPORTED (the server takes no new client); ENROLL_E_OAUTH (it refused the
 *  registration); ENROLL_E_JSON; [network]; [store]; [wait]; ENROLL_E_INVALID_ARGUMENT.
 *  Command: resource.register. Source: RFC 7591, RFC 9728, RFC 8707. */
enroll_status enroll_resource_register(const char *parameters, size_t parameters_size, int64_t timeout_ms,
                                       enroll_buf *client, enroll_error *error);

/* ---- Stores, without a client --------------------------------------------------------------------------------- */

/** Names of the accounts in the store of a directory: a JSON object whose member `accounts` is a
 *  sorted array; a name that is used at several providers is there once. `accounts` must not be NULL.
 *  Returns ENROLL_OK; [store]; ENROLL_E_INVALID_ARGUMENT.
 *  Command: accounts.list. */
enroll_status enroll_accounts_list(const char *directory, size_t directory_size, const enroll_keys *keys,
                                   enroll_buf *accounts, enroll_error *error);

/** Erases an `account`, at most 128 bytes, from the store of a directory, of every provider; sends nothing.
 *  Removing an unknown one is no error.
 *  Returns ENROLL_OK; [store]; ENROLL_E_INVALID_ARGUMENT.
 *  Command: accounts.remove. */
enroll_status enroll_accounts_remove(const char *directory, size_t directory_size, const enroll_keys *keys,
                                     const char *account, size_t account_size, enroll_error *error);

/** Forgets the installation id in the store of a directory: the next use makes another. No store is no error.
 *  Returns ENROLL_OK; [store]; ENROLL_E_INVALID_ARGUMENT.
 *  Command: installation.reset. */
enroll_status enroll_installation_reset(const char *directory, size_t directory_size, const enroll_keys *keys,
                                        enroll_error *error);

/** Examines the store of a directory: owner, permissions, key provider and why, each sealed file, damaged ones
 *  that were set aside, and what is wrong with it; a JSON object. Changes nothing, contains no secret. `diagnosis` must
 *  not be NULL.
 *  Returns ENROLL_OK; [store]; ENROLL_E_INVALID_ARGUMENT.
 *  Command: store.diagnose. */
enroll_status enroll_store_diagnose(const char *directory, size_t directory_size, const enroll_keys *keys,
                                    enroll_buf *diagnosis, enroll_error *error);

/** Moves the key of a store to another key provider, `new_keys`; NULL: the same one wraps it again. With
 *  `new_data_key` 1 there is also a new key, and every file is sealed with it. Nothing is lost wherever that is
 *  interrupted, and other processes may go on meanwhile; those that open the store later have to be told of the new
 *  provider.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND (no store, or none with keys yet); [store]; ENROLL_E_INVALID_ARGUMENT.
 *  Command: store.rekey. */
enroll_status enroll_store_rekey(const char *directory, size_t directory_size, const enroll_keys *keys,
                                 const enroll_keys *new_keys, int32_t new_data_key, enroll_error *error);

/* ---- Values: no client, no network, no store ------------------------------------------------------------------ */

/** A verifier and its challenge. The verifier is a secret: wipe it (enroll_wipe) when it is spent. */
typedef struct enroll_pkce {
  /** sizeof(enroll_pkce): ENROLL_PKCE_INIT sets it. */
  size_t struct_size;
  /** 32 random octets, base64url: 43 characters. */
  char code_verifier[ENROLL_PKCE_CAPACITY];
  /** Its SHA-256, base64url: 43 characters, for code_challenge_method=S256. */
  char code_challenge[ENROLL_PKCE_CAPACITY];
} enroll_pkce;

/* clang-format off */
#define ENROLL_PKCE_INIT {sizeof(enroll_pkce), {0}, {0}}
/* clang-format on */

/** Does what ENROLL_PKCE_INIT does for `pkce`, as enroll_error_init. */
void enroll_pkce_init(enroll_pkce *pkce, size_t struct_size);

/** Makes a PKCE pair. `pkce` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_INVALID_ARGUMENT.
 *  Command: pkce.generate. Source: RFC 7636 4.1, 4.2. */
enroll_status enroll_pkce_generate(enroll_pkce *pkce, enroll_error *error);

/** Parses a redirect without verifying it: a JSON object with the parameters that a provider may send. `redirect` must
 *  not be NULL. At most 16 KiB of URL.
 *  Returns ENROLL_OK; ENROLL_E_REDIRECT_MALFORMED; ENROLL_E_INVALID_ARGUMENT.
 *  Command: redirect.parse. Source: RFC 6749 4.1.2, RFC 9207. */
enroll_status enroll_redirect_parse(const char *url, size_t url_size, enroll_buf *redirect, enroll_error *error);

/** Which of several configurations a URL belongs to. `configurations` is a JSON array of at most 64, together at most
 *  1 MiB; `owner` gets a JSON object with `index`, its owner's place in the array, and `kind` ("redirect", "logout",
 *  "fallback", "activation"), or an empty object when none owns it, and must not be NULL. Looks at no store: a URL that
 *  is owned may still be unsolicited.
 *  Returns ENROLL_OK; ENROLL_E_REDIRECT_MALFORMED; ENROLL_E_CONFIGURATION (one is not acceptable, or several own the
 *  URL); ENROLL_E_JSON; ENROLL_E_INVALID_ARGUMENT.
 *  Command: redirect.route. */
enroll_status enroll_redirect_route(const char *configurations, size_t configurations_size, const char *url,
                                    size_t url_size, enroll_buf *owner, enroll_error *error);

/** Parses a link by an allow-list, or refuses it; nothing is repaired: a JSON object with `kind`, `scheme`, `host`,
 *  `path` and what else there is. `link` must not be NULL. At most 16 KiB of URL.
 *  Returns ENROLL_OK; ENROLL_E_REDIRECT_MALFORMED; ENROLL_E_INVALID_ARGUMENT.
 *  Command: link.parse. Source: RFC 3986, RFC 8252 7. */
enroll_status enroll_link_parse(const char *url, size_t url_size, enroll_buf *link, enroll_error *error);

/* The three bands of a token's life. */
/** Use it. */
#define ENROLL_BAND_FRESH 1
/** Renew it; use it if that fails. */
#define ENROLL_BAND_DUE 2
/** Renew it or fail. */
#define ENROLL_BAND_EXPIRED 3

/** In which `band`, ENROLL_BAND_*, a token that ends at `expires_at` is at `now`, both seconds since 1970. It is due
 *  within the larger of `grace` and `minimum_lifetime` seconds (neither negative) before its end. `lifetime` is its
 *  whole life in seconds, or 0 if that is not known: at most half of it counts as grace. `seconds_left` becomes
 *  negative once it has ended.
 *  Returns ENROLL_OK; ENROLL_E_INVALID_ARGUMENT.
 *  Command: expiry.check. */
enroll_status enroll_expiry_check(int64_t expires_at, int64_t now, int64_t lifetime, int64_t grace,
                                  int64_t minimum_lifetime, int32_t *band, int64_t *seconds_left, enroll_error *error);

/* ---- The host's own HTTP -------------------------------------------------------------------------------------- */

/** A header of a request. */
typedef struct enroll_http_header {
  /** Its name, never NULL. */
  const char *name;
  /** Its value, never NULL. */
  const char *value;
} enroll_http_header;

/** A request to send; borrowed while `send` runs. */
typedef struct enroll_http_request {
  /** Bytes that the library knows of this struct. */
  size_t struct_size;
  /** "GET", "POST" or "DELETE"; never NULL. */
  const char *method;
  /** Absolute; never NULL. */
  const char *url;
  /** The bytes to send; NULL if there are none. */
  const enroll_http_header *headers;
  size_t header_count;
  /** Bytes, followed by a NUL that `body_size` does not count; never NULL. */
  const char *body;
  size_t body_size;
  /** Refuse more bytes of body than this while they arrive. */
  size_t response_limit;
  /** 1: on a connection that was never used before, and never repeated by itself. */
  int32_t needs_fresh_connection;
  /** How many milliseconds the whole exchange may take. */
  int32_t timeout_ms;
} enroll_http_request;

/** The answer that `send` fills, by the three functions below. Valid while `send` runs. */
typedef struct enroll_http_response enroll_http_response;

/** HTTP as the host does it. The struct is copied; what its members point to must live until `release` was called. */
struct enroll_transport {
  /** sizeof(enroll_transport): ENROLL_TRANSPORT_INIT sets it. */
  size_t struct_size;
  /** The host's own, handed to each function as it is; may be NULL. */
  void *user_data;
  /** Sends one request and fills the response; required. Follows no redirect, repeats nothing, checks certificates.
   *  Called by several threads at once. The `timeout_ms` of a call does not end it: a renewal's callers return in time
   *  and `send` goes on, but any other call returns only after `send` has. So `send` keeps to the request's
   *  `timeout_ms`, and returns soon after enroll_http_response_is_cancelled says 1, which it does once no caller waits.
   *  Returns ENROLL_OK for a whole response of any status; else ENROLL_E_NETWORK, ENROLL_E_TLS, ENROLL_E_TIMEOUT,
   *  ENROLL_E_RESPONSE_INVALID or ENROLL_E_CANCELLED; any other number counts as ENROLL_E_INTERNAL. */
  enroll_status (*send)(void *user_data, const enroll_http_request *request, enroll_http_response *response);
  /** Called once, when the client and all its calls have ended; may be NULL. */
  void (*release)(void *user_data);
};

/* clang-format off */
#define ENROLL_TRANSPORT_INIT {sizeof(enroll_transport), NULL, NULL, NULL}
/* clang-format on */

/** Does what ENROLL_TRANSPORT_INIT does for `transport`, as enroll_error_init. */
void enroll_transport_init(enroll_transport *transport, size_t struct_size);

/** Sets the `status` code of the `response` that `send` was handed, 100 to 599.
 *  Returns ENROLL_OK; ENROLL_E_INVALID_ARGUMENT; ENROLL_E_HANDLE (not inside `send`). */
enroll_status enroll_http_response_set_status(enroll_http_response *response, int32_t status);

/** Adds a header to the `response` that `send` was handed; at most 256 of 16 KiB each.
 *  Returns ENROLL_OK; ENROLL_E_INVALID_ARGUMENT; ENROLL_E_HANDLE (not inside `send`). */
enroll_status enroll_http_response_add_header(enroll_http_response *response, const char *name, size_t name_size,
                                              const char *value, size_t value_size);

/** Appends `size` bytes of `data` to the body of the `response` that `send` was handed. `data` may be NULL with 0.
 *  Returns ENROLL_OK; ENROLL_E_RESPONSE_INVALID (over the request's limit: stop); ENROLL_E_INVALID_ARGUMENT;
 *  ENROLL_E_HANDLE (not inside `send`). */
enroll_status enroll_http_response_add_body(enroll_http_response *response, const char *data, size_t size);

/** 1 when nobody waits for the answer that `response` is any more and `send` had better give up, also outside `send`;
 *  else 0. */
int32_t enroll_http_response_is_cancelled(enroll_http_response *response);

/* ---- The host's own secrets ----------------------------------------------------------------------------------- */

/** Secrets as the host keeps them: the key of the store is wrapped with one, and one for each account tells whether an
 *  older copy of the store was put back (docs/reliability.md). The struct is copied; what its members
 *  point to must live until `release` was called. The functions may be called by several threads at once, and like a
 *  transport's may call only functions that take no client. */
struct enroll_secret_store {
  /** sizeof(enroll_secret_store): ENROLL_SECRET_STORE_INIT sets it. */
  size_t struct_size;
  /** The host's own, handed to each function as it is; may be NULL. */
  void *user_data;
  /** Writes the ENROLL_SECRET_SIZE bytes that `save` was given for this name; required. `name` is ASCII (letters,
   *  digits, '.', '-', '_'), less than 64 bytes. Returns ENROLL_OK; ENROLL_E_NOT_FOUND; ENROLL_E_STORE_LOCKED while
   *  the user has to unlock something, after which it is called again; any other number counts as ENROLL_E_STORE_IO. */
  enroll_status (*load)(void *user_data, const char *name, unsigned char *secret);
  /** Keeps ENROLL_SECRET_SIZE bytes, durably before it returns; required. Returns as `load` does. */
  enroll_status (*save)(void *user_data, const char *name, const unsigned char *secret);
  /** Forgets a name; required. Returns as `load` does. */
  enroll_status (*remove)(void *user_data, const char *name);
  /** Called once for each call that was given this struct, when that call, or the client that it made, has ended; may
   *  be NULL. */
  void (*release)(void *user_data);
};

/* clang-format off */
#define ENROLL_SECRET_STORE_INIT {sizeof(enroll_secret_store), NULL, NULL, NULL, NULL, NULL}
/* clang-format on */

/** Does what ENROLL_SECRET_STORE_INIT does for `secret_store`, as enroll_error_init. */
void enroll_secret_store_init(enroll_secret_store *secret_store, size_t struct_size);

/* ---- The host's own clock ------------------------------------------------------------------------------------- */

/** Time as the host has it: for a device that knows better than its system, and for tests that live through a month in
 *  a second. The struct is copied; what its members point to must live until `release` was called. The functions are
 *  short, may be called by several threads at once, also while the library holds a lock, and may call only functions
 *  that take no client. How long a call waits (`timeout_ms`) goes by this clock as well, looked at once a second at
 *  least. */
struct enroll_clock {
  /** sizeof(enroll_clock): ENROLL_CLOCK_INIT sets it. */
  size_t struct_size;
  /** The host's own, handed to each function as it is; may be NULL. */
  void *user_data;
  /** The date, in seconds since 1970-01-01T00:00:00Z; required. May be set in either direction. */
  int64_t (*date)(void *user_data);
  /** Nanoseconds since a moment of the host's choice, 0 or more; required. Never goes back, and goes on while the
   *  device sleeps: what it counts is how long a token has lived, whatever is done to the date. */
  int64_t (*monotonic)(void *user_data);
  /** Called once, when the client and all its calls have ended; may be NULL. */
  void (*release)(void *user_data);
};

/* clang-format off */
#define ENROLL_CLOCK_INIT {sizeof(enroll_clock), NULL, NULL, NULL, NULL}
/* clang-format on */

/** Does what ENROLL_CLOCK_INIT does for `clock`, as enroll_error_init. */
void enroll_clock_init(enroll_clock *clock, size_t struct_size);

/* ---- The host's own log --------------------------------------------------------------------------------------- */

/* How important a line is. */
/** Something that the host may show to the user. */
#define ENROLL_LOG_ERROR 1
/** A problem that may resolve itself. */
#define ENROLL_LOG_WARNING 2
/** The steps of a registration and of a session. */
#define ENROLL_LOG_INFO 3
/** Every request. */
#define ENROLL_LOG_DEBUG 4

/** The host's log of what a client does. No line holds a secret: of a URL there are scheme, host and the names of the
 *  parameters. The struct is copied; what its members point to must live until `release` was called. */
struct enroll_log {
  /** sizeof(enroll_log): ENROLL_LOG_INIT sets it. */
  size_t struct_size;
  /** The host's own, handed to each function as it is; may be NULL. */
  void *user_data;
  /** ENROLL_LOG_*, the least important lines that are wanted; 0: ENROLL_LOG_INFO. */
  int32_t level;
  /** Zero. */
  int32_t reserved;
  /** Takes one line of a level, ENROLL_LOG_*: `size` bytes of UTF-8 without an end of line, followed by a NUL, borrowed
   *  while it runs; required. Called on the thread that has something to say, by several at once; is short, and may
   *  call only functions that take no client. */
  void (*write)(void *user_data, int32_t level, const char *line, size_t size);
  /** Called once, when the client and all its calls have ended; may be NULL. */
  void (*release)(void *user_data);
};

/* clang-format off */
#define ENROLL_LOG_INIT {sizeof(enroll_log), NULL, 0, 0, NULL, NULL}
/* clang-format on */

/** Does what ENROLL_LOG_INIT does for `log`, as enroll_error_init. */
void enroll_log_init(enroll_log *log, size_t struct_size);

#ifdef __cplusplus
}
#endif

#endif
