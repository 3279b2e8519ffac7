/*
 * enroll.h - EnrollKit for C: registration and sign-in through an external browser, and a token that renews itself.
 *
 * A program signs its user in like this (Examples/sign_in.c is the complete program, which the tests run):
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
 *     enroll_account_waiting(client, NULL, &profile, NULL, &error);
 *     ... ask the user whether this is their profile ...
 *     enroll_registration_confirm_transaction(client, state.transaction, ENROLL_NUL_TERMINATED, &state, &error);
 *     enroll_token_access(client, 0, 30000, &access, &token, &error);
 *
 * CALLS. A call that can fail returns an enroll_status: 0 is success; negative numbers are the statuses below, which
 * are stable and never reused. Arguments come in this order: receiver, inputs, outputs, error. Outputs are written only
 * on success. Pass NULL for an output that you do not need, unless its function says otherwise. The error, always last
 * and always optional, is filled in only if the call fails. If the error was not initialized with ENROLL_ERROR_INIT,
 * every call fails with ENROLL_E_INVALID_ARGUMENT and writes no message.
 *
 * ARGUMENTS that many functions share. `client` is an open client. `transaction`, a string, is the `id` of an
 * enroll_transaction. `state`, an output, receives the state of the registration after the call. `user_data` is passed
 * to `callback` unchanged; it may be NULL, but `callback` may not. `pending`, an output, receives a handle with which
 * you can cancel the call; free it with enroll_pending_free. `struct_size` is the struct's size in the caller's header.
 * `directory` is the absolute path of a store; `keys` names its key provider, or is NULL for a key file in that
 * directory. For `timeout_ms` see TIME; for `error` see CALLS.
 *
 * STRINGS IN are a pointer and a size in bytes (`url` and `url_size`): UTF-8 without embedded NULs, borrowed for the
 * duration of the call. The size may be ENROLL_NUL_TERMINATED. NULL with size 0 (or ENROLL_NUL_TERMINATED) means "not
 * given". A call returns ENROLL_E_INVALID_ARGUMENT for NULL with any other size, for text that is not UTF-8 or exceeds
 * its limit, and for text that is missing or empty unless it is marked optional. Unless stated otherwise, the limits
 * are 16 KiB for a URL, 1 MiB for JSON, 4095 bytes for a path and 256 bytes for everything else.
 *
 * BUFFERS OUT are enroll_buf. The library owns them and terminates them with a NUL that `size` does not count. Free
 * them with enroll_buf_free, which wipes them first. The previous value of an output is overwritten, not freed. If you
 * copy a secret out of a buffer, wipe your copy with enroll_wipe.
 *
 * STRUCTS begin with `struct_size`, which each struct's INIT macro sets; zero is the default of every other member.
 * Structs grow only at the end: a newer library accepts an older, shorter struct and writes no further than its
 * size. If a longer struct sets a member that this library does not know, the call returns ENROLL_E_UNSUPPORTED. If a
 * struct is shorter than its first version (because struct_size was never set, for example), the call returns
 * ENROLL_E_INVALID_ARGUMENT.
 *
 * HANDLES (enroll_client, enroll_pending, enroll_queue) are numbers, not addresses: the library looks them up at each
 * call and never dereferences them. A handle that is null, stale, already freed, of another kind, or from another copy
 * of the library in the same process fails the call with ENROLL_E_HANDLE.
 *
 * TIME. `timeout_ms` is how many milliseconds a call may wait: 0 does not wait; ENROLL_NO_TIMEOUT waits as long as it
 * takes (each request times out after 30 seconds); with any other negative number the call returns
 * ENROLL_E_INVALID_ARGUMENT. A renewal that was sent is completed in the background even if its callers stop
 * waiting. With the host's own transport, other calls can return late: see `send` of enroll_transport. Dates are
 * seconds since 1970-01-01T00:00:00Z.
 *
 * THREADS. You may call every function from any thread at any time, even with one client from many threads, and even
 * while another thread frees that client: a call in progress keeps what it uses. No function is safe in a signal
 * handler. No function changes signal handlers or the locale. The library's own threads block all signals except those
 * that a fault raises; callbacks and the host's own transport, secrets, clock and log run with the signal mask of the
 * thread that made the client. The stacks of these threads have the default size of the host's threads (at least 512
 * KiB). At exit() the library's threads stop before other exit handlers run, so you need not free a client first. After
 * fork(), calls in the child return ENROLL_E_FORKED for every handle made before; the child makes its own handles or
 * calls exec.
 *
 * CALLBACKS for completions and events take `user_data` first. They run on a thread of their own or on one of the
 * host's threads (enroll_queue), one at a time for each client, with no lock held, and may call every function here,
 * including enroll_client_free. A callback must return: pthread_exit() or a longjmp() out of a callback ends all later
 * callbacks of its client. A completion callback runs exactly once if its call returned ENROLL_OK, and not at all
 * otherwise; its arguments are borrowed until it returns. Free the `user_data` of a completion in its callback or
 * later; free the `user_data` of a subscription in its enroll_ended_callback or later. The host's own transport
 * (enroll_transport), secrets (enroll_secret_store), clock (enroll_clock) and log (enroll_log) are different: they run
 * inside a call, so they may call only functions that take no client; all other functions, enroll_client_new and
 * enroll_queue_dispatch return ENROLL_E_REENTRANT.
 *
 * STATUSES in the descriptions below: "[call]" means ENROLL_E_HANDLE, ENROLL_E_FORKED, ENROLL_E_REENTRANT and
 * ENROLL_E_INVALID_ARGUMENT (the message names the argument); "[store]" means the seven ENROLL_E_STORE_* and
 * ENROLL_E_BUSY (the store's lock was held for 30 seconds); "[network]" means ENROLL_E_NETWORK, ENROLL_E_TLS,
 * ENROLL_E_TIMEOUT, ENROLL_E_SERVER, ENROLL_E_RESPONSE_INVALID, ENROLL_E_ISSUER_MISMATCH and ENROLL_E_CONFIGURATION
 * (`caFile` cannot be read); "[wait]" means ENROLL_E_DEADLINE_EXCEEDED and ENROLL_E_CANCELLED (the client was freed,
 * or the pending call was cancelled). Any call may return ENROLL_E_INTERNAL, ENROLL_E_OUT_OF_MEMORY or, if a library
 * that it opens on demand is missing, ENROLL_E_UNSUPPORTED.
 *
 * COMMAND names the manifest command that a function runs; it is also the daemon's method and the name for enroll_call.
 * SOURCE names the specification that defines a function or member; anything without a source is this library's own.
 *
 * OTHER LIBRARIES. The library links to jansson. It opens OpenSSL 3 (libcrypto.so.3) and libcurl (libcurl.so.4 or
 * libcurl-gnutls.so.4) when it first needs them and never closes them; if one is missing, calls that need it return
 * ENROLL_E_UNSUPPORTED. It opens libsecret (libsecret-1.so.0) only if you choose its keyring (ENROLL_KEYS_*). The file
 * names are those on Linux.
 *
 * SINCE. Everything here has been available since version 0.1.0 unless its comment says otherwise. A program built with
 * this header runs with every later library of the same soname, libenroll.so.0; docs/abi.md says what may change and
 * what may not.
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
/** No pending transaction expects this URL. */
#define ENROLL_E_UNSOLICITED (-23)
/** The transaction is already settled. */
#define ENROLL_E_ALREADY_SETTLED (-24)
/** The transaction's deadline has passed; begin again. */
#define ENROLL_E_TRANSACTION_EXPIRED (-25)
/** The other app is not on this device. */
#define ENROLL_E_OTHER_APP_MISSING (-26)
/** The e-mail link led to no sign-in: it was used elsewhere, is too old, or the user stopped; offer to sign in
 *  or to send the e-mail again. */
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
/** prompt=none, but the provider must interact with the user. */
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
/** The id_token violates a rule; the message names it. */
#define ENROLL_E_ID_TOKEN_INVALID (-51)
/** Two sources disagree about who the user is. */
#define ENROLL_E_PROFILE_MISMATCH (-52)
/** The e-mail address is not verified; verify it and confirm again. */
#define ENROLL_E_EMAIL_NOT_VERIFIED (-53)
/** The registration check does not know the account; the host can offer to create one. */
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
/** Nobody. */
#define ENROLL_BLAME_NONE 0
/** The calling program: an argument or the order of calls. */
#define ENROLL_BLAME_CALLER 1
/** The app or the device: its configuration or its disk. */
#define ENROLL_BLAME_HOST 2
/** The user, who can do something about it. */
#define ENROLL_BLAME_USER 3
/** The provider, or whatever answered in its place. */
#define ENROLL_BLAME_SERVER 4
/** The network between the device and the provider. */
#define ENROLL_BLAME_NETWORK 5
/** This library. */
#define ENROLL_BLAME_INTERNAL 6

/** The size of a string that ends at its NUL. */
#define ENROLL_NUL_TERMINATED ((size_t)-1)
/** A `timeout_ms` without a limit. */
#define ENROLL_NO_TIMEOUT (-1)

/* Sizes of the character arrays below, in bytes, including the terminating NUL. */
/** Size of `message` and `reason_message`. */
#define ENROLL_MESSAGE_CAPACITY 512
/** Size of `field`. */
#define ENROLL_FIELD_CAPACITY 64
/** Size of `oauth_error` and `reason_oauth_error`. */
#define ENROLL_OAUTH_ERROR_CAPACITY 64
/** Size of `oauth_error_description` and `reason_oauth_error_description`. */
#define ENROLL_OAUTH_DESCRIPTION_CAPACITY 516
/** Size of a transaction's `id`. */
#define ENROLL_TRANSACTION_CAPACITY 48
/** Size of `user_code`. */
#define ENROLL_USER_CODE_CAPACITY 64
/** Size of `verification_uri`. */
#define ENROLL_VERIFICATION_URI_CAPACITY 512
/** Size of `token_type`. */
#define ENROLL_TOKEN_TYPE_CAPACITY 32
/** Size of `code_verifier` and `code_challenge`. */
#define ENROLL_PKCE_CAPACITY 48

/** The JSON name of a `status`: "storeLocked"; "ok" for ENROLL_OK; "unknown" for any other number. Never NULL; static,
 *  not to be freed. */
const char *enroll_status_name(enroll_status status);

/** One English sentence about a `status`, for logs. Never NULL; static, not to be freed. */
const char *enroll_status_summary(enroll_status status);

/** ENROLL_BLAME_* of a `status`; ENROLL_BLAME_NONE for ENROLL_OK and unknown numbers. */
int32_t enroll_status_blame(enroll_status status);

/** 1 if the same call may succeed later without any change, else 0; 0 for an unknown `status`. For a failed call, check
 *  `is_retryable` of its error, which is more precise: a sign-in attempt that has ended is not retryable, whatever its
 *  status. */
int32_t enroll_status_is_retryable(enroll_status status);

/** The JSON name of `blame`, ENROLL_BLAME_*: "server"; "none" for ENROLL_BLAME_NONE, "unknown" for any other number.
 *  Never NULL; static, not to be freed. */
const char *enroll_blame_name(int32_t blame);

/* ---- Errors --------------------------------------------------------------------------------------------------- */

/** Why a call failed. The caller owns the struct; the library never frees it. No text in it contains a secret. */
typedef struct enroll_error {
  /** sizeof(enroll_error): ENROLL_ERROR_INIT sets it. */
  size_t struct_size;
  /** The status that the call returned. */
  enroll_status status;
  /** ENROLL_BLAME_*. */
  int32_t blame;
  /** 1 if the same call may succeed later, else 0. If the call ended a sign-in attempt, this is 0: begin again. */
  int32_t is_retryable;
  /** Status of the HTTP response that caused the failure; 0 for none. */
  int32_t http_status;
  /** Why the renewal failed, with ENROLL_E_EXPIRED and ENROLL_E_REJECTED; else ENROLL_OK. */
  enroll_status reason;
  /** Zero. */
  int32_t reserved;
  /** Seconds that the server asked the client to wait; 0 for none. */
  int64_t retry_after_seconds;
  /** The provider's own error code (RFC 6749 5.2); empty for none. Longer codes are truncated. */
  char oauth_error[ENROLL_OAUTH_ERROR_CAPACITY];
  /** The configuration key or the argument at fault; empty for none. */
  char field[ENROLL_FIELD_CAPACITY];
  /** What happened, what was expected and what to do, in English, for a log. Truncated at a character boundary. */
  char message[ENROLL_MESSAGE_CAPACITY];
  /** The provider's own words about its error (`error_description`), for a log: printable ASCII, of which the library
   *  keeps 512 bytes; empty if there are none, or if they may repeat a secret. */
  char oauth_error_description[ENROLL_OAUTH_DESCRIPTION_CAPACITY];
} enroll_error;

/* clang-format off */
#define ENROLL_ERROR_INIT {sizeof(enroll_error), 0, 0, 0, 0, 0, 0, 0, {0}, {0}, {0}, {0}}
/* clang-format on */

/** Does what ENROLL_ERROR_INIT does, for languages without macros: zeroes `struct_size` bytes of `error` and sets its
 *  struct_size. Does nothing for NULL, or for a size that is smaller than size_t or larger than 64 KiB. */
void enroll_error_init(enroll_error *error, size_t struct_size);

/* ---- Buffers -------------------------------------------------------------------------------------------------- */

/** Bytes that the library owns. */
typedef struct enroll_buf {
  /** The bytes, followed by a NUL; NULL in an empty buffer that was never filled. */
  const char *data;
  /** Bytes in `data`, without the NUL. */
  size_t size;
  /** For the library's own use. */
  uintptr_t owner;
} enroll_buf;

/* clang-format off */
#define ENROLL_BUF_INIT {NULL, 0, 0}
/* clang-format on */

/** Wipes and frees the bytes, and empties `buffer`. Does nothing for NULL, and for empty or already freed buffers
 *  (including copies of the struct). Filling a buffer again without freeing it first leaks its old bytes. */
void enroll_buf_free(enroll_buf *buffer);

/** Overwrites `size` bytes of `memory` with zeros in a way that compilers do not remove. Does nothing for NULL or size
 *  0. */
void enroll_wipe(void *memory, size_t size);

/** Disables core dumps of this process, and debugging by the same user, until the process runs another program. The
 *  library never calls this by itself: it is for programs that need no debugging on the machine where they run. enrolld
 *  calls it.
 *  Returns ENROLL_OK; ENROLL_E_UNSUPPORTED (the system refuses); ENROLL_E_INVALID_ARGUMENT. */
enroll_status enroll_hide_memory(enroll_error *error);

/* ---- Versions and constants ----------------------------------------------------------------------------------- */

/** The version of the interface that this header describes: major * 65536 + minor. A library with the same major and at
 *  least this minor has everything in this header. */
#define ENROLL_ABI_VERSION 1

/** ENROLL_ABI_VERSION of the loaded library. */
uint32_t enroll_abi_version(void);

/** The library's version, "0.1.0". Never NULL; static, not to be freed. */
const char *enroll_version_string(void);

/** Looks up a constant of this header by its `name`, for languages that cannot read macros: "ENROLL_E_HANDLE" gives -2.
 *  The size of a struct is named after its type: "sizeof(enroll_error)". ENROLL_NUL_TERMINATED is -1 here. `value` must
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
/** In memory, lost when the client is freed: for tests. */
#define ENROLL_STORE_MEMORY 1

/* The key provider of a store: what protects its key. */
/** A key file with mode 0600: `key` in the store directory, or `file`. Anyone who can read the user's files can read
 *  both the key and the store. */
#define ENROLL_KEYS_FILE 0
/** For a new store, or a store whose key moves to another provider: the passphrase if one is given, else the Secret
 *  Service if there is one, else a key file. For an existing store: the provider that has its key. A locked keyring is
 *  not skipped: the call returns ENROLL_E_STORE_LOCKED. */
#define ENROLL_KEYS_AUTO 1
/** The desktop's keyring, through libsecret-1.so.0, which is opened when first needed. libsecret brings GLib's threads
 *  into the process. EnrollKit never asks the user to unlock anything. */
#define ENROLL_KEYS_SECRET_SERVICE 2
/** A key that scrypt derives from a passphrase of the user: opening the store takes a noticeable part of a second and
 *  128 MiB of memory. */
#define ENROLL_KEYS_PASSPHRASE 3
/** The host's own secret store, such as Keychain or Keystore. */
#define ENROLL_KEYS_HOST 4

/** Size in bytes of a secret that the host keeps. */
#define ENROLL_SECRET_SIZE 32

/** The host's own HTTP transport; defined below. */
typedef struct enroll_transport enroll_transport;
/** The host's own secret store; defined below. */
typedef struct enroll_secret_store enroll_secret_store;
/** The host's own clock; defined below. */
typedef struct enroll_clock enroll_clock;
/** The host's log of what a client does; defined below. */
typedef struct enroll_log enroll_log;
/** Callbacks that wait for one of the host's threads; defined below. */
typedef struct enroll_queue enroll_queue;

/** The key provider of a store: what protects its key. */
typedef struct enroll_keys {
  /** sizeof(enroll_keys): ENROLL_KEYS_INIT sets it. */
  size_t struct_size;
  /** ENROLL_KEYS_*. */
  int32_t provider;
  /** Zero. */
  int32_t reserved;
  /** How long the kernel's keyring keeps the opened key for the user's other processes; 0: not at all. At most a week.
   *  If the kernel refuses, the key is not kept. */
  int64_t session_cache_seconds;
  /** ENROLL_KEYS_FILE: an absolute path. Optional; the default is `key` in the store directory. */
  const char *file;
  size_t file_size;
  /** ENROLL_KEYS_PASSPHRASE, ENROLL_KEYS_AUTO: the passphrase, at most 1024 bytes. Optional; without it, a store that
   *  has a passphrase stays locked. */
  const char *passphrase;
  size_t passphrase_size;
  /** Required with ENROLL_KEYS_HOST, NULL otherwise. */
  const enroll_secret_store *host;
} enroll_keys;

/* clang-format off */
#define ENROLL_KEYS_INIT {sizeof(enroll_keys), 0, 0, 0, NULL, 0, NULL, 0, NULL}
/* clang-format on */

/** Initializes `keys` as ENROLL_KEYS_INIT does; see enroll_error_init. */
void enroll_keys_init(enroll_keys *keys, size_t struct_size);

/** The options of a client. enroll_client_new copies all of them except `queue`. */
typedef struct enroll_client_options {
  /** sizeof(enroll_client_options): ENROLL_CLIENT_OPTIONS_INIT sets it. */
  size_t struct_size;
  /** The configuration as a JSON object: `issuer`, `clientId`, `redirectUri`, … At most 1 MiB. Required. */
  const char *configuration;
  size_t configuration_size;
  /** The store directory: an absolute path whose parent exists. The library creates the directory with mode 0700 if it
   *  is missing. At most 4095 bytes. Required with ENROLL_STORE_DIRECTORY, not allowed otherwise. */
  const char *store_directory;
  size_t store_directory_size;
  /** The account name: 1 to 128 bytes without control characters. Optional; the default is "default". The same name
   *  with another issuer or client id is another account. */
  const char *account;
  size_t account_size;
  /** ENROLL_STORE_*. */
  int32_t store;
  /** 1: the platform is not a native app, and the configured stand-in token is used. 0: it is a native app. */
  int32_t is_not_native;
  /** 1: calls about the registration wait for enroll_platform_ready. 0: they do not wait. */
  int32_t waits_for_platform;
  /** 1: the client renews tokens in the background, shortly before they are due, until enroll_client_free. 0: the first
   *  call that finds a token due renews it. */
  int32_t renews_in_background;
  /** The kind of device or page. Optional, like the next four members, with which the host describes the device. */
  const char *platform_type;
  size_t platform_type_size;
  /** The host app's version. Optional. */
  const char *app_version;
  size_t app_version_size;
  /** The host's own id for this device; the library reads no hardware ids. Optional. */
  const char *device_id;
  size_t device_id_size;
  /** Width of the screen in pixels; 0: not given. */
  int64_t platform_width;
  /** Height of the screen in pixels; 0: not given. */
  int64_t platform_height;
  /** The host's own HTTP transport; NULL: libcurl, opened when first needed. */
  const enroll_transport *transport;
  /** The key provider of the store; NULL: a key file in the store directory. Not allowed with ENROLL_STORE_MEMORY. */
  const enroll_keys *keys;
  /** The host's own clock; NULL: the system's. */
  const enroll_clock *clock;
  /** The log of what the client does; NULL: none. */
  const enroll_log *log;
  /** The queue in which the client's callbacks wait until the host runs them (enroll_queue_dispatch). It is not copied,
   *  and you may free it before the client. NULL: callbacks run on a thread of the client's own. */
  enroll_queue *queue;
} enroll_client_options;

/* clang-format off */
#define ENROLL_CLIENT_OPTIONS_INIT \
  {sizeof(enroll_client_options), NULL, 0, NULL, 0, NULL, 0, 0, 0, 0, 0, NULL, 0, NULL, 0, NULL, 0, 0, 0, NULL, NULL, \
   NULL, NULL, NULL}
/* clang-format on */

/** Initializes `options` as ENROLL_CLIENT_OPTIONS_INIT does; see enroll_error_init. */
void enroll_client_options_init(enroll_client_options *options, size_t struct_size);

/** Opens a client. Sends no request. `options` and `client` must not be NULL; free `*client` with enroll_client_free.
 *  Several clients may use one account in one directory, in one process or in many.
 *  Returns ENROLL_OK; ENROLL_E_CONFIGURATION (`field` names the key); ENROLL_E_JSON; [store]; ENROLL_E_UNSUPPORTED;
 *  ENROLL_E_BUSY (too many handles); [call] (ENROLL_E_HANDLE and ENROLL_E_FORKED refer to the queue).
 *  Command: client.open. */
enroll_status enroll_client_new(const enroll_client_options *options, enroll_client **client, enroll_error *error);

/** Closes a client. Calls that wait in other threads return ENROLL_E_CANCELLED, and the callbacks of pending calls
 *  receive that status; this function does not wait for callbacks. No new request is sent. Requests in progress end;
 *  revocations and similar messages to servers get 2 more seconds. If a code or a refresh token was sent, the client
 *  waits for the answer (at most 30 seconds) and stores it, so the program may exit afterwards. Then the subscriptions
 *  end (enroll_ended_callback); events that wait for their callback are not dropped. Tokens stay in the store. NULL
 *  does nothing.
 *  Returns ENROLL_OK; ENROLL_E_HANDLE (already freed, or never a client); ENROLL_E_REENTRANT. In a forked child it
 *  releases the handle and returns ENROLL_E_FORKED.
 *  Command: client.close. */
enroll_status enroll_client_free(enroll_client *client);

/** Reports that the host's platform is ready (Cordova's `deviceready`): calls that wait for it continue. Needed only
 *  with `waits_for_platform`; harmless otherwise.
 *  Returns ENROLL_OK; [call].
 *  Command: platform.ready. */
enroll_status enroll_platform_ready(enroll_client *client, enroll_error *error);

/* ---- Pending calls -------------------------------------------------------------------------------------------- */

/** A call that was started and will call back. You need the handle only to cancel the call; the functions that start a
 *  call also accept NULL. */
typedef struct enroll_pending enroll_pending;

/** Asks a pending call to end. Its callback then runs soon, with ENROLL_E_CANCELLED unless the call had already
 *  finished. A request that was sent is not undone: a renewal continues in the background and is stored.
 *  Returns ENROLL_OK, even if the call has ended or was cancelled before; ENROLL_E_HANDLE; ENROLL_E_FORKED. */
enroll_status enroll_pending_cancel(enroll_pending *pending);

/** Frees the handle, before or after the callback. Neither cancels nor waits. NULL does nothing.
 *  Returns ENROLL_OK; ENROLL_E_HANDLE. */
enroll_status enroll_pending_free(enroll_pending *pending);

/* ---- Callbacks on the host's threads -------------------------------------------------------------------------- */

/** Makes a queue for a program with an event loop: the callbacks of every client opened with the queue wait in it and
 *  run inside enroll_queue_dispatch. `queue` must not be NULL; free `*queue` with enroll_queue_free. With poll(2), for
 *  example:
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
 *  In GLib, watch the descriptor with g_unix_fd_add; in Qt, with QSocketNotifier; in libuv, with uv_poll_init.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many handles or descriptors); ENROLL_E_INVALID_ARGUMENT. */
enroll_status enroll_queue_new(enroll_queue **queue, enroll_error *error);

/** Gets a `descriptor` that is readable while callbacks wait in a `queue`. It belongs to the queue: poll it, level- or
 *  edge-triggered, but do not read or close it. `descriptor` must not be NULL.
 *  Returns ENROLL_OK; [call]. */
enroll_status enroll_queue_descriptor(enroll_queue *queue, int32_t *descriptor, enroll_error *error);

/** Runs the callbacks that wait in a `queue` on this thread, in order; callbacks that arrive meanwhile are left for the
 *  next call. `count` receives how many ran, including events that were dropped with their subscription. Does not wait.
 *  A callback may call this function again, in a nested loop, and may free the queue.
 *  Returns ENROLL_OK, even if no callback waited; ENROLL_E_BUSY (another thread is running callbacks of this queue);
 *  [call]. */
enroll_status enroll_queue_dispatch(enroll_queue *queue, size_t *count, enroll_error *error);

/** Frees a `queue` and its descriptor. Clients opened with the queue continue: waiting and later callbacks run on a
 *  thread of their own or, if the system provides none, on this thread. NULL does nothing.
 *  Returns ENROLL_OK; ENROLL_E_HANDLE (already freed, or never a queue). */
enroll_status enroll_queue_free(enroll_queue *queue);

/* ---- Registration --------------------------------------------------------------------------------------------- */

/* The states of a registration. The letters A to H are the documentation's short names (docs/states.md). */
/** The state has not been requested yet, or the platform is not ready. */
#define ENROLL_STATE_STARTING 0
/** There is no token: offer the ways to register (D). */
#define ENROLL_STATE_UNREGISTERED 1
/** A transaction is in progress. */
#define ENROLL_STATE_AUTHENTICATING 2
/** Tokens arrived: show the profile (enroll_account_waiting) and wait for the user's confirmation (G). */
#define ENROLL_STATE_AWAITING_CONFIRMATION 3
/** An access token is available (A, B, C, H). */
#define ENROLL_STATE_ACTIVE 4
/** The token was due and could not be renewed (E). */
#define ENROLL_STATE_RENEWAL_FAILED 5
/** The browser, link, app or code step failed (F). */
#define ENROLL_STATE_REGISTRATION_FAILED 6

/* The step that a transaction in progress waits for. */
/** No transaction is in progress. */
#define ENROLL_STEP_NONE 0
/** The browser's redirect. */
#define ENROLL_STEP_BROWSER 1
/** The link in an e-mail. */
#define ENROLL_STEP_EMAIL_PENDING 2
/** The one-time code that the user types, here or on another device. */
#define ENROLL_STEP_CODE_PENDING 3
/** The return from another app. */
#define ENROLL_STEP_OTHER_APP 4
/** The provider's answer to the code: no action is needed. */
#define ENROLL_STEP_EXCHANGING 5
/** The PIN for the account (enroll_pin_set). */
#define ENROLL_STEP_PIN 6

/* How a registration became active. */
/** It is not active. */
#define ENROLL_ACTIVE_REASON_NONE 0
/** The platform is not native, and the stand-in token is used (A). */
#define ENROLL_ACTIVE_REASON_NOT_NATIVE 1
/** The access token was present and not due (B). */
#define ENROLL_ACTIVE_REASON_VALID 2
/** The token was due, and its renewal succeeded (C). */
#define ENROLL_ACTIVE_REASON_RENEWED 3
/** The user confirmed (H). */
#define ENROLL_ACTIVE_REASON_CONFIRMED 4

/* The remedy after a failed renewal. */
/** Nothing is needed. */
#define ENROLL_REMEDY_NONE 0
/** Retry, now or when the network is back. */
#define ENROLL_REMEDY_RETRY 1
/** Wait: the provider is failing, or asked the client to wait. */
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
  /** 1 if nothing more happens until the host or the user acts. */
  int32_t is_settled;
  /** ENROLL_REMEDY_*, if `kind` is ENROLL_STATE_RENEWAL_FAILED. */
  int32_t remedy;
  /** 1 if `kind` is ENROLL_STATE_RENEWAL_FAILED and the old access token still works. */
  int32_t is_token_usable;
  /** Why the renewal or the registration failed; ENROLL_OK if neither failed. After ENROLL_STATE_REGISTRATION_FAILED
   *  the attempt has ended: let the user begin again. */
  enroll_status reason;
  /** Status of the HTTP response behind `reason`; 0 for none. */
  int32_t reason_http_status;
  /** The transaction in progress, or the transaction whose profile the user has to confirm
   *  (ENROLL_STATE_AWAITING_CONFIRMATION); else empty. */
  char transaction[ENROLL_TRANSACTION_CAPACITY];
  /** The provider's own error code behind `reason`; empty for none. */
  char reason_oauth_error[ENROLL_OAUTH_ERROR_CAPACITY];
  /** `reason` in words, for a log. */
  char reason_message[ENROLL_MESSAGE_CAPACITY];
  /** The provider's own words about its error, for a log; empty if there are none, or if they may repeat a secret. */
  char reason_oauth_error_description[ENROLL_OAUTH_DESCRIPTION_CAPACITY];
} enroll_state;

/* clang-format off */
#define ENROLL_STATE_INIT {sizeof(enroll_state), 0, 0, 0, 0, 0, 0, 0, 0, {0}, {0}, {0}, {0}}
/* clang-format on */

/** Initializes `state` as ENROLL_STATE_INIT does; see enroll_error_init. */
void enroll_state_init(enroll_state *state, size_t struct_size);

/** The JSON name of `kind`, ENROLL_STATE_*: "awaitingConfirmation"; "failed" for both failures; "unknown" for any other
 *  number. Never NULL; static, not to be freed. */
const char *enroll_state_name(int32_t kind);

/** The JSON name of `step`, ENROLL_STEP_*: "browser". Never NULL; static, not to be freed. */
const char *enroll_step_name(int32_t step);

/** The JSON name of `active_reason`, ENROLL_ACTIVE_REASON_*: "confirmed". Never NULL; static, not to be freed. */
const char *enroll_active_reason_name(int32_t active_reason);

/** The JSON name of `remedy`, ENROLL_REMEDY_*: "retry". Never NULL; static, not to be freed. */
const char *enroll_remedy_name(int32_t remedy);

/** Reads the state of the registration. The first call starts the registration: it renews a session whose token is due
 *  and, with `waits_for_platform`, waits for the platform, no longer than `timeout_ms`; with 0 milliseconds the state
 *  is ENROLL_STATE_STARTING meanwhile. With `wait` 1 it returns once the state is settled: nothing more happens until
 *  the host or the user acts. With `wait` 0 it also reports a transaction in progress, which an earlier run of the
 *  program may have left in the browser: at startup, pass 0 and let the user begin again.
 *  Returns ENROLL_OK; [store]; [wait]; [call].
 *  Command: registration.state. */
enroll_status enroll_registration_state(enroll_client *client, int32_t wait, int64_t timeout_ms, enroll_state *state,
                                        enroll_error *error);

/* The kind of transaction to begin. */
/** A sign-in in the browser. */
#define ENROLL_KIND_SIGN_IN 0
/** A registration, as `registration` in the configuration says. */
#define ENROLL_KIND_REGISTER 1
/** A one-time code or a link, by e-mail or SMS. */
#define ENROLL_KIND_PASSWORDLESS 2
/** A sign-in through another app. */
#define ENROLL_KIND_APP2APP 3
/** A sign-in through the host's own back end. */
#define ENROLL_KIND_BFF 4
/** A sign-in in a browser on another device (RFC 8628). */
#define ENROLL_KIND_DEVICE 5

/* The message that the user receives with ENROLL_KIND_PASSWORDLESS. */
/** A code to type in the app. */
#define ENROLL_MESSAGE_CODE 0
/** A link to open. */
#define ENROLL_MESSAGE_LINK 1

/** How to begin. Strings are optional, at most 16 KiB each unless stated otherwise. RFC 6749 3.3 defines `scopes`;
 *  OpenID Connect Core 3.1.2.1 defines `prompt`, `max_age_seconds` and the members from `login_hint` to
 *  `id_token_hint`. */
typedef struct enroll_begin_options {
  /** sizeof(enroll_begin_options): ENROLL_BEGIN_OPTIONS_INIT sets it. */
  size_t struct_size;
  /** ENROLL_KIND_*. */
  int32_t kind;
  /** 1: `max_age_seconds` applies. */
  int32_t has_max_age;
  /** The user must have signed in at most this many seconds ago; not negative. */
  int64_t max_age_seconds;
  /** Scopes for this call, separated by spaces, instead of the configured ones. */
  const char *scopes;
  size_t scopes_size;
  /** `none`, `login`, `consent`, `select_account`, `create`, or several separated by spaces. */
  const char *prompt;
  size_t prompt_size;
  /** The user name or e-mail address to suggest at sign-in. */
  const char *login_hint;
  size_t login_hint_size;
  /** Languages for the provider's pages, separated by spaces (BCP 47). */
  const char *ui_locales;
  size_t ui_locales_size;
  /** The requested authentication contexts, separated by spaces. */
  const char *acr_values;
  size_t acr_values_size;
  /** An id_token of the user whose session `prompt=none` checks, for providers that need it; at most 64 KiB. */
  const char *id_token_hint;
  size_t id_token_hint_size;
  /** Additional authorization parameters, a JSON object of strings; at most 64 KiB. */
  const char *parameters;
  size_t parameters_size;
  /** The provider's name for the connection that the user chose. Required with ENROLL_KIND_BFF, where it is the back
   *  end's name for the provider. */
  const char *connection;
  size_t connection_size;
  /** ENROLL_KIND_PASSWORDLESS: the e-mail address that receives the code or link. */
  const char *email;
  size_t email_size;
  /** ENROLL_KIND_PASSWORDLESS: the phone number (E.164) that receives the code; give this or `email`. */
  const char *phone_number;
  size_t phone_number_size;
  /** ENROLL_KIND_PASSWORDLESS: ENROLL_MESSAGE_*. */
  int32_t message;
  /** 1: the URL is not opened at once, for example because it is shown. The request is then pushed only if that is
   *  required: see `url_expires_at`. */
  int32_t opens_later;
} enroll_begin_options;

/* clang-format off */
#define ENROLL_BEGIN_OPTIONS_INIT \
  {sizeof(enroll_begin_options), 0, 0, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, \
   NULL, 0, NULL, 0, 0, 0}
/* clang-format on */

/** Initializes `options` as ENROLL_BEGIN_OPTIONS_INIT does; see enroll_error_init. */
void enroll_begin_options_init(enroll_begin_options *options, size_t struct_size);

/* The action that the host must take for a transaction to continue. */
/** Open the URL in the external browser. Pass the redirect to enroll_registration_resume, unless the listener receives
 *  it. */
#define ENROLL_ACTION_OPEN_URL 1
/** Ask the user for the one-time code that was sent, and pass it to enroll_registration_submit_code. */
#define ENROLL_ACTION_ENTER_CODE 2
/** Tell the user to open the link in the e-mail that was sent. Pass the redirect to enroll_registration_resume. */
#define ENROLL_ACTION_AWAIT_LINK 5
/** Open the URL, a link to another app. Pass the URL that comes back to enroll_registration_resume. */
#define ENROLL_ACTION_OPEN_OTHER_APP 3
/** Show the user `user_code` and `verification_uri` to type in a browser on another device, and call
 *  enroll_registration_await_outcome, which polls the provider (RFC 8628). The URL is `verification_uri`, including the
 *  code if the provider supports that: use it for a QR code. */
#define ENROLL_ACTION_SHOW_DEVICE_CODE 4

/** A transaction that has begun. */
typedef struct enroll_transaction {
  /** sizeof(enroll_transaction): ENROLL_TRANSACTION_INIT sets it. */
  size_t struct_size;
  /** ENROLL_ACTION_*. */
  int32_t action;
  /** 0: a listener in this process receives the redirect, which is lost if the process ends (RFC 8252 7.3): use
   *  enroll_registration_await_outcome. 1: any process with the store may pass the redirect to
   *  enroll_registration_resume. */
  int32_t survives_process;
  /** When the transaction expires: seconds since 1970. */
  int64_t expires_at;
  /** The transaction's id. */
  char id[ENROLL_TRANSACTION_CAPACITY];
  /** ENROLL_ACTION_SHOW_DEVICE_CODE: the code that the user types (RFC 8628 3.2). */
  char user_code[ENROLL_USER_CODE_CAPACITY];
  /** ENROLL_ACTION_SHOW_DEVICE_CODE: the URL of the page where the user types that code. */
  char verification_uri[ENROLL_VERIFICATION_URI_CAPACITY];
  /** ENROLL_ACTION_OPEN_URL: until when the URL can be opened, because the provider keeps the pushed request only until
   *  then (RFC 9126 2.2), in seconds since 1970; 0 if it can be opened until `expires_at`. */
  int64_t url_expires_at;
} enroll_transaction;

/* clang-format off */
#define ENROLL_TRANSACTION_INIT {sizeof(enroll_transaction), 0, 0, 0, {0}, {0}, {0}, 0}
/* clang-format on */

/** Initializes `transaction` as ENROLL_TRANSACTION_INIT does; see enroll_error_init. */
void enroll_transaction_init(enroll_transaction *transaction, size_t struct_size);

/** Begins a transaction: discovers the provider, stores the transaction, and returns the URL to open in the browser.
 *  For a loopback redirect it also opens the listener. `options` may be NULL for a sign-in with the configured scopes.
 *  `transaction` says what the host has to do next. `url` must not be NULL. `redirect_uri` is the redirect URI that was
 *  sent, including a chosen port. If the provider accepts pushed requests, the URL contains only a reference to the
 *  request, and this call returns the provider's refusal, if any. While a sign-in waits for confirmation, perhaps from
 *  an earlier process, the call fails with ENROLL_E_ILLEGAL_STATE: confirm or retry first.
 *  Returns ENROLL_OK; ENROLL_E_ILLEGAL_STATE; ENROLL_E_UNSUPPORTED (the kind, or something that the configuration
 *  requires); ENROLL_E_CONFIGURATION (a key for this kind is missing); ENROLL_E_JSON (`parameters`); ENROLL_E_BUSY (the
 *  port of the loopback redirect is in use); ENROLL_E_OAUTH (a pushed request was refused); [network]; [store]; [wait];
 *  [call].
 *  Command: registration.begin. Source: RFC 6749 4.1.1, RFC 7636, RFC 8252, RFC 9126. */
enroll_status enroll_registration_begin(enroll_client *client, const enroll_begin_options *options, int64_t timeout_ms,
                                        enroll_transaction *transaction, enroll_buf *url, enroll_buf *redirect_uri,
                                        enroll_error *error);

/** Completes a transaction with its redirect: verifies it, exchanges the code, validates the id_token and stores the
 *  tokens. A URL that no pending transaction expects has no effect. If the provider refuses or a check fails, the
 *  transaction is settled as failed, the call returns that failure, and the state is ENROLL_STATE_REGISTRATION_FAILED.
 *  Returns ENROLL_OK; ENROLL_E_REDIRECT_MALFORMED; ENROLL_E_REDIRECT_MISMATCH; ENROLL_E_UNSOLICITED;
 *  ENROLL_E_ALREADY_SETTLED; ENROLL_E_TRANSACTION_EXPIRED; ENROLL_E_ACCESS_DENIED; ENROLL_E_LOGIN_REQUIRED;
 *  ENROLL_E_INTERACTION_REQUIRED; ENROLL_E_CONSENT_REQUIRED; ENROLL_E_OAUTH; ENROLL_E_ACTIVATION_FAILED (after an
 *  e-mail link); ENROLL_E_ID_TOKEN_INVALID; ENROLL_E_KEYS_UNAVAILABLE; ENROLL_E_PROFILE_MISMATCH;
 *  ENROLL_E_ILLEGAL_STATE; [network]; [store]; [wait]; [call].
 *  Command: registration.resume. Source: RFC 6749 4.1.2, RFC 9207, OpenID Connect Core 3.1.3.7. */
enroll_status enroll_registration_resume(enroll_client *client, const char *url, size_t url_size, int64_t timeout_ms,
                                         enroll_state *state, enroll_error *error);

/** Like enroll_registration_resume, for a URL that the host attributes to this transaction. Needed only for URLs
 *  without `state` (ENROLL_KIND_APP2APP) when several transactions of that kind are pending; a `state` in the URL must
 *  belong to this transaction.
 *  Returns what enroll_registration_resume returns; ENROLL_E_NOT_FOUND.
 *  Command: registration.resume. */
enroll_status enroll_registration_resume_transaction(enroll_client *client, const char *transaction,
                                                     size_t transaction_size, const char *url, size_t url_size,
                                                     int64_t timeout_ms, enroll_state *state, enroll_error *error);

/** Submits the one-time `code` that the user typed after ENROLL_ACTION_ENTER_CODE; at most 64 bytes.
 *  ENROLL_E_CODE_REJECTED means that the code is wrong and the transaction waits for another code. After five wrong
 *  codes the transaction ends with ENROLL_E_ACCESS_DENIED; the provider may end it earlier, with ENROLL_E_OAUTH. If
 *  the provider cannot be reached, nothing has changed and you may submit the code again.
 *  Returns ENROLL_OK; ENROLL_E_CODE_REJECTED; ENROLL_E_ACCESS_DENIED; ENROLL_E_OAUTH; ENROLL_E_NOT_FOUND;
 *  ENROLL_E_ALREADY_SETTLED; ENROLL_E_TRANSACTION_EXPIRED; ENROLL_E_ILLEGAL_STATE; ENROLL_E_ID_TOKEN_INVALID;
 *  ENROLL_E_KEYS_UNAVAILABLE; [network]; [store]; [wait]; [call].
 *  Command: registration.submitCode. */
enroll_status enroll_registration_submit_code(enroll_client *client, const char *transaction, size_t transaction_size,
                                              const char *code, size_t code_size, int64_t timeout_ms,
                                              enroll_state *state, enroll_error *error);

/** Waits until a `transaction` that completes by itself is settled: by a loopback redirect, or by the user on another
 *  device (ENROLL_KIND_DEVICE). In the latter case it polls the provider as often as the provider allows, and any
 *  process with the store may call this function.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND; ENROLL_E_TRANSACTION_EXPIRED; what enroll_registration_resume returns;
 *  ENROLL_E_DEADLINE_EXCEEDED (the transaction stays pending); [call].
 *  Command: registration.awaitOutcome. Source: RFC 8252 7.3, RFC 8628 3.5. */
enroll_status enroll_registration_await_outcome(enroll_client *client, const char *transaction, size_t transaction_size,
                                                int64_t timeout_ms, enroll_state *state, enroll_error *error);

/** Confirms the profile of this transaction for the user: the state becomes ENROLL_STATE_ACTIVE, and the provisional
 *  tokens become the session. Pass the `transaction` that the state or enroll_account_waiting contains. Between the
 *  question and its answer another sign-in can arrive, in another process for example. If the tokens of another
 *  transaction wait, or no tokens wait, the call fails with ENROLL_E_ILLEGAL_STATE and nothing changes. With
 *  `requireVerifiedEmail` or `registrationCheckUri` this function may ask the provider and the back end first; each
 *  request times out after 30 seconds.
 *  Returns ENROLL_OK; ENROLL_E_ILLEGAL_STATE; ENROLL_E_EMAIL_NOT_VERIFIED, ENROLL_E_UNKNOWN_ACCOUNT, [network] (the
 *  sign-in still waits for confirmation); ENROLL_E_PROFILE_MISMATCH (the registration has failed); ENROLL_E_OAUTH (the
 *  renewal has failed); [store]; [wait]; [call].
 *  Command: registration.confirm. */
enroll_status enroll_registration_confirm_transaction(enroll_client *client, const char *transaction,
                                                      size_t transaction_size, enroll_state *state,
                                                      enroll_error *error);

/** Like enroll_registration_confirm_transaction, for the only sign-in that this client has reported as waiting. The
 *  call fails with ENROLL_E_ILLEGAL_STATE if the client has reported no such sign-in or several, if another sign-in
 *  waits, or if another user's session is confirmed: enroll_identity_profile then describes that user.
 *  Returns what enroll_registration_confirm_transaction returns.
 *  Command: registration.confirm. */
enroll_status enroll_registration_confirm(enroll_client *client, enroll_state *state, enroll_error *error);

/** Starts over: erases provisional tokens, which are revoked unless their user has a session, and keeps confirmed
 *  tokens; in the transaction that begins next, the user can choose another account. If a server cannot be reached,
 *  the revocation is sent later.
 *  Returns ENROLL_OK; ENROLL_E_ILLEGAL_STATE; [store]; [wait]; [call].
 *  Command: registration.retry. */
enroll_status enroll_registration_retry(enroll_client *client, int64_t timeout_ms, enroll_state *state,
                                        enroll_error *error);

/** Reports that the user left the browser. This is only a hint: a valid redirect that arrives before the transaction's
 *  deadline still counts. From then on a registration waits for the link in the user's e-mail
 *  (ENROLL_STEP_EMAIL_PENDING, even after the process ends); enroll_registration_retry ends that wait. `transaction` is
 *  optional; without it, the call applies to all pending transactions.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND; [store]; [call].
 *  Command: registration.cancel. */
enroll_status enroll_registration_cancel(enroll_client *client, const char *transaction, size_t transaction_size,
                                         enroll_state *state, enroll_error *error);

/** Logs out and forgets the device: does what enroll_logout_begin does, but revokes at once in any case, erases
 *  pending transactions and resets the installation id. enroll_logout_told says whether the provider knows of the
 *  revocation. `url`, which may be NULL, receives the URL that ends the session in the browser; if there is none, it
 *  becomes empty, with size 0.
 *  Returns ENROLL_OK; [store]; [wait]; [call].
 *  Command: registration.deregister. */
enroll_status enroll_registration_deregister(enroll_client *client, int64_t timeout_ms, enroll_buf *url,
                                             enroll_state *state, enroll_error *error);

/** Reports that the link of ENROLL_ACTION_OPEN_OTHER_APP could not be opened because the app is not on the device. The
 *  transaction fails, and the state is ENROLL_STATE_REGISTRATION_FAILED.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND; ENROLL_E_ILLEGAL_STATE (not ENROLL_KIND_APP2APP); ENROLL_E_ALREADY_SETTLED;
 *  ENROLL_E_TRANSACTION_EXPIRED; [store]; [call].
 *  Command: registration.otherAppMissing. */
enroll_status enroll_registration_other_app_missing(enroll_client *client, const char *transaction,
                                                    size_t transaction_size, enroll_state *state, enroll_error *error);

/** Erases the local state; sends nothing. To log out, see enroll_logout_begin.
 *  Returns ENROLL_OK; [store]; [call].
 *  Command: registration.clear. */
enroll_status enroll_registration_clear(enroll_client *client, enroll_state *state, enroll_error *error);

/* The kinds of URLs that reach the app. */
/** The redirect of a transaction; `state` is the new state of the registration. */
#define ENROLL_URL_REGISTRATION 1
/** The callback of a logout that began here. */
#define ENROLL_URL_LOGOUT 2
/** No transaction expects the URL; nothing changed. */
#define ENROLL_URL_UNSOLICITED 3
/** A link began a transaction: do what `transaction` says with the returned URL. */
#define ENROLL_URL_BEGUN 4
/** The link was used before, or is a fallback after a link was used; nothing changed. */
#define ENROLL_URL_LINK_USED 5
/** No transaction waits for the link any more; nothing changed. */
#define ENROLL_URL_LINK_EXPIRED 6

/* What a host may offer the user if a link had no effect: bits that combine. */
/** Signing in: the account may exist, or the link may have been opened in another browser. */
#define ENROLL_OFFER_SIGN_IN 1
/** Registering: another e-mail is sent. */
#define ENROLL_OFFER_REGISTER 2

/** Handles a `link` that reached the app: the link in a registration e-mail (`appLinks`), or `fallbackUri`. Each link
 *  works once, and only while a transaction waits for it; then `kind` receives ENROLL_URL_BEGUN, and `transaction` and
 *  `url` say what the host has to do next. Otherwise `kind` receives ENROLL_URL_UNSOLICITED, ENROLL_URL_LINK_USED or
 *  ENROLL_URL_LINK_EXPIRED, and `offers` receives ENROLL_OFFER_*. `url` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_REDIRECT_MALFORMED (not a valid URL, or its token is missing, too long or has invalid
 *  characters); ENROLL_E_REDIRECT_MISMATCH (not one of the configured links); ENROLL_E_ILLEGAL_STATE; [network] (the
 *  link can be used again); [store]; [wait]; [call].
 *  Command: registration.handleLink. Source: RFC 9700 4.11. */
enroll_status enroll_registration_handle_link(enroll_client *client, const char *link, size_t link_size,
                                              int64_t timeout_ms, int32_t *kind, int32_t *offers,
                                              enroll_transaction *transaction, enroll_buf *url, enroll_error *error);

/** Handles any `url` that reaches the app. `kind` receives ENROLL_URL_*. `state` is written only for
 *  ENROLL_URL_REGISTRATION, `transaction` and `next_url` (which may be NULL for a client without links) only for
 *  ENROLL_URL_BEGUN, and `offers` only if a link had no effect. If no user is signed in at the provider when a
 *  fallback link arrives, an ordinary sign-in begins: ENROLL_URL_BEGUN.
 *  Returns ENROLL_OK; what enroll_registration_resume and enroll_registration_handle_link return, except
 *  ENROLL_E_UNSOLICITED and ENROLL_E_REDIRECT_MISMATCH.
 *  Command: url.handle. */
enroll_status enroll_url_handle(enroll_client *client, const char *url, size_t url_size, int64_t timeout_ms,
                                int32_t *kind, enroll_state *state, int32_t *offers, enroll_transaction *transaction,
                                enroll_buf *next_url, enroll_error *error);

/** Receives a transaction that has begun. `transaction`, `url` and `redirect_uri` are NULL unless `status` is
 *  ENROLL_OK; `error` is NULL if `status` is ENROLL_OK. */
typedef void (*enroll_begin_callback)(void *user_data, enroll_status status, const enroll_transaction *transaction,
                                      const char *url, const char *redirect_uri, const enroll_error *error);

/** Receives a state. `state` is NULL unless `status` is ENROLL_OK; `error` is NULL if `status` is ENROLL_OK. */
typedef void (*enroll_state_callback)(void *user_data, enroll_status status, const enroll_state *state,
                                      const enroll_error *error);

/** Like enroll_registration_state, but returns at once and passes the result to the callback.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls; the callback does not run); [call]. */
enroll_status enroll_registration_state_start(enroll_client *client, int32_t wait, int64_t timeout_ms,
                                              enroll_state_callback callback, void *user_data, enroll_pending **pending,
                                              enroll_error *error);

/** Like enroll_registration_begin, but returns at once and passes the result to the callback.
 *  Returns ENROLL_OK; ENROLL_E_JSON (`parameters`); ENROLL_E_BUSY (too many pending calls; the callback does not run);
 *  [call]. */
enroll_status enroll_registration_begin_start(enroll_client *client, const enroll_begin_options *options,
                                              int64_t timeout_ms, enroll_begin_callback callback, void *user_data,
                                              enroll_pending **pending, enroll_error *error);

/** Like enroll_registration_resume, but returns at once and passes the result to the callback.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls; the callback does not run); [call]. */
enroll_status enroll_registration_resume_start(enroll_client *client, const char *url, size_t url_size,
                                               int64_t timeout_ms, enroll_state_callback callback, void *user_data,
                                               enroll_pending **pending, enroll_error *error);

/** Like enroll_registration_await_outcome, but returns at once and passes the result to the callback. Each pending call
 *  occupies a thread of the client.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls; the callback does not run); [call]. */
enroll_status enroll_registration_await_outcome_start(enroll_client *client, const char *transaction,
                                                      size_t transaction_size, int64_t timeout_ms,
                                                      enroll_state_callback callback, void *user_data,
                                                      enroll_pending **pending, enroll_error *error);

/* ---- Tokens --------------------------------------------------------------------------------------------------- */

/* The outcome of a call that returns an access token. */
/** The token is fresh, or was just renewed. */
#define ENROLL_ACCESS_VALID 1
/** The token is due and could not be renewed (`reason`); it still works until `expires_at`. */
#define ENROLL_ACCESS_STALE 2

/** Describes an access token. */
typedef struct enroll_access {
  /** sizeof(enroll_access): ENROLL_ACCESS_INIT sets it. */
  size_t struct_size;
  /** ENROLL_ACCESS_*. */
  int32_t outcome;
  /** Why a stale token was not renewed; ENROLL_OK otherwise. */
  enroll_status reason;
  /** When the token expires, by this device's clock: seconds since 1970. */
  int64_t expires_at;
  /** The type as the server spelled it: "Bearer", "DPoP". Send a DPoP token as `Authorization: DPoP TOKEN`, together
   *  with a proof from enroll_dpop_proof. */
  char token_type[ENROLL_TOKEN_TYPE_CAPACITY];
} enroll_access;

/* clang-format off */
#define ENROLL_ACCESS_INIT {sizeof(enroll_access), 0, 0, 0, {0}}
/* clang-format on */

/** Initializes `access` as ENROLL_ACCESS_INIT does; see enroll_error_init. */
void enroll_access_init(enroll_access *access, size_t struct_size);

/** Gets an access token that works; call it before every request. A fresh token comes from memory; a token that is due
 *  is renewed first, once for all threads and processes that ask at the same time. `minimum_lifetime` is how many
 *  seconds the token must still be valid, but at most nine tenths of its whole lifetime; 0 means the configured grace
 *  period. `access` receives the outcome. `token` must not be NULL.
 *  Returns ENROLL_OK (`access->outcome` is ENROLL_ACCESS_VALID or ENROLL_ACCESS_STALE); ENROLL_E_REAUTHENTICATE (no
 *  user is signed in, or the provider ended the session); ENROLL_E_EXPIRED (no network: retry later);
 *  ENROLL_E_REJECTED; ENROLL_E_BUSY (another renewal is in progress, and `timeout_ms` passed); ENROLL_E_ILLEGAL_STATE
 *  (the tokens wait for confirmation); [store]; ENROLL_E_CANCELLED; [call].
 *  Command: token.access. Source: RFC 6749 6, RFC 8707. */
enroll_status enroll_token_access(enroll_client *client, int64_t minimum_lifetime, int64_t timeout_ms,
                                  enroll_access *access, enroll_buf *token, enroll_error *error);

/** Like enroll_token_access, but copies the token and a NUL into the caller's `buffer` of `capacity` bytes. With a
 *  fresh token in memory it allocates nothing, does no I/O and takes well under a microsecond. `size` receives the
 *  token's size in bytes without the NUL, even with ENROLL_E_BUFFER_TOO_SMALL: then `*size + 1` bytes are needed, and
 *  the buffer's content is undefined but contains no token. `buffer` may be NULL with capacity 0, to query the size.
 *  `expires_at` receives the time at which the token expires, in seconds since 1970.
 *  Returns what enroll_token_access returns; ENROLL_E_BUFFER_TOO_SMALL. */
enroll_status enroll_token_copy(enroll_client *client, int64_t minimum_lifetime, int64_t timeout_ms, char *buffer,
                                size_t capacity, size_t *size, int64_t *expires_at, enroll_error *error);

/** Renews the token now, however long it is still valid: call this after a resource server rejected the token.
 *  `access` receives the outcome. Nothing is sent during a pause that the provider asked for, or that follows its
 *  refusal. `token` must not be NULL.
 *  Returns what enroll_token_access returns.
 *  Command: token.refresh. Source: RFC 6749 6, RFC 8707. */
enroll_status enroll_token_refresh(enroll_client *client, int64_t timeout_ms, enroll_access *access, enroll_buf *token,
                                   enroll_error *error);

/** The audience of an access token other than the session's own (RFC 8707): `resource`, `scope` or both. Each audience
 *  has its own access token, kept alongside the session's and renewed with the same refresh token. There are at most 16
 *  audiences. */
typedef struct enroll_audience {
  /** sizeof(enroll_audience): ENROLL_AUDIENCE_INIT sets it. */
  size_t struct_size;
  /** The resource server: an absolute https URL without fragment, at most 2048 bytes; optional. */
  const char *resource;
  size_t resource_size;
  /** The scopes that the token should have, out of those that the user granted, separated by spaces; optional. */
  const char *scope;
  size_t scope_size;
} enroll_audience;

/* clang-format off */
#define ENROLL_AUDIENCE_INIT {sizeof(enroll_audience), NULL, 0, NULL, 0}
/* clang-format on */

/** Initializes `audience` as ENROLL_AUDIENCE_INIT does; see enroll_error_init. */
void enroll_audience_init(enroll_audience *audience, size_t struct_size);

/** Like enroll_token_access, for `audience`; NULL means the session's own token. If the provider refuses this audience,
 *  the session and all other tokens stay as they are, and no process requests this audience again for a minute, or, if
 *  it refused the resource, until the next sign-in. If a renewal may have made an older token invalid, the next call
 *  for that token renews it. enroll_token_list lists the scopes that the provider granted. For `minimum_lifetime` see
 *  enroll_token_access. `token` must not be NULL.
 *  Returns what enroll_token_access returns; ENROLL_E_REJECTED (`invalid_target`, `invalid_scope`, no refresh token).
 *  Command: token.access. Source: RFC 6749 6, RFC 8707. */
enroll_status enroll_token_access_for(enroll_client *client, const enroll_audience *audience, int64_t minimum_lifetime,
                                      int64_t timeout_ms, enroll_access *access, enroll_buf *token,
                                      enroll_error *error);

/** Like enroll_token_copy, for `audience`; NULL means the session's own token. It is as fast as enroll_token_copy,
 *  whatever the order of the scopes. For `minimum_lifetime` see enroll_token_access.
 *  Returns what enroll_token_access_for returns; ENROLL_E_BUFFER_TOO_SMALL. */
enroll_status enroll_token_copy_for(enroll_client *client, const enroll_audience *audience, int64_t minimum_lifetime,
                                    int64_t timeout_ms, char *buffer, size_t capacity, size_t *size,
                                    int64_t *expires_at, enroll_error *error);

/** Like enroll_token_refresh, for `audience`; NULL means the session's own token. `token` must not be NULL.
 *  Returns what enroll_token_access_for returns.
 *  Command: token.refresh. Source: RFC 6749 6, RFC 8707. */
enroll_status enroll_token_refresh_for(enroll_client *client, const enroll_audience *audience, int64_t timeout_ms,
                                       enroll_access *access, enroll_buf *token, enroll_error *error);

/** Lists the stored access tokens, without the tokens themselves. `tokens` becomes a JSON array of objects with the
 *  granted scopes, the type, the expiry and, except for the session's own token, which comes first, the requested
 *  `resource` and `scope`; the manifest describes them as KeptToken. `tokens` must not be NULL.
 *  Returns ENROLL_OK; [store]; [call].
 *  Command: token.list. Source: RFC 8707. */
enroll_status enroll_token_list(enroll_client *client, enroll_buf *tokens, enroll_error *error);

/** Erases the tokens on this device and revokes them at the provider, without ending the session in the browser.
 *  Transactions that began before this call end, too. If enroll_logout_begin left a revocation that waits for the
 *  browser, it is sent now. enroll_logout_told says whether the provider knows of the revocation.
 *  Returns ENROLL_OK; [store]; [wait]; [call].
 *  Command: token.revoke. Source: RFC 7009. */
enroll_status enroll_token_revoke(enroll_client *client, int64_t timeout_ms, enroll_error *error);

/* The tokens of a session. */
/** The access token. */
#define ENROLL_TOKEN_ACCESS 0
/** The refresh token. */
#define ENROLL_TOKEN_REFRESH 1

/** Asks the provider about a `token`, ENROLL_TOKEN_*, without returning the token. `claims` receives a JSON object
 *  whose member `active` is true or false, and must not be NULL. An access token that is due is renewed first;
 *  without a valid access token nothing is sent.
 *  Returns ENROLL_OK; ENROLL_E_UNSUPPORTED (the provider has no such endpoint); ENROLL_E_NOT_FOUND (no such token);
 *  ENROLL_E_OAUTH (the provider refuses to answer this client); what enroll_token_access returns;
 *  [network]; [wait]; [call].
 *  Command: token.introspect. Source: RFC 7662. */
enroll_status enroll_token_introspect(enroll_client *client, int32_t token, int64_t timeout_ms, enroll_buf *claims,
                                      enroll_error *error);

/** Makes the proof for one of the host's own requests that carries a token of type "DPoP": the value of its header
 *  `DPoP`. `method` is the method as sent. `url` is the https URL, without user information and with its path as sent;
 *  its query and fragment are removed. `nonce` is the value that the server sent in `DPoP-Nonce` (at most 1024 bytes);
 *  optional, the default is that server's last nonce. `access_token` is the token that the request carries, at most 1
 *  MiB; optional, the default is the current token. Sends nothing. `proof` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_ILLEGAL_STATE (the token is a Bearer token); ENROLL_E_REAUTHENTICATE; [store]; [call].
 *  Command: dpop.proof. Source: RFC 9449 4.2, 7, 9. */
enroll_status enroll_dpop_proof(enroll_client *client, const char *method, size_t method_size, const char *url,
                                size_t url_size, const char *nonce, size_t nonce_size, const char *access_token,
                                size_t access_token_size, enroll_buf *proof, enroll_error *error);

/** Receives a token. `access` and `token` are NULL unless `status` is ENROLL_OK; `error` is NULL if `status` is
 *  ENROLL_OK. `token` is terminated by a NUL that `token_size` does not count, and is wiped when the callback
 *  returns. */
typedef void (*enroll_access_callback)(void *user_data, enroll_status status, const enroll_access *access,
                                       const char *token, size_t token_size, const enroll_error *error);

/** Like enroll_token_access, but returns at once and passes the result to the callback. It holds no thread while it
 *  waits for a renewal. For `minimum_lifetime` see enroll_token_access.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls; the callback does not run); [call]. */
enroll_status enroll_token_access_start(enroll_client *client, int64_t minimum_lifetime, int64_t timeout_ms,
                                        enroll_access_callback callback, void *user_data, enroll_pending **pending,
                                        enroll_error *error);

/** Like enroll_token_refresh, but returns at once and passes the result to the callback. It holds no thread while it
 *  waits for a renewal.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls; the callback does not run); [call]. */
enroll_status enroll_token_refresh_start(enroll_client *client, int64_t timeout_ms, enroll_access_callback callback,
                                         void *user_data, enroll_pending **pending, enroll_error *error);

/** Like enroll_token_access_for, but returns at once and passes the result to the callback. `audience` need not outlive
 *  the call. For `minimum_lifetime` see enroll_token_access.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls; the callback does not run); [call]. */
enroll_status enroll_token_access_for_start(enroll_client *client, const enroll_audience *audience,
                                            int64_t minimum_lifetime, int64_t timeout_ms,
                                            enroll_access_callback callback, void *user_data, enroll_pending **pending,
                                            enroll_error *error);

/** Like enroll_token_refresh_for, but returns at once and passes the result to the callback. `audience` need not
 *  outlive the call.
 *  Returns ENROLL_OK; ENROLL_E_BUSY (too many pending calls; the callback does not run); [call]. */
enroll_status enroll_token_refresh_for_start(enroll_client *client, const enroll_audience *audience, int64_t timeout_ms,
                                             enroll_access_callback callback, void *user_data,
                                             enroll_pending **pending, enroll_error *error);

/* ---- The user ------------------------------------------------------------------------------------------------- */

/** Reads the user's profile from the store: a JSON object with the verified claims of the id_token. It describes the
 *  user who is signed in; without a session, the user who is asked to confirm. `claims` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND (no user is signed in); [store]; [call].
 *  Command: identity.profile. Source: OpenID Connect Core 5.1. */
enroll_status enroll_identity_profile(enroll_client *client, enroll_buf *claims, enroll_error *error);

/** Fetches the claims from the provider's userinfo endpoint, as a JSON object, if there is a valid access token. Claims
 *  about another user than that of the id_token are rejected. A 401 renews the token, and the request is repeated
 *  once. `claims` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_UNSUPPORTED (the provider has no such endpoint); ENROLL_E_PROFILE_MISMATCH;
 *  ENROLL_E_OAUTH (a 403); what enroll_token_access returns; [network]; [wait]; [call].
 *  Command: identity.userinfo. Source: OpenID Connect Core 5.3. */
enroll_status enroll_identity_userinfo(enroll_client *client, int64_t timeout_ms, enroll_buf *claims,
                                       enroll_error *error);

/** Reads the stored data about the confirmed session, but never the refresh token. A buffer for which nothing is stored
 *  becomes empty, with size 0; `expires_at` becomes 0. `profile` is a JSON object. `id_token` is the token that the
 *  provider sent. `access_token` is the stored token, even if it has expired (enroll_token_access returns a valid one).
 *  `registration_type` is "SOCIAL" or "PASSWORDLESS". For a sign-in that waits for confirmation see
 *  enroll_account_waiting. enroll_account_renewal says whether the session renews its token.
 *  Returns ENROLL_OK; [store]; [call].
 *  Command: account.read. */
enroll_status enroll_account_read(enroll_client *client, enroll_buf *profile, enroll_buf *id_token,
                                  enroll_buf *access_token, enroll_buf *registration_type, int64_t *expires_at,
                                  enroll_error *error);

/** Reads whether the confirmed session renews its access token. `renews` becomes 1 if it does. If it becomes 0, the
 *  user has to sign in again when the token expires. `renewable_until` becomes the time at which the refresh token
 *  expires unless a renewal replaces it, in seconds since 1970; 0 if the session does not renew, or if the provider
 *  does not say.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND (no user is signed in); [store]; [call].
 *  Command: account.read. */
enroll_status enroll_account_renewal(enroll_client *client, int32_t *renews, int64_t *renewable_until,
                                     enroll_error *error);

/** Reads the sign-in that waits for the user's confirmation; a confirmed session may exist at the same time.
 *  `transaction` is for enroll_registration_confirm_transaction. `profile` is a JSON object, which is empty if the
 *  provider does not say who the user is. `registration_type` is as in enroll_account_read. All three belong to the
 *  same sign-in. Its tokens are not returned.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND (no sign-in waits); [store]; [call].
 *  Command: account.read. */
enroll_status enroll_account_waiting(enroll_client *client, enroll_buf *transaction, enroll_buf *profile,
                                     enroll_buf *registration_type, enroll_error *error);

/* ---- A PIN for the account ------------------------------------------------------------------------------------ */

/* The outcome of a PIN. */
/** The account is open in this process. */
#define ENROLL_PIN_UNLOCKED 1
/** The PIN is wrong. */
#define ENROLL_PIN_WRONG 2
/** The PIN was not checked: the delay after the last wrong PIN has not passed. */
#define ENROLL_PIN_TOO_SOON 3
/** The last try failed: the account was erased from this device. */
#define ENROLL_PIN_ERASED 4

/** Protects the stored account data with a `pin` of 4 to 64 bytes. The account stays open in this process; in every
 *  other process calls return ENROLL_E_STORE_LOCKED, field "pin", until enroll_pin_unlock. Anyone who has the store's
 *  key can try all short PINs. Takes up to a second, as do the functions below. Ends ENROLL_STEP_PIN: the registration
 *  then waits for the user's confirmation or, if none is configured, is active.
 *  Returns ENROLL_OK; ENROLL_E_ILLEGAL_STATE (the account already has a PIN, or nothing is stored yet);
 *  ENROLL_E_UNSUPPORTED (the store is in memory); [store]; [call].
 *  Command: pin.set. */
enroll_status enroll_pin_set(enroll_client *client, const char *pin, size_t pin_size, enroll_error *error);

/** Opens the account in this process with its `pin`. `outcome` receives ENROLL_PIN_*, `tries_left` the number of
 *  further wrong PINs after which the account is erased, and `retry_after` the seconds until the next try is checked.
 *  For a wrong PIN the call returns ENROLL_OK, too.
 *  Returns ENROLL_OK; ENROLL_E_ILLEGAL_STATE (the account has no PIN); [store]; [call].
 *  Command: pin.unlock. */
enroll_status enroll_pin_unlock(enroll_client *client, const char *pin, size_t pin_size, int32_t *outcome,
                                int64_t *tries_left, int64_t *retry_after, enroll_error *error);

/** Replaces `pin` with `new_pin`, of 4 to 64 bytes. For `outcome`, `tries_left` and `retry_after` see
 *  enroll_pin_unlock.
 *  Returns what enroll_pin_unlock returns.
 *  Command: pin.change. */
enroll_status enroll_pin_change(enroll_client *client, const char *pin, size_t pin_size, const char *new_pin,
                                size_t new_pin_size, int32_t *outcome, int64_t *tries_left, int64_t *retry_after,
                                enroll_error *error);

/** Removes `pin`. For `outcome`, `tries_left` and `retry_after` see enroll_pin_unlock.
 *  Returns what enroll_pin_unlock returns.
 *  Command: pin.remove. */
enroll_status enroll_pin_remove(enroll_client *client, const char *pin, size_t pin_size, int32_t *outcome,
                                int64_t *tries_left, int64_t *retry_after, enroll_error *error);

/** Collects everything that support needs in one JSON object for humans: versions, configuration, provider, state,
 *  expiries, store, transactions and the last errors; no token, code, key or PIN, and nothing about the user. Sends
 *  nothing. `diagnostics` must not be NULL.
 *  Returns ENROLL_OK; [call].
 *  Command: diagnostics.export. */
enroll_status enroll_diagnostics_export(enroll_client *client, enroll_buf *diagnostics, enroll_error *error);

/* ---- Logging out ---------------------------------------------------------------------------------------------- */

/* Whether the provider knows of a sign-out. */
/** There was nothing to report to the provider: no user was signed in, or the sign-out was local only. */
#define ENROLL_TOLD_NOTHING 0
/** The provider revoked the refresh token, or the access token of a session without one. */
#define ENROLL_TOLD 1
/** The provider could not be reached: the revocation is retried for at most 7 days. Or the revocation waits until the
 *  browser returns (enroll_logout_begin). */
#define ENROLL_TOLD_QUEUED 2
/** The tokens cannot be revoked at the provider: they work until they expire. */
#define ENROLL_TOLD_NOT_POSSIBLE 3

/** Erases the tokens on this device, then revokes them at the provider (later, if it cannot be reached: see
 *  enroll_logout_told), and returns the URL that ends the session in the browser: open it. Transactions that began
 *  before this call end with the session: tokens that arrive afterwards are revoked, not stored. `url` becomes empty,
 *  with size 0, if there is no URL to open. With a configured postLogoutRedirectUri the revocation waits for
 *  enroll_logout_resume, for at most 180 seconds, because a revocation may end the session that the browser has to
 *  find at the provider; a program that does not open the URL ends that wait with enroll_token_revoke. With
 *  `local_only` 1 nothing is sent and no URL is returned. `url` must not be NULL.
 *  Returns ENROLL_OK; [store]; [wait]; [call].
 *  Command: logout.begin. Source: RFC 7009, OpenID Connect RP-Initiated Logout 1.0. */
enroll_status enroll_logout_begin(enroll_client *client, int32_t local_only, int64_t timeout_ms, enroll_buf *url,
                                  enroll_error *error);

/** Reports in `told` (ENROLL_TOLD_*) whether the provider knows of this client's last sign-out: by enroll_logout_begin,
 *  enroll_token_revoke or enroll_registration_deregister. `told` must not be NULL. `reason`, which may be NULL,
 *  receives an explanation, for humans, of why the tokens cannot be revoked, or becomes empty, with size 0. Sends
 *  nothing.
 *  Returns ENROLL_OK; [call]. */
enroll_status enroll_logout_told(enroll_client *client, int32_t *told, enroll_buf *reason, enroll_error *error);

/** Finishes a logout with `url`, the redirect that follows the URL of enroll_logout_begin. The revocation that waited
 *  for this redirect is sent in the background.
 *  Returns ENROLL_OK; ENROLL_E_UNSOLICITED; ENROLL_E_REDIRECT_MALFORMED; [store]; [call].
 *  Command: logout.resume. Source: OpenID Connect RP-Initiated Logout 1.0, 3. */
enroll_status enroll_logout_resume(enroll_client *client, const char *url, size_t url_size, enroll_error *error);

/* ---- Events --------------------------------------------------------------------------------------------------- */

/** Receives an event: its `name` ("registration.changed") and its `parameters`, a JSON object. */
typedef void (*enroll_event_callback)(void *user_data, const char *name, const char *parameters,
                                      size_t parameters_size);

/** Called when a subscription has ended. No event callback of the subscription runs afterwards, and `user_data` is not
 *  used again: free it here. */
typedef void (*enroll_ended_callback)(void *user_data);

/** Calls back for every event of the client from now on, in the order in which the events happen: registration.changed,
 *  registration.settled, token.renewed, token.renewalFailed, logout.finished, error.reported. `subscription` receives
 *  the number to pass to enroll_events_unsubscribe, and must not be NULL; it is written before the first event
 *  callback runs. `ended` is optional. It is called exactly once, on the same thread as events, when the subscription
 *  has ended (enroll_events_unsubscribe, enroll_client_free) and its last event callback has returned. It is not
 *  called if this function fails, in a forked child, or once exit() has stopped the library's threads. With a queue
 *  (enroll_queue), `ended` waits for enroll_queue_dispatch or enroll_queue_free, as events do.
 *  Returns ENROLL_OK; [call].
 *  Command: events.subscribe. */
enroll_status enroll_events_subscribe(enroll_client *client, enroll_event_callback callback, void *user_data,
                                      enroll_ended_callback ended, int64_t *subscription, enroll_error *error);

/** Ends a `subscription`. Events that wait for their callback are dropped; a callback that is running may still be
 *  running when this function returns (see enroll_ended_callback). A callback of the subscription may call this
 *  function.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND; [call].
 *  Command: events.unsubscribe. */
enroll_status enroll_events_unsubscribe(enroll_client *client, int64_t subscription, enroll_error *error);

/* ---- Every command by its name -------------------------------------------------------------------------------- */

/** Runs any `command` of the manifest by name; it is meant for bindings. `parameters` is a JSON object without the
 *  member `client`; optional. `client` is NULL for commands that need no client. `result` receives a JSON object and
 *  must not be NULL. The object contains the command's `outcome`: token.access without a session returns ENROLL_OK, and
 *  its outcome is "reauthenticate".
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND (no such command); ENROLL_E_JSON; ENROLL_E_UNSUPPORTED (client.open,
 *  client.close, events.subscribe and events.unsubscribe have their own functions here); [call]; what the command's own
 *  function returns. */
enroll_status enroll_call(enroll_client *client, const char *command, size_t command_size, const char *parameters,
                          size_t parameters_size, int64_t timeout_ms, enroll_buf *result, enroll_error *error);

/** Receives the result of a command. `result` is NULL unless `status` is ENROLL_OK, and is wiped when the callback
 *  returns; `error` is NULL if `status` is ENROLL_OK. */
typedef void (*enroll_result_callback)(void *user_data, enroll_status status, const char *result, size_t result_size,
                                       const enroll_error *error);

/** Like enroll_call, with `command` and `parameters`, but returns at once and passes the result to the callback.
 *  Without a `client` the command runs on a thread of the library's own and can be cancelled until it begins.
 *  Returns ENROLL_OK; ENROLL_E_JSON; ENROLL_E_BUSY (too many pending calls; the callback does not run); [call]. */
enroll_status enroll_call_start(enroll_client *client, const char *command, size_t command_size, const char *parameters,
                                size_t parameters_size, int64_t timeout_ms, enroll_result_callback callback,
                                void *user_data, enroll_pending **pending, enroll_error *error);

/** Gets the manifest, a JSON object: every command with its documentation and the JSON Schemas of its input and output.
 *  `manifest` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_INVALID_ARGUMENT. */
enroll_status enroll_manifest(enroll_buf *manifest, enroll_error *error);

/** Describes this library: versions, commands, key providers; a JSON object. `description` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_INVALID_ARGUMENT.
 *  Command: system.describe. */
enroll_status enroll_system_describe(enroll_buf *description, enroll_error *error);

/* ---- Resources, without a client ------------------------------------------------------------------------------ */

/** Finds the authorization server that issues tokens for a resource (an API, an MCP server). `parameters` is a JSON
 *  object with the command's parameters, such as `resource`. Registers nothing and sends no token: show the `issuer` of
 *  the result to the user before you continue. `discovery` receives a JSON object and must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_UNSUPPORTED (the resource has no metadata); ENROLL_E_JSON; [network]; [wait];
 *  ENROLL_E_INVALID_ARGUMENT.
 *  Command: resource.discover. Source: RFC 9728, RFC 8414, OpenID Connect Discovery. */
enroll_status enroll_resource_discover(const char *parameters, size_t parameters_size, int64_t timeout_ms,
                                       enroll_buf *discovery, enroll_error *error);

/** Makes a configuration for a resource: with your client id, with your client id metadata document, or with a client
 *  that it registers once and keeps in the store. `parameters` is a JSON object with the command's parameters,
 *  including `resource`, `issuer`, `redirectUri` and `store`. `client` receives a JSON object, whose member
 *  `configuration` you pass to enroll_client_new. `client` must not be NULL. The object may contain the client's
 *  secret: wipe it with enroll_buf_free.
 *  Returns ENROLL_OK; ENROLL_E_UNSUPPORTED (the server accepts no new clients); ENROLL_E_OAUTH (the server refused the
 *  registration); ENROLL_E_JSON; [network]; [store]; [wait]; ENROLL_E_INVALID_ARGUMENT.
 *  Command: resource.register. Source: RFC 7591, RFC 9728, RFC 8707. */
enroll_status enroll_resource_register(const char *parameters, size_t parameters_size, int64_t timeout_ms,
                                       enroll_buf *client, enroll_error *error);

/* ---- Stores, without a client --------------------------------------------------------------------------------- */

/** Lists the names of the accounts in the store of a directory: a JSON object whose member `accounts` is a sorted
 *  array. A name that is used at several providers appears once. `accounts` must not be NULL.
 *  Returns ENROLL_OK; [store]; ENROLL_E_INVALID_ARGUMENT.
 *  Command: accounts.list. */
enroll_status enroll_accounts_list(const char *directory, size_t directory_size, const enroll_keys *keys,
                                   enroll_buf *accounts, enroll_error *error);

/** Erases an `account`, at most 128 bytes, from the store of a directory, for every provider; sends nothing. An unknown
 *  account is no error.
 *  Returns ENROLL_OK; [store]; ENROLL_E_INVALID_ARGUMENT.
 *  Command: accounts.remove. */
enroll_status enroll_accounts_remove(const char *directory, size_t directory_size, const enroll_keys *keys,
                                     const char *account, size_t account_size, enroll_error *error);

/** Erases the installation id in the store of a directory; the next use makes a new one. A missing store is no error.
 *  Returns ENROLL_OK; [store]; ENROLL_E_INVALID_ARGUMENT.
 *  Command: installation.reset. */
enroll_status enroll_installation_reset(const char *directory, size_t directory_size, const enroll_keys *keys,
                                        enroll_error *error);

/** Examines the store of a directory: owner, permissions, key provider and the reason for it, each sealed file, damaged
 *  files that were set aside, and any problem; a JSON object. Changes nothing. The object contains no secrets.
 *  `diagnosis` must not be NULL.
 *  Returns ENROLL_OK; [store]; ENROLL_E_INVALID_ARGUMENT.
 *  Command: store.diagnose. */
enroll_status enroll_store_diagnose(const char *directory, size_t directory_size, const enroll_keys *keys,
                                    enroll_buf *diagnosis, enroll_error *error);

/** Moves the key of a store to another key provider, `new_keys`; with NULL, the same provider wraps the key again. With
 *  `new_data_key` 1 the call also makes a new key and seals every file with it. Nothing is lost if the call is
 *  interrupted at any point, and other processes may use the store meanwhile; processes that open the store later must
 *  name the new provider.
 *  Returns ENROLL_OK; ENROLL_E_NOT_FOUND (no store, or a store without keys); [store]; ENROLL_E_INVALID_ARGUMENT.
 *  Command: store.rekey. */
enroll_status enroll_store_rekey(const char *directory, size_t directory_size, const enroll_keys *keys,
                                 const enroll_keys *new_keys, int32_t new_data_key, enroll_error *error);

/* ---- Values: no client, no network, no store ------------------------------------------------------------------ */

/** A verifier and its challenge. The verifier is a secret: wipe it with enroll_wipe after use. */
typedef struct enroll_pkce {
  /** sizeof(enroll_pkce): ENROLL_PKCE_INIT sets it. */
  size_t struct_size;
  /** 32 random octets, base64url: 43 characters. */
  char code_verifier[ENROLL_PKCE_CAPACITY];
  /** The SHA-256 of the verifier, base64url: 43 characters, for code_challenge_method=S256. */
  char code_challenge[ENROLL_PKCE_CAPACITY];
} enroll_pkce;

/* clang-format off */
#define ENROLL_PKCE_INIT {sizeof(enroll_pkce), {0}, {0}}
/* clang-format on */

/** Initializes `pkce` as ENROLL_PKCE_INIT does; see enroll_error_init. */
void enroll_pkce_init(enroll_pkce *pkce, size_t struct_size);

/** Makes a PKCE pair. `pkce` must not be NULL.
 *  Returns ENROLL_OK; ENROLL_E_INVALID_ARGUMENT.
 *  Command: pkce.generate. Source: RFC 7636 4.1, 4.2. */
enroll_status enroll_pkce_generate(enroll_pkce *pkce, enroll_error *error);

/** Parses a redirect without verifying it: a JSON object with the parameters that a provider may send. `redirect` must
 *  not be NULL. The URL has at most 16 KiB.
 *  Returns ENROLL_OK; ENROLL_E_REDIRECT_MALFORMED; ENROLL_E_INVALID_ARGUMENT.
 *  Command: redirect.parse. Source: RFC 6749 4.1.2, RFC 9207. */
enroll_status enroll_redirect_parse(const char *url, size_t url_size, enroll_buf *redirect, enroll_error *error);

/** Finds which of several configurations a URL belongs to. `configurations` is a JSON array of at most 64
 *  configurations, at most 1 MiB in total. `owner` receives a JSON object with `index`, the owner's index in the array,
 *  and `kind` ("redirect", "logout", "fallback", "activation"), or an empty object if no configuration owns the URL,
 *  and must not be NULL. Reads no store: a URL that has an owner may still be unsolicited.
 *  Returns ENROLL_OK; ENROLL_E_REDIRECT_MALFORMED; ENROLL_E_CONFIGURATION (a configuration is invalid, or several own
 *  the URL); ENROLL_E_JSON; ENROLL_E_INVALID_ARGUMENT.
 *  Command: redirect.route. */
enroll_status enroll_redirect_route(const char *configurations, size_t configurations_size, const char *url,
                                    size_t url_size, enroll_buf *owner, enroll_error *error);

/** Parses a link against an allow-list, or rejects it; repairs nothing. `link` receives a JSON object with `kind`,
 *  `scheme`, `host`, `path` and any other parts, and must not be NULL. The URL has at most 16 KiB.
 *  Returns ENROLL_OK; ENROLL_E_REDIRECT_MALFORMED; ENROLL_E_INVALID_ARGUMENT.
 *  Command: link.parse. Source: RFC 3986, RFC 8252 7. */
enroll_status enroll_link_parse(const char *url, size_t url_size, enroll_buf *link, enroll_error *error);

/* The three phases of a token's life. */
/** Use the token. */
#define ENROLL_BAND_FRESH 1
/** Renew the token; if that fails, use it. */
#define ENROLL_BAND_DUE 2
/** Renew the token; if that fails, there is no token to use. */
#define ENROLL_BAND_EXPIRED 3

/** Determines in which `band`, ENROLL_BAND_*, a token that expires at `expires_at` is at `now`, both in seconds since
 *  1970. The token is due during the last `grace` or `minimum_lifetime` seconds of its life, whichever is larger
 *  (neither is negative). `lifetime` is its total lifetime in seconds, or 0 if that is unknown; at most half of it
 *  counts as grace period. `seconds_left` is negative once the token has expired.
 *  Returns ENROLL_OK; ENROLL_E_INVALID_ARGUMENT.
 *  Command: expiry.check. */
enroll_status enroll_expiry_check(int64_t expires_at, int64_t now, int64_t lifetime, int64_t grace,
                                  int64_t minimum_lifetime, int32_t *band, int64_t *seconds_left, enroll_error *error);

/* ---- The host's own HTTP -------------------------------------------------------------------------------------- */

/** A header of a request. */
typedef struct enroll_http_header {
  /** The header's name, never NULL. */
  const char *name;
  /** The header's value, never NULL. */
  const char *value;
} enroll_http_header;

/** A request to send; borrowed while `send` runs. */
typedef struct enroll_http_request {
  /** The size of this struct in bytes, as the library knows it. */
  size_t struct_size;
  /** "GET", "POST" or "DELETE"; never NULL. */
  const char *method;
  /** The absolute URL; never NULL. */
  const char *url;
  /** The headers to send; NULL if there are none. */
  const enroll_http_header *headers;
  size_t header_count;
  /** The bytes to send, followed by a NUL that `body_size` does not count; never NULL. */
  const char *body;
  size_t body_size;
  /** The maximum size of the response body in bytes; reject a longer body while it arrives. */
  size_t response_limit;
  /** 1: send the request on a new connection, and never resend it automatically. */
  int32_t needs_fresh_connection;
  /** How many milliseconds the whole exchange may take. */
  int32_t timeout_ms;
} enroll_http_request;

/** The response that `send` fills in with the functions below. Valid while `send` runs. */
typedef struct enroll_http_response enroll_http_response;

/** The host's own HTTP transport. The struct is copied; what its members point to must stay valid until `release` is
 *  called. */
struct enroll_transport {
  /** sizeof(enroll_transport): ENROLL_TRANSPORT_INIT sets it. */
  size_t struct_size;
  /** Passed to each function unchanged; may be NULL. */
  void *user_data;
  /** Sends one request and fills in the response; required. It must follow no redirects, resend nothing and check
   *  certificates. Several threads may call it at once. The `timeout_ms` of a call does not end it: the callers of a
   *  renewal return in time while `send` continues, but any other call returns only after `send` does. `send` must
   *  therefore observe the request's `timeout_ms` and return soon after enroll_http_response_is_cancelled returns 1,
   *  which it does once no caller waits.
   *  Returns ENROLL_OK for a complete response of any status; else ENROLL_E_NETWORK, ENROLL_E_TLS, ENROLL_E_TIMEOUT,
   *  ENROLL_E_RESPONSE_INVALID or ENROLL_E_CANCELLED; any other number counts as ENROLL_E_INTERNAL. */
  enroll_status (*send)(void *user_data, const enroll_http_request *request, enroll_http_response *response);
  /** Called once, when the client and all its calls have ended; may be NULL. */
  void (*release)(void *user_data);
};

/* clang-format off */
#define ENROLL_TRANSPORT_INIT {sizeof(enroll_transport), NULL, NULL, NULL}
/* clang-format on */

/** Initializes `transport` as ENROLL_TRANSPORT_INIT does; see enroll_error_init. */
void enroll_transport_init(enroll_transport *transport, size_t struct_size);

/** Sets the `status` code, 100 to 599, of the `response` that was passed to `send`.
 *  Returns ENROLL_OK; ENROLL_E_INVALID_ARGUMENT; ENROLL_E_HANDLE (not inside `send`). */
enroll_status enroll_http_response_set_status(enroll_http_response *response, int32_t status);

/** Adds a header to the `response` that was passed to `send`; at most 256 headers of 16 KiB each.
 *  Returns ENROLL_OK; ENROLL_E_INVALID_ARGUMENT; ENROLL_E_HANDLE (not inside `send`). */
enroll_status enroll_http_response_add_header(enroll_http_response *response, const char *name, size_t name_size,
                                              const char *value, size_t value_size);

/** Appends `size` bytes of `data` to the body of the `response` that was passed to `send`. `data` may be NULL with size
 *  0.
 *  Returns ENROLL_OK; ENROLL_E_RESPONSE_INVALID (over the request's limit: stop); ENROLL_E_INVALID_ARGUMENT;
 *  ENROLL_E_HANDLE (not inside `send`). */
enroll_status enroll_http_response_add_body(enroll_http_response *response, const char *data, size_t size);

/** Reports that nothing of the request left this machine, for example because there is no network. `response` is the
 *  response that was passed to `send`, which must then return an error. If the request was to send the code of a
 *  sign-in, the sign-in keeps waiting and does not end.
 *  Returns ENROLL_OK; ENROLL_E_HANDLE (not inside `send`). */
enroll_status enroll_http_response_set_unsent(enroll_http_response *response);

/** 1 if no caller waits for this `response` any more and `send` should return; also 1 outside `send`; else 0. */
int32_t enroll_http_response_is_cancelled(enroll_http_response *response);

/* ---- The host's own secrets ----------------------------------------------------------------------------------- */

/** The host's own secret store. One secret wraps the store's key; a further secret for each account reveals whether an
 *  older copy of the store was restored (docs/reliability.md). The struct is copied; what its members point to must
 *  stay valid until `release` is called. Several threads may call the functions at once; like a transport's functions,
 *  they may call only functions that take no client. */
struct enroll_secret_store {
  /** sizeof(enroll_secret_store): ENROLL_SECRET_STORE_INIT sets it. */
  size_t struct_size;
  /** Passed to each function unchanged; may be NULL. */
  void *user_data;
  /** Writes to `secret` the ENROLL_SECRET_SIZE bytes that `save` stored under this name; required. `name` is ASCII
   *  (letters, digits, '.', '-', '_'), less than 64 bytes. Returns ENROLL_OK; ENROLL_E_NOT_FOUND; ENROLL_E_STORE_LOCKED
   *  while the user has to unlock something, after which the library calls this function again; any other number
   *  counts as ENROLL_E_STORE_IO. */
  enroll_status (*load)(void *user_data, const char *name, unsigned char *secret);
  /** Stores ENROLL_SECRET_SIZE bytes, durably before it returns; required. It returns the statuses of `load`. */
  enroll_status (*save)(void *user_data, const char *name, const unsigned char *secret);
  /** Erases a name and its secret; required. It returns the statuses of `load`. */
  enroll_status (*remove)(void *user_data, const char *name);
  /** Called once for each call that received this struct, when that call has ended or, if it made a client, when that
   *  client has ended; may be NULL. */
  void (*release)(void *user_data);
};

/* clang-format off */
#define ENROLL_SECRET_STORE_INIT {sizeof(enroll_secret_store), NULL, NULL, NULL, NULL, NULL}
/* clang-format on */

/** Initializes `secret_store` as ENROLL_SECRET_STORE_INIT does; see enroll_error_init. */
void enroll_secret_store_init(enroll_secret_store *secret_store, size_t struct_size);

/* ---- The host's own clock ------------------------------------------------------------------------------------- */

/** The host's own clock: for a device with a better time source than its system, and for tests that simulate a month in
 *  a second. The struct is copied; what its members point to must stay valid until `release` is called. The functions
 *  must be fast and may call only functions that take no client; several threads may call them at once, even while the
 *  library holds a lock. Timeouts of calls (`timeout_ms`) also follow this clock, which the library reads at least once
 *  a second. */
struct enroll_clock {
  /** sizeof(enroll_clock): ENROLL_CLOCK_INIT sets it. */
  size_t struct_size;
  /** Passed to each function unchanged; may be NULL. */
  void *user_data;
  /** The date, in seconds since 1970-01-01T00:00:00Z; required. It may jump in either direction. */
  int64_t (*date)(void *user_data);
  /** Nanoseconds since a moment of the host's choice, 0 or more; required. It never goes back, and it continues while
   *  the device sleeps: it measures the age of a token, whatever happens to the date. */
  int64_t (*monotonic)(void *user_data);
  /** Called once, when the client and all its calls have ended; may be NULL. */
  void (*release)(void *user_data);
};

/* clang-format off */
#define ENROLL_CLOCK_INIT {sizeof(enroll_clock), NULL, NULL, NULL, NULL}
/* clang-format on */

/** Initializes `clock` as ENROLL_CLOCK_INIT does; see enroll_error_init. */
void enroll_clock_init(enroll_clock *clock, size_t struct_size);

/* ---- The host's own log --------------------------------------------------------------------------------------- */

/* The level of a line. */
/** Something that the host may show to the user. */
#define ENROLL_LOG_ERROR 1
/** A problem that may resolve itself. */
#define ENROLL_LOG_WARNING 2
/** The steps of a registration and of a session. */
#define ENROLL_LOG_INFO 3
/** Every request. */
#define ENROLL_LOG_DEBUG 4

/** The host's log of what a client does. No line contains a secret: of a URL the log shows only the scheme, the host
 *  and the names of the parameters. The struct is copied; what its members point to must stay valid until `release` is
 *  called. */
struct enroll_log {
  /** sizeof(enroll_log): ENROLL_LOG_INIT sets it. */
  size_t struct_size;
  /** Passed to each function unchanged; may be NULL. */
  void *user_data;
  /** ENROLL_LOG_*, the least important level to log; 0: ENROLL_LOG_INFO. */
  int32_t level;
  /** Zero. */
  int32_t reserved;
  /** Receives one line and its level, ENROLL_LOG_*: `size` bytes of UTF-8 without a line ending, followed by a NUL,
   *  borrowed while the function runs; required. It is called on the thread that logs the line, by several threads at
   *  once; it must be fast and may call only functions that take no client. */
  void (*write)(void *user_data, int32_t level, const char *line, size_t size);
  /** Called once, when the client and all its calls have ended; may be NULL. */
  void (*release)(void *user_data);
};

/* clang-format off */
#define ENROLL_LOG_INIT {sizeof(enroll_log), NULL, 0, 0, NULL, NULL}
/* clang-format on */

/** Initializes `log` as ENROLL_LOG_INIT does; see enroll_error_init. */
void enroll_log_init(enroll_log *log, size_t struct_size);

#ifdef __cplusplus
}
#endif

#endif
