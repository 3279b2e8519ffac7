/* Tests of the ways to protect the key of a store (the host's own secret store, a passphrase, or key files),
 * and of changing from one way to another (R41). */

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "provider.h"

#define ITEMS 8

/* The secret store of these tests, like a keychain: a few secrets by name, which can be locked. */
typedef struct chain {
  pthread_mutex_t mutex;
  pthread_cond_t released;
  char names[ITEMS][64];
  unsigned char secrets[ITEMS][ENROLL_SECRET_SIZE];
  int count, loads, releases;
  enroll_status answer;
  void (*hook)(void *hook_data);
  void *hook_data;
} chain;

static int chain_find(chain *own, const char *name) {
  for (int index = 0; index < ITEMS; index++)
    if (own->names[index][0] != 0 && strcmp(own->names[index], name) == 0) return index;
  return -1;
}

static enroll_status chain_load(void *user_data, const char *name, unsigned char *secret) {
  chain *own = user_data;
  if (own->hook != NULL) own->hook(own->hook_data);
  pthread_mutex_lock(&own->mutex);
  enroll_status status = own->answer;
  int index = chain_find(own, name);
  if (status == ENROLL_OK && index < 0) status = ENROLL_E_NOT_FOUND;
  if (status == ENROLL_OK) memcpy(secret, own->secrets[index], ENROLL_SECRET_SIZE);
  own->loads++;
  pthread_mutex_unlock(&own->mutex);
  return status;
}

static enroll_status chain_save(void *user_data, const char *name, const unsigned char *secret) {
  chain *own = user_data;
  pthread_mutex_lock(&own->mutex);
  enroll_status status = own->answer;
  int index = 0;
  while (index < ITEMS && own->names[index][0] != 0) index++;
  if (status == ENROLL_OK && (index == ITEMS || strlen(name) > 63)) status = ENROLL_E_STORE_FULL;
  if (status == ENROLL_OK) {
    strcpy(own->names[index], name);
    memcpy(own->secrets[index], secret, ENROLL_SECRET_SIZE);
    own->count++;
  }
  pthread_mutex_unlock(&own->mutex);
  return status;
}

static enroll_status chain_remove(void *user_data, const char *name) {
  chain *own = user_data;
  pthread_mutex_lock(&own->mutex);
  enroll_status status = own->answer;
  int index = chain_find(own, name);
  if (status == ENROLL_OK && index < 0) status = ENROLL_E_NOT_FOUND;
  if (status == ENROLL_OK) {
    own->names[index][0] = 0;
    own->count--;
  }
  pthread_mutex_unlock(&own->mutex);
  return status;
}

static void chain_release(void *user_data) {
  chain *own = user_data;
  pthread_mutex_lock(&own->mutex);
  own->releases++;
  pthread_cond_signal(&own->released);
  pthread_mutex_unlock(&own->mutex);
}

/* Waits until `release` was called `count` times: a thread of the client may call it after enroll_client_free
 * has returned. */
static void wait_for_releases(chain *own, int count) {
  pthread_mutex_lock(&own->mutex);
  while (own->releases < count) pthread_cond_wait(&own->released, &own->mutex);
  int came = own->releases;
  pthread_mutex_unlock(&own->mutex);
  CHECK_NUMBER(count, came);
}

static enroll_secret_store chain_store(chain *own) {
  enroll_secret_store store = ENROLL_SECRET_STORE_INIT;
  store.user_data = own;
  store.load = chain_load;
  store.save = chain_save;
  store.remove = chain_remove;
  store.release = chain_release;
  return store;
}

static chain chain_new(void) {
  chain own;
  memset(&own, 0, sizeof own);
  pthread_mutex_init(&own.mutex, NULL);
  pthread_cond_init(&own.released, NULL);
  return own;
}

static enroll_keys host_keys(const enroll_secret_store *store) {
  enroll_keys keys = ENROLL_KEYS_INIT;
  keys.provider = ENROLL_KEYS_HOST;
  keys.host = store;
  return keys;
}

static enroll_keys passphrase_keys(const char *passphrase) {
  enroll_keys keys = ENROLL_KEYS_INIT;
  keys.provider = ENROLL_KEYS_PASSPHRASE;
  keys.passphrase = passphrase;
  keys.passphrase_size = ENROLL_NUL_TERMINATED;
  return keys;
}

/* The path of a store in a new directory, which only one test uses. */
static const char *store_path(void) {
  static char path[128];
  snprintf(path, sizeof path, "/tmp/enroll-keys-XXXXXX");
  if (mkdtemp(path) == NULL) CHECK_FAIL("no directory");
  strcat(path, "/store");
  return path;
}

static void remove_store(const char *path) {
  char parent[128];
  snprintf(parent, sizeof parent, "%s", path);
  *strrchr(parent, '/') = 0;
  char command[160];
  snprintf(command, sizeof command, "rm -rf '%s'", parent);
  CHECK_NUMBER(0, system(command));
}

static const char configuration[] =
    "{\"issuer\":\"https://provider.example\",\"clientId\":\"native\",\"redirectUri\":\"com.example.app:/callback\"}";

/* Opens a client whose keys are `keys`, and asks for its state. */
static enroll_status state_of(const char *path, const enroll_keys *keys, enroll_error *error) {
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = configuration;
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store_directory = path;
  options.store_directory_size = ENROLL_NUL_TERMINATED;
  options.keys = keys;
  enroll_client *client = NULL;
  enroll_status status = enroll_client_new(&options, &client, error);
  if (status != ENROLL_OK) return status;
  enroll_state state = ENROLL_STATE_INIT;
  status = enroll_registration_state(client, 0, 30000, &state, error);
  if (enroll_client_free(client) != ENROLL_OK) CHECK_FAIL("the client is not freed");
  return status;
}

static enroll_status list(const char *path, const enroll_keys *keys, enroll_error *error) {
  enroll_buf accounts = ENROLL_BUF_INIT;
  enroll_status status = enroll_accounts_list(path, ENROLL_NUL_TERMINATED, keys, &accounts, error);
  enroll_buf_free(&accounts);
  return status;
}

TEST("the host's secrets guard a store: locked, lost and failing ones are told apart, and the same client goes on") {
  enroll_error error = ENROLL_ERROR_INIT;
  const char *path = store_path();
  chain own = chain_new();
  enroll_secret_store store = chain_store(&own);
  enroll_keys keys = host_keys(&store);
  CHECK_OK(state_of(path, &keys, &error));
  CHECK_NUMBER(1, own.count);
  CHECK(strncmp(own.names[0], "enrollkit.", 10) == 0);
  wait_for_releases(&own, 1);

  own.answer = ENROLL_E_STORE_LOCKED;
  CHECK_STATUS(ENROLL_E_STORE_LOCKED, state_of(path, &keys, &error));
  CHECK(strstr(error.message, "unlock it") != NULL);
  CHECK_NUMBER(1, error.is_retryable);
  own.answer = -12345;
  CHECK_STATUS(ENROLL_E_STORE_IO, state_of(path, &keys, &error));
  CHECK(strstr(error.message, "-12345") != NULL);
  own.answer = ENROLL_E_NOT_FOUND;
  CHECK_STATUS(ENROLL_E_STORE_LOCKED, state_of(path, &keys, &error));
  CHECK(strstr(error.message, own.names[0]) != NULL);

  /* In this test the secret store is locked when the client opens, and is unlocked while the client is open.
     */
  own.answer = ENROLL_E_STORE_LOCKED;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = configuration;
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store_directory = path;
  options.store_directory_size = ENROLL_NUL_TERMINATED;
  options.keys = &keys;
  enroll_client *client = NULL;
  enroll_state state = ENROLL_STATE_INIT;
  CHECK_OK(enroll_client_new(&options, &client, &error));
  CHECK_STATUS(ENROLL_E_STORE_LOCKED, enroll_registration_state(client, 0, 1000, &state, &error));
  own.answer = ENROLL_OK;
  CHECK_OK(enroll_registration_state(client, 0, 1000, &state, &error));
  CHECK_OK(enroll_client_free(client));

  CHECK_STATUS(ENROLL_E_STORE_KEY, list(path, NULL, &error));
  CHECK(strstr(error.message, "kept by host") != NULL);
  CHECK_OK(list(path, &keys, &error));
  remove_store(path);
}

TEST("a store moves between the host, a passphrase and key files, and every call that was given a host releases it") {
  enroll_error error = ENROLL_ERROR_INIT;
  const char *path = store_path();
  chain own = chain_new();
  enroll_secret_store store = chain_store(&own);
  enroll_keys host = host_keys(&store);
  enroll_keys typed = passphrase_keys("correct horse");
  CHECK_STATUS(ENROLL_E_NOT_FOUND, enroll_store_rekey(path, ENROLL_NUL_TERMINATED, NULL, &host, 0, &error));
  wait_for_releases(&own, 1);
  CHECK_OK(state_of(path, NULL, &error));
  CHECK_OK(enroll_store_rekey(path, ENROLL_NUL_TERMINATED, NULL, &host, 0, &error));
  wait_for_releases(&own, 2);
  CHECK_NUMBER(1, own.count);
  CHECK_OK(enroll_store_rekey(path, ENROLL_NUL_TERMINATED, &host, NULL, 1, &error));
  CHECK_NUMBER(1, own.count);
  CHECK_OK(enroll_store_rekey(path, ENROLL_NUL_TERMINATED, &host, &typed, 0, &error));
  CHECK_NUMBER(0, own.count);
  CHECK_OK(list(path, &typed, &error));
  enroll_keys wrong = passphrase_keys("correct horsf");
  CHECK_STATUS(ENROLL_E_STORE_KEY, list(path, &wrong, &error));
  enroll_keys none = passphrase_keys(NULL);
  none.passphrase_size = 0;
  CHECK_STATUS(ENROLL_E_STORE_LOCKED, list(path, &none, &error));
  enroll_keys automatic = passphrase_keys("correct horse");
  automatic.provider = ENROLL_KEYS_AUTO;
  CHECK_OK(list(path, &automatic, &error));

  enroll_buf diagnosis = ENROLL_BUF_INIT;
  CHECK_OK(enroll_store_diagnose(path, ENROLL_NUL_TERMINATED, &typed, &diagnosis, &error));
  CHECK(strstr(diagnosis.data, "\"keyProviders\":[\"passphrase\"]") != NULL);
  CHECK(strstr(diagnosis.data, "problem") == NULL);
  CHECK(strstr(diagnosis.data, "correct") == NULL);
  enroll_buf_free(&diagnosis);
  CHECK_OK(enroll_store_rekey(path, ENROLL_NUL_TERMINATED, &typed, NULL, 0, &error));
  CHECK_OK(list(path, &typed, &error));
  enroll_keys file = ENROLL_KEYS_INIT;
  CHECK_OK(enroll_store_rekey(path, ENROLL_NUL_TERMINATED, &typed, &file, 0, &error));
  CHECK_OK(list(path, NULL, &error));
  remove_store(path);
}

static const char *reentered;

/* Calls the client from inside the secret store, which a host must not do. */
static void call_back_in(void *client) {
  enroll_state state = ENROLL_STATE_INIT;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *handle = *(enroll_client **)client;
  if (handle == NULL) return;
  if (enroll_registration_state(handle, 0, 0, &state, &error) == ENROLL_E_REENTRANT) reentered = "refused";
}

TEST("secrets that call back in are refused, and their own call goes on (R41)") {
  enroll_error error = ENROLL_ERROR_INIT;
  const char *path = store_path();
  chain own = chain_new();
  enroll_secret_store store = chain_store(&own);
  enroll_keys keys = host_keys(&store);
  enroll_client *client = NULL;
  own.hook = call_back_in;
  own.hook_data = &client;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = configuration;
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store_directory = path;
  options.store_directory_size = ENROLL_NUL_TERMINATED;
  options.keys = &keys;
  CHECK_OK(enroll_client_new(&options, &client, &error));
  enroll_state state = ENROLL_STATE_INIT;
  reentered = NULL;
  CHECK_OK(enroll_registration_state(client, 0, 1000, &state, &error));
  CHECK(reentered != NULL);
  CHECK_OK(enroll_client_free(client));
  wait_for_releases(&own, 1);
  remove_store(path);
}

static void check_refused(const enroll_keys *keys, const char *field) {
  enroll_error error = ENROLL_ERROR_INIT;
  const char *path = store_path();
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, state_of(path, keys, &error));
  CHECK_TEXT(field, error.field);
  CHECK(access(path, F_OK) != 0);
  remove_store(path);
}

TEST("keys that are not what they should be are refused by name, and no store is made") {
  chain own = chain_new();
  enroll_secret_store store = chain_store(&own);
  enroll_keys keys = host_keys(NULL);
  check_refused(&keys, "host");
  keys = host_keys(&store);
  keys.provider = ENROLL_KEYS_FILE;
  check_refused(&keys, "host");
  keys = host_keys(&store);
  store.save = NULL;
  check_refused(&keys, "host");
  store = chain_store(&own);
  store.struct_size = 0;
  check_refused(&keys, "struct_size");
  keys = passphrase_keys("p");
  keys.provider = ENROLL_KEYS_FILE;
  check_refused(&keys, "passphrase");
  keys = passphrase_keys("p");
  keys.provider = 5;
  check_refused(&keys, "provider");
  keys.provider = -1;
  check_refused(&keys, "provider");
  keys = passphrase_keys(NULL);
  keys.passphrase_size = 3;
  check_refused(&keys, "passphrase");
  keys = (enroll_keys)ENROLL_KEYS_INIT;
  keys.provider = ENROLL_KEYS_SECRET_SERVICE;
  keys.file = "/tmp/key";
  keys.file_size = ENROLL_NUL_TERMINATED;
  check_refused(&keys, "file");
  keys = (enroll_keys)ENROLL_KEYS_INIT;
  keys.session_cache_seconds = 604801;
  enroll_error error = ENROLL_ERROR_INIT;
  const char *path = store_path();
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, state_of(path, &keys, &error));
  remove_store(path);
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = configuration;
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store = ENROLL_STORE_MEMORY;
  keys = (enroll_keys)ENROLL_KEYS_INIT;
  options.keys = &keys;
  enroll_client *client = NULL;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_client_new(&options, &client, &error));
  CHECK_TEXT("keys", error.field);
}

int main(int count, char **arguments) { return check_main(count, arguments); }
