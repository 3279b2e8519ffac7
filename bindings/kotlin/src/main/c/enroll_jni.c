/*
 * enroll_jni.c - libenroll for the JVM: the functions that org.enrollkit.Native declares, and nothing more.
 *
 * Texts are byte arrays of UTF-8 in both directions: JNI's own strings are "modified" UTF-8, which encodes NUL and
 * characters outside the BMP differently. C holds a reference to only one object of the JVM, the class. Callbacks
 * carry numbers, and the class finds the object of each number. A late callback finds no object, and does no harm.
 *
 * Failures are thrown as org.enrollkit.EnrollException. Nothing here prints.
 */

#include <enroll.h>
#include <jni.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CLASS "org/enrollkit/Native"

static JavaVM *machine;
static jclass host; /* org.enrollkit.Native, a global reference */
static struct {
  jmethodID failure, completed, event, send, load, save, remove, release;
} methods;

/* ---- Threads -------------------------------------------------------------------------------------------------- */

static pthread_key_t attached;
static pthread_once_t attached_once = PTHREAD_ONCE_INIT;
static int attached_failed;

/* Runs when a thread that this file attached to the JVM ends. */
static void detach(void *unused) {
  (void)unused;
  (*machine)->DetachCurrentThread(machine);
}

static void make_attached(void) { attached_failed = pthread_key_create(&attached, detach); }

/* The environment of this thread, which stays attached to the JVM for the rest of its life; NULL if that fails. */
static JNIEnv *environment(void) {
  void *env = NULL;
  if ((*machine)->GetEnv(machine, &env, JNI_VERSION_1_6) == JNI_OK) return env;
  pthread_once(&attached_once, make_attached);
  if (attached_failed != 0) return NULL;
  /* The library's threads block all signals. The JVM needs the signals that a thread raises itself, for null pointers
   * and safepoints: if such a signal is blocked, it ends the process. */
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, SIGSEGV);
  sigaddset(&own, SIGBUS);
  sigaddset(&own, SIGFPE);
  sigaddset(&own, SIGILL);
  sigaddset(&own, SIGTRAP);
  pthread_sigmask(SIG_UNBLOCK, &own, NULL);
  /* Attached as a daemon thread: the end of the program does not wait for the library's threads. */
  JavaVMAttachArgs arguments = {JNI_VERSION_1_6, "enroll", NULL};
#ifdef __ANDROID__
  JNIEnv *here = NULL;
  if ((*machine)->AttachCurrentThreadAsDaemon(machine, &here, &arguments) != JNI_OK) return NULL;
  env = here;
#else
  if ((*machine)->AttachCurrentThreadAsDaemon(machine, &env, &arguments) != JNI_OK) return NULL;
#endif
  pthread_setspecific(attached, machine);
  return env;
}

/* Begins a callback: makes a frame for its local references, which nothing else frees on the library's threads. */
static JNIEnv *enter(void) {
  JNIEnv *env = environment();
  if (env == NULL) return NULL;
  if ((*env)->PushLocalFrame(env, 16) != JNI_OK) {
    (*env)->ExceptionClear(env);
    return NULL;
  }
  return env;
}

/* Ends a callback. The class catches all exceptions; only errors of the JVM itself remain, such as out of memory. C
 * cannot pass them on. */
static bool leave(JNIEnv *env) {
  bool threw = (*env)->ExceptionCheck(env);
  if (threw) (*env)->ExceptionClear(env);
  (*env)->PopLocalFrame(env, NULL);
  return !threw;
}

/* ---- Texts ---------------------------------------------------------------------------------------------------- */

/* A copy of a text from Java. It is wiped after its use, because the text may be a PIN. */
typedef struct text {
  char *data;
  size_t size;
} text;

static void throw_out_of_memory(JNIEnv *env) {
  jclass type = (*env)->FindClass(env, "java/lang/OutOfMemoryError");
  if (type != NULL) (*env)->ThrowNew(env, type, "enroll_jni");
}

/* Copies an array of bytes; if that fails, returns false with an exception pending. NULL stays NULL. */
static bool text_in(JNIEnv *env, jbyteArray array, text *into) {
  into->data = NULL;
  into->size = 0;
  if (array == NULL) return true;
  jsize size = (*env)->GetArrayLength(env, array);
  into->data = malloc((size_t)size + 1);
  if (into->data == NULL) {
    throw_out_of_memory(env);
    return false;
  }
  into->size = (size_t)size;
  (*env)->GetByteArrayRegion(env, array, 0, size, (jbyte *)into->data);
  into->data[size] = 0;
  return true;
}

static void text_free(text *bytes) {
  enroll_wipe(bytes->data, bytes->size);
  free(bytes->data);
  bytes->data = NULL;
}

static void texts_free(text *texts, size_t count) {
  for (size_t index = 0; index < count; index++) text_free(&texts[index]);
}

/* Copies all elements of an array of byte arrays; if that fails, returns false with an exception pending, and the
 * caller has nothing to free. */
static bool texts_in(JNIEnv *env, jobjectArray array, text *into, size_t count) {
  memset(into, 0, count * sizeof *into);
  for (size_t index = 0; index < count; index++) {
    jbyteArray item = (*env)->GetObjectArrayElement(env, array, (jsize)index);
    bool good = !(*env)->ExceptionCheck(env) && text_in(env, item, &into[index]);
    if (item != NULL) (*env)->DeleteLocalRef(env, item);
    if (!good) {
      texts_free(into, count);
      return false;
    }
  }
  return true;
}

/* Copies bytes into a new array of the JVM; if that fails, returns NULL with an exception pending. */
static jbyteArray bytes_out(JNIEnv *env, const char *data, size_t size) {
  if (size > INT32_MAX) {
    throw_out_of_memory(env);
    return NULL;
  }
  jbyteArray array = (*env)->NewByteArray(env, (jsize)size);
  if (array != NULL && size > 0) (*env)->SetByteArrayRegion(env, array, 0, (jsize)size, (const jbyte *)data);
  return array;
}

static jbyteArray string_out(JNIEnv *env, const char *data) { return bytes_out(env, data, strlen(data)); }

/* ---- Failures ------------------------------------------------------------------------------------------------- */

/* Makes an EnrollException; if that fails, returns NULL with another exception pending. */
static jthrowable failure_of(JNIEnv *env, const enroll_error *error) {
  jbyteArray blame = string_out(env, enroll_blame_name(error->blame));
  jbyteArray oauth_error = blame == NULL ? NULL : string_out(env, error->oauth_error);
  jbyteArray description = oauth_error == NULL ? NULL : string_out(env, error->oauth_error_description);
  jbyteArray field = description == NULL ? NULL : string_out(env, error->field);
  jbyteArray message = field == NULL ? NULL : string_out(env, error->message);
  if (message == NULL) return NULL;
  return (*env)->CallStaticObjectMethod(env, host, methods.failure, (jint)error->status, blame,
                                        (jboolean)(error->is_retryable != 0), (jint)error->http_status,
                                        (jlong)error->retry_after_seconds, oauth_error, description, field, message);
}

static void throw_failure(JNIEnv *env, const enroll_error *error) {
  jthrowable failure = failure_of(env, error);
  if (failure != NULL && !(*env)->ExceptionCheck(env)) (*env)->Throw(env, failure);
}

/* Returns the result of a call as bytes, or throws its failure. */
static jbyteArray result_out(JNIEnv *env, enroll_status status, enroll_buf *result, const enroll_error *error) {
  if (status != ENROLL_OK) {
    throw_failure(env, error);
    return NULL;
  }
  jbyteArray bytes = bytes_out(env, result->data, result->size);
  enroll_buf_free(result);
  return bytes;
}

/* ---- Callbacks of completion and of events --------------------------------------------------------------------- */

static void *number_in(jlong number) { return (void *)(intptr_t)number; }
static jlong number_out(const void *number) { return (jlong)(intptr_t)number; }

static void on_result(void *user_data, enroll_status status, const char *result, size_t size,
                      const enroll_error *error) {
  JNIEnv *env = enter();
  if (env == NULL) return;
  jbyteArray bytes = NULL;
  jthrowable failure = NULL;
  if (status == ENROLL_OK) {
    bytes = bytes_out(env, result, size);
  } else {
    failure = failure_of(env, error);
  }
  if ((*env)->ExceptionCheck(env)) {
    /* There is no memory for the answer. The call still ends: the class gets neither a result nor an error. */
    (*env)->ExceptionClear(env);
    bytes = NULL;
    failure = NULL;
  }
  (*env)->CallStaticVoidMethod(env, host, methods.completed, number_out(user_data), bytes, failure);
  leave(env);
}

static void on_event(void *user_data, const char *name, const char *parameters, size_t size) {
  JNIEnv *env = enter();
  if (env == NULL) return;
  jbyteArray title = string_out(env, name);
  jbyteArray bytes = title == NULL ? NULL : bytes_out(env, parameters, size);
  if (bytes != NULL) (*env)->CallStaticVoidMethod(env, host, methods.event, number_out(user_data), title, bytes);
  leave(env);
}

/* ---- The host's HTTP ------------------------------------------------------------------------------------------- */

static jobjectArray headers_out(JNIEnv *env, const enroll_http_request *request) {
  jclass type = (*env)->FindClass(env, "[B");
  if (type == NULL) return NULL;
  jobjectArray headers = (*env)->NewObjectArray(env, (jsize)(2 * request->header_count), type, NULL);
  for (size_t index = 0; headers != NULL && index < 2 * request->header_count; index++) {
    const enroll_http_header *header = &request->headers[index / 2];
    jbyteArray word = string_out(env, index % 2 == 0 ? header->name : header->value);
    if (word == NULL) return NULL;
    (*env)->SetObjectArrayElement(env, headers, (jsize)index, word);
    if ((*env)->ExceptionCheck(env)) return NULL;
    (*env)->DeleteLocalRef(env, word);
  }
  return headers;
}

static enroll_status send_request(void *user_data, const enroll_http_request *request, enroll_http_response *response) {
  JNIEnv *env = enter();
  if (env == NULL) return ENROLL_E_OUT_OF_MEMORY;
  enroll_status status = ENROLL_E_INTERNAL;
  jbyteArray method = string_out(env, request->method);
  jbyteArray url = method == NULL ? NULL : string_out(env, request->url);
  jobjectArray headers = url == NULL ? NULL : headers_out(env, request);
  jbyteArray body = headers == NULL ? NULL : bytes_out(env, request->body, request->body_size);
  if (body != NULL) {
    jlong limit = request->response_limit > INT32_MAX ? INT32_MAX : (jlong)request->response_limit;
    status = (*env)->CallStaticIntMethod(env, host, methods.send, number_out(user_data), number_out(response), method,
                                         url, headers, body, limit, (jboolean)(request->needs_fresh_connection != 0),
                                         (jint)request->timeout_ms);
  }
  return leave(env) ? status : ENROLL_E_INTERNAL;
}

/* ---- The host's secrets ---------------------------------------------------------------------------------------- */

static enroll_status load_secret(void *user_data, const char *name, unsigned char *secret) {
  static const jbyte nothing[ENROLL_SECRET_SIZE];
  JNIEnv *env = enter();
  if (env == NULL) return ENROLL_E_OUT_OF_MEMORY;
  enroll_status status = ENROLL_E_STORE_IO;
  jbyteArray title = string_out(env, name);
  jbyteArray bytes = title == NULL ? NULL : (*env)->NewByteArray(env, ENROLL_SECRET_SIZE);
  if (bytes != NULL) {
    status = (*env)->CallStaticIntMethod(env, host, methods.load, number_out(user_data), title, bytes);
    if (!(*env)->ExceptionCheck(env)) {
      if (status == ENROLL_OK) (*env)->GetByteArrayRegion(env, bytes, 0, ENROLL_SECRET_SIZE, (jbyte *)secret);
      (*env)->SetByteArrayRegion(env, bytes, 0, ENROLL_SECRET_SIZE, nothing);
    }
  }
  return leave(env) ? status : ENROLL_E_STORE_IO;
}

static enroll_status save_secret(void *user_data, const char *name, const unsigned char *secret) {
  JNIEnv *env = enter();
  if (env == NULL) return ENROLL_E_OUT_OF_MEMORY;
  enroll_status status = ENROLL_E_STORE_IO;
  jbyteArray title = string_out(env, name);
  jbyteArray bytes = title == NULL ? NULL : bytes_out(env, (const char *)secret, ENROLL_SECRET_SIZE);
  if (bytes != NULL)
    status = (*env)->CallStaticIntMethod(env, host, methods.save, number_out(user_data), title, bytes);
  return leave(env) ? status : ENROLL_E_STORE_IO;
}

static enroll_status remove_secret(void *user_data, const char *name) {
  JNIEnv *env = enter();
  if (env == NULL) return ENROLL_E_OUT_OF_MEMORY;
  enroll_status status = ENROLL_E_STORE_IO;
  jbyteArray title = string_out(env, name);
  if (title != NULL) status = (*env)->CallStaticIntMethod(env, host, methods.remove, number_out(user_data), title);
  return leave(env) ? status : ENROLL_E_STORE_IO;
}

/* Called once for each transport or secret store, as the last call with its number. */
static void release(void *user_data) {
  JNIEnv *env = enter();
  if (env == NULL) return;
  (*env)->CallStaticVoidMethod(env, host, methods.release, number_out(user_data));
  leave(env);
}

/* ---- Clients --------------------------------------------------------------------------------------------------- */

static enroll_client *client_in(jlong client) { return (enroll_client *)(intptr_t)client; }

/* The key provider of a store, from two texts (file, passphrase) and three numbers (provider or -1 for none, seconds
 * of the session cache, the secret store's number). Returns NULL if there is no provider. */
static const enroll_keys *keys_in(const text *texts, const jlong *numbers, enroll_keys *keys,
                                  enroll_secret_store *secrets) {
  if (numbers[0] < 0) return NULL;
  keys->provider = (int32_t)numbers[0];
  keys->file = texts[0].data;
  keys->file_size = texts[0].size;
  keys->passphrase = texts[1].data;
  keys->passphrase_size = texts[1].size;
  keys->session_cache_seconds = numbers[1];
  if (numbers[0] == ENROLL_KEYS_HOST) {
    secrets->user_data = number_in(numbers[2]);
    secrets->load = load_secret;
    secrets->save = save_secret;
    secrets->remove = remove_secret;
    secrets->release = release;
    keys->host = secrets;
  }
  return keys;
}

enum { CONFIGURATION, DIRECTORY, ACCOUNT, PLATFORM_TYPE, APP_VERSION, DEVICE_ID, KEY_TEXTS, OPEN_TEXTS = KEY_TEXTS + 2 };
enum { STORE, NOT_NATIVE, WAITS, BACKGROUND, WIDTH, HEIGHT, TRANSPORT, KEY_NUMBERS, OPEN_NUMBERS = KEY_NUMBERS + 3 };

static jlong client_new(JNIEnv *env, jclass class, jobjectArray text_array, jlongArray number_array) {
  (void)class;
  text texts[OPEN_TEXTS];
  jlong numbers[OPEN_NUMBERS];
  (*env)->GetLongArrayRegion(env, number_array, 0, OPEN_NUMBERS, numbers);
  if ((*env)->ExceptionCheck(env) || !texts_in(env, text_array, texts, OPEN_TEXTS)) return 0;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  enroll_transport transport = ENROLL_TRANSPORT_INIT;
  enroll_secret_store secrets = ENROLL_SECRET_STORE_INIT;
  enroll_keys keys = ENROLL_KEYS_INIT;
  options.configuration = texts[CONFIGURATION].data;
  options.configuration_size = texts[CONFIGURATION].size;
  options.store_directory = texts[DIRECTORY].data;
  options.store_directory_size = texts[DIRECTORY].size;
  options.account = texts[ACCOUNT].data;
  options.account_size = texts[ACCOUNT].size;
  options.platform_type = texts[PLATFORM_TYPE].data;
  options.platform_type_size = texts[PLATFORM_TYPE].size;
  options.app_version = texts[APP_VERSION].data;
  options.app_version_size = texts[APP_VERSION].size;
  options.device_id = texts[DEVICE_ID].data;
  options.device_id_size = texts[DEVICE_ID].size;
  options.store = (int32_t)numbers[STORE];
  options.is_not_native = (int32_t)numbers[NOT_NATIVE];
  options.waits_for_platform = (int32_t)numbers[WAITS];
  options.renews_in_background = (int32_t)numbers[BACKGROUND];
  options.platform_width = numbers[WIDTH];
  options.platform_height = numbers[HEIGHT];
  if (numbers[TRANSPORT] != 0) {
    transport.user_data = number_in(numbers[TRANSPORT]);
    transport.send = send_request;
    transport.release = release;
    options.transport = &transport;
  }
  options.keys = keys_in(&texts[KEY_TEXTS], &numbers[KEY_NUMBERS], &keys, &secrets);
  enroll_client *client = NULL;
  enroll_status status = enroll_client_new(&options, &client, &error);
  texts_free(texts, OPEN_TEXTS);
  if (status != ENROLL_OK) throw_failure(env, &error);
  return number_out(client);
}

static jint client_free(JNIEnv *env, jclass class, jlong client) {
  (void)env, (void)class;
  return enroll_client_free(client_in(client));
}

/* ---- Calls ----------------------------------------------------------------------------------------------------- */

static jbyteArray call(JNIEnv *env, jclass class, jbyteArray command_bytes, jbyteArray parameter_bytes) {
  (void)class;
  text command, parameters;
  if (!text_in(env, command_bytes, &command)) return NULL;
  if (!text_in(env, parameter_bytes, &parameters)) return text_free(&command), NULL;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf result = ENROLL_BUF_INIT;
  enroll_status status = enroll_call(NULL, command.data, command.size, parameters.data, parameters.size,
                                     ENROLL_NO_TIMEOUT, &result, &error);
  text_free(&command);
  text_free(&parameters);
  return result_out(env, status, &result, &error);
}

static jlong call_start(JNIEnv *env, jclass class, jlong client, jbyteArray command_bytes, jbyteArray parameter_bytes,
                        jlong timeout, jlong completion) {
  (void)class;
  text command, parameters;
  if (!text_in(env, command_bytes, &command)) return 0;
  if (!text_in(env, parameter_bytes, &parameters)) return text_free(&command), 0;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_pending *pending = NULL;
  enroll_status status = enroll_call_start(client_in(client), command.data, command.size, parameters.data,
                                           parameters.size, timeout, on_result, number_in(completion), &pending, &error);
  text_free(&command);
  text_free(&parameters);
  if (status != ENROLL_OK) throw_failure(env, &error);
  return number_out(pending);
}

static void pending_cancel(JNIEnv *env, jclass class, jlong pending) {
  (void)env, (void)class;
  enroll_pending_cancel((enroll_pending *)(intptr_t)pending);
}

static void pending_free(JNIEnv *env, jclass class, jlong pending) {
  (void)env, (void)class;
  enroll_pending_free((enroll_pending *)(intptr_t)pending);
}

/* Reads the token from memory. Returns an array with the type and the token, and fills `facts` with the outcome, the
 * expiry and the size of the type in bytes. Returns NULL, without an exception, if no token is available at once. */
static jbyteArray token_access(JNIEnv *env, jclass class, jlong client, jlong minimum_lifetime, jlongArray facts) {
  (void)class;
  enroll_access access = ENROLL_ACCESS_INIT;
  enroll_buf token = ENROLL_BUF_INIT;
  if (enroll_token_access(client_in(client), minimum_lifetime, 0, &access, &token, NULL) != ENROLL_OK) return NULL;
  size_t type_size = strlen(access.token_type);
  jlong numbers[] = {access.outcome, access.expires_at, (jlong)type_size};
  (*env)->SetLongArrayRegion(env, facts, 0, 3, numbers);
  jbyteArray bytes = NULL;
  if (!(*env)->ExceptionCheck(env)) bytes = (*env)->NewByteArray(env, (jsize)(type_size + token.size));
  if (bytes != NULL) {
    (*env)->SetByteArrayRegion(env, bytes, 0, (jsize)type_size, (const jbyte *)access.token_type);
    (*env)->SetByteArrayRegion(env, bytes, (jsize)type_size, (jsize)token.size, (const jbyte *)token.data);
  }
  enroll_buf_free(&token);
  return bytes;
}

static jlong events_subscribe(JNIEnv *env, jclass class, jlong client, jlong listener) {
  (void)class;
  enroll_error error = ENROLL_ERROR_INIT;
  int64_t subscription = 0;
  enroll_status status =
      enroll_events_subscribe(client_in(client), on_event, number_in(listener), NULL, &subscription, &error);
  if (status != ENROLL_OK) throw_failure(env, &error);
  return subscription;
}

static jint events_unsubscribe(JNIEnv *env, jclass class, jlong client, jlong subscription) {
  (void)env, (void)class;
  return enroll_events_unsubscribe(client_in(client), subscription, NULL);
}

/* ---- Stores whose key the host has ------------------------------------------------------------------------------ */

enum { STORE_DIRECTORY, STORE_ACCOUNT, STORE_KEYS, STORE_NEW_KEYS = STORE_KEYS + 2, STORE_TEXTS = STORE_NEW_KEYS + 2 };
enum { OLD_NUMBERS, NEW_NUMBERS = OLD_NUMBERS + 3, NEW_DATA_KEY = NEW_NUMBERS + 3, STORE_NUMBERS };
enum { LIST, REMOVE, RESET, DIAGNOSE, REKEY };

static jbyteArray store_call(JNIEnv *env, jclass class, jint operation, jobjectArray text_array,
                             jlongArray number_array) {
  (void)class;
  text texts[STORE_TEXTS];
  jlong numbers[STORE_NUMBERS];
  (*env)->GetLongArrayRegion(env, number_array, 0, STORE_NUMBERS, numbers);
  if ((*env)->ExceptionCheck(env) || !texts_in(env, text_array, texts, STORE_TEXTS)) return NULL;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf result = ENROLL_BUF_INIT;
  enroll_secret_store secrets = ENROLL_SECRET_STORE_INIT, new_secrets = ENROLL_SECRET_STORE_INIT;
  enroll_keys kept = ENROLL_KEYS_INIT, new_kept = ENROLL_KEYS_INIT;
  const enroll_keys *keys = keys_in(&texts[STORE_KEYS], &numbers[OLD_NUMBERS], &kept, &secrets);
  const enroll_keys *new_keys = keys_in(&texts[STORE_NEW_KEYS], &numbers[NEW_NUMBERS], &new_kept, &new_secrets);
  const text *directory = &texts[STORE_DIRECTORY], *account = &texts[STORE_ACCOUNT];
  enroll_status status = ENROLL_E_NOT_FOUND;
  switch (operation) {
    case LIST: status = enroll_accounts_list(directory->data, directory->size, keys, &result, &error); break;
    case REMOVE:
      status = enroll_accounts_remove(directory->data, directory->size, keys, account->data, account->size, &error);
      break;
    case RESET: status = enroll_installation_reset(directory->data, directory->size, keys, &error); break;
    case DIAGNOSE: status = enroll_store_diagnose(directory->data, directory->size, keys, &result, &error); break;
    case REKEY:
      status = enroll_store_rekey(directory->data, directory->size, keys, new_keys, (int32_t)numbers[NEW_DATA_KEY],
                                  &error);
      break;
    default: break; /* the class has no other number */
  }
  texts_free(texts, STORE_TEXTS);
  return result_out(env, status, &result, &error);
}

/* ---- Responses of the host's HTTP ------------------------------------------------------------------------------- */

static enroll_http_response *response_in(jlong response) { return (enroll_http_response *)(intptr_t)response; }

static jint response_set_status(JNIEnv *env, jclass class, jlong response, jint status) {
  (void)env, (void)class;
  return enroll_http_response_set_status(response_in(response), status);
}

static jint response_add_header(JNIEnv *env, jclass class, jlong response, jbyteArray name_bytes,
                                jbyteArray value_bytes) {
  (void)class;
  text name, value;
  if (!text_in(env, name_bytes, &name)) return ENROLL_E_OUT_OF_MEMORY;
  if (!text_in(env, value_bytes, &value)) return text_free(&name), ENROLL_E_OUT_OF_MEMORY;
  jint status = enroll_http_response_add_header(response_in(response), name.data, name.size, value.data, value.size);
  text_free(&name);
  text_free(&value);
  return status;
}

static jint response_add_body(JNIEnv *env, jclass class, jlong response, jbyteArray bytes) {
  (void)class;
  text body;
  if (!text_in(env, bytes, &body)) return ENROLL_E_OUT_OF_MEMORY;
  jint status = enroll_http_response_add_body(response_in(response), body.data, body.size);
  text_free(&body);
  return status;
}

static jint response_set_unsent(JNIEnv *env, jclass class, jlong response) {
  (void)env, (void)class;
  return enroll_http_response_set_unsent(response_in(response));
}

static jboolean response_is_cancelled(JNIEnv *env, jclass class, jlong response) {
  (void)env, (void)class;
  return enroll_http_response_is_cancelled(response_in(response)) != 0;
}

/* ---- Loading --------------------------------------------------------------------------------------------------- */

static jbyteArray version(JNIEnv *env, jclass class) {
  (void)class;
  return string_out(env, enroll_version_string());
}

static jint abi_version(JNIEnv *env, jclass class) {
  (void)env, (void)class;
  return (jint)enroll_abi_version();
}

static jint header_abi_version(JNIEnv *env, jclass class) {
  (void)env, (void)class;
  return ENROLL_ABI_VERSION;
}

#define BYTES "[B"
#define TEXTS "[[B"
#define NATIVE(name, signature, function) \
  { (char *)(name), (char *)(signature), (void *)(uintptr_t)(function) }

static const JNINativeMethod natives[] = {
    NATIVE("version", "()" BYTES, version),
    NATIVE("abiVersion", "()I", abi_version),
    NATIVE("headerAbiVersion", "()I", header_abi_version),
    NATIVE("clientNew", "(" TEXTS "[J)J", client_new),
    NATIVE("clientFree", "(J)I", client_free),
    NATIVE("call", "(" BYTES BYTES ")" BYTES, call),
    NATIVE("callStart", "(J" BYTES BYTES "JJ)J", call_start),
    NATIVE("pendingCancel", "(J)V", pending_cancel),
    NATIVE("pendingFree", "(J)V", pending_free),
    NATIVE("tokenAccess", "(JJ[J)" BYTES, token_access),
    NATIVE("eventsSubscribe", "(JJ)J", events_subscribe),
    NATIVE("eventsUnsubscribe", "(JJ)I", events_unsubscribe),
    NATIVE("storeCall", "(I" TEXTS "[J)" BYTES, store_call),
    NATIVE("responseSetStatus", "(JI)I", response_set_status),
    NATIVE("responseAddHeader", "(J" BYTES BYTES ")I", response_add_header),
    NATIVE("responseAddBody", "(J" BYTES ")I", response_add_body),
    NATIVE("responseSetUnsent", "(J)I", response_set_unsent),
    NATIVE("responseIsCancelled", "(J)Z", response_is_cancelled),
};

static bool find_methods(JNIEnv *env) {
  const struct {
    jmethodID *into;
    const char *name, *signature;
  } wanted[] = {
      {&methods.failure, "failure", "(I" BYTES "ZIJ" BYTES BYTES BYTES BYTES ")Ljava/lang/Throwable;"},
      {&methods.completed, "completed", "(J" BYTES "Ljava/lang/Throwable;)V"},
      {&methods.event, "event", "(J" BYTES BYTES ")V"},
      {&methods.send, "send", "(JJ" BYTES BYTES TEXTS BYTES "JZI)I"},
      {&methods.load, "load", "(J" BYTES BYTES ")I"},
      {&methods.save, "save", "(J" BYTES BYTES ")I"},
      {&methods.remove, "remove", "(J" BYTES ")I"},
      {&methods.release, "release", "(J)V"},
  };
  for (size_t index = 0; index < sizeof wanted / sizeof *wanted; index++) {
    *wanted[index].into = (*env)->GetStaticMethodID(env, host, wanted[index].name, wanted[index].signature);
    if (*wanted[index].into == NULL) return false;
  }
  return true;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved) {
  (void)reserved;
  machine = vm;
  void *env_pointer = NULL;
  if ((*vm)->GetEnv(vm, &env_pointer, JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  JNIEnv *env = env_pointer;
  jclass found = (*env)->FindClass(env, CLASS);
  if (found == NULL) return JNI_ERR;
  host = (*env)->NewGlobalRef(env, found);
  (*env)->DeleteLocalRef(env, found);
  if (host == NULL || !find_methods(env)) return JNI_ERR;
  if ((*env)->RegisterNatives(env, host, natives, sizeof natives / sizeof *natives) != JNI_OK) return JNI_ERR;
  return JNI_VERSION_1_6;
}
