/* A GTK 4 desktop app that signs its user in. The library's calls block, so they run on a separate thread; only the
 * main thread changes the window. */

#include <enroll.h>
#include <gtk/gtk.h>
#include <string.h>

#define MINUTE 60000

static enroll_client *client;
static GtkWidget *window, *button;
static gboolean is_signed_in;

/* The result of a thread, which the window shows. */
typedef struct {
  char *title;
  gboolean is_signed_in;
} told;

/* Shows a result in the window. Runs on the main thread. */
static gboolean show(gpointer data) {
  told *what = data;
  is_signed_in = what->is_signed_in;
  gtk_window_set_title(GTK_WINDOW(window), what->title);
  gtk_button_set_label(GTK_BUTTON(button), is_signed_in ? "Sign out" : "Sign in");
  gtk_widget_set_sensitive(button, TRUE);
  gtk_widget_grab_focus(button);
  g_free(what->title);
  g_free(what);
  return G_SOURCE_REMOVE;
}

static void tell(char *title, gboolean is_in) {
  told *what = g_new(told, 1);
  *what = (told){title, is_in};
  g_idle_add(show, what);
}

/* Whether a call of the library worked. If it failed, the window's title shows the error. */
static gboolean works(enroll_status status, const enroll_error *error, gboolean is_in) {
  if (status != ENROLL_OK) tell(g_strdup_printf("%s: %s", enroll_status_name(status), error->message), is_in);
  return status == ENROLL_OK;
}

/* Finds a text member of a JSON object and returns its value. A larger app would use a JSON library. */
static char *member(const char *json, const char *name) {
  char *key = g_strdup_printf("\"%s\":\"", name);
  const char *at = strstr(json, key);
  char *value = at ? g_strndup(at + strlen(key), strcspn(at + strlen(key), "\"")) : g_strdup("somebody");
  g_free(key);
  return value;
}

static void tell_who(void) {
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf profile = ENROLL_BUF_INIT;
  if (!works(enroll_account_read(client, &profile, NULL, NULL, NULL, NULL, &error), &error, FALSE)) return;
  if (profile.size == 0) {
    tell(g_strdup("Nobody is signed in"), FALSE);
  } else {
    char *email = member(profile.data, "email");
    tell(g_strdup_printf("Signed in as %s", email), TRUE);
    g_free(email);
  }
  enroll_buf_free(&profile);
}

/* Opens the system's browser by xdg-open, which uses the desktop's setting and the variable BROWSER. */
static gboolean open_browser(const char *url) {
  char *words[] = {"xdg-open", (char *)url, NULL};
  return g_spawn_async(NULL, words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL);
}

/* Opens the browser, and waits until the redirect has come back. */
static gboolean browse(enroll_state *state) {
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
  enroll_buf url = ENROLL_BUF_INIT;
  if (!works(enroll_registration_begin(client, NULL, MINUTE, &transaction, &url, NULL, &error), &error, FALSE)) return FALSE;
  gboolean is_open = open_browser(url.data);
  enroll_buf_free(&url);
  if (!is_open) {
    tell(g_strdup("xdg-open is not installed"), FALSE);
    return FALSE;
  }
  return works(enroll_registration_await_outcome(client, transaction.id, strlen(transaction.id), 10 * MINUTE, state, &error),
               &error, FALSE);
}

static gpointer sign_in(gpointer data) {
  (void)data;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_state state = ENROLL_STATE_INIT;
  if (!works(enroll_registration_state(client, 0, MINUTE, &state, &error), &error, FALSE)) return NULL;
  /* An earlier run of the app may have ended after the sign-in and before the confirmation. */
  if (state.kind != ENROLL_STATE_AWAITING_CONFIRMATION && !browse(&state)) return NULL;
  const char *asked = state.transaction;
  if (state.kind == ENROLL_STATE_AWAITING_CONFIRMATION &&
      !works(enroll_registration_confirm_transaction(client, asked, strlen(asked), NULL, &error), &error, FALSE))
    return NULL;
  tell_who();
  return NULL;
}

static gpointer sign_out(gpointer data) {
  (void)data;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf url = ENROLL_BUF_INIT;
  if (works(enroll_logout_begin(client, 0, MINUTE, &url, &error), &error, TRUE)) tell_who();
  enroll_buf_free(&url);
  return NULL;
}

static void clicked(GtkButton *pressed, gpointer data) {
  (void)data;
  gtk_widget_set_sensitive(GTK_WIDGET(pressed), FALSE);
  g_thread_unref(g_thread_new("enroll", is_signed_in ? sign_out : sign_in, NULL));
}

static void activate(GtkApplication *application, gpointer data) {
  (void)data;
  window = gtk_application_window_new(application);
  gtk_window_set_default_size(GTK_WINDOW(window), 480, 120);
  button = gtk_button_new_with_label("Sign in");
  gtk_widget_set_halign(button, GTK_ALIGN_CENTER);
  gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
  gtk_window_set_child(GTK_WINDOW(window), button);
  g_signal_connect(button, "clicked", G_CALLBACK(clicked), NULL);
  gtk_window_present(GTK_WINDOW(window));
  tell_who();
}

/* Opens the client with the configuration file that ENROLL_CONFIG names. */
static gboolean open_client(void) {
  const char *file = g_getenv("ENROLL_CONFIG") ? g_getenv("ENROLL_CONFIG") : "Examples/sandbox.json";
  GError *fault = NULL;
  char *configuration;
  gsize size;
  if (!g_file_get_contents(file, &configuration, &size, &fault)) {
    g_printerr("gtk-app: %s\n", fault->message);
    g_error_free(fault);
    return FALSE;
  }
  g_mkdir_with_parents(g_get_user_data_dir(), 0700);
  char *store = g_build_filename(g_get_user_data_dir(), "gtk-app-example", NULL);
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = configuration;
  options.configuration_size = size;
  options.store_directory = store;
  options.store_directory_size = strlen(store);
  enroll_status status = enroll_client_new(&options, &client, &error);
  if (status != ENROLL_OK) g_printerr("gtk-app: %s: %s\n", enroll_status_name(status), error.message);
  g_free(store);
  g_free(configuration);
  return status == ENROLL_OK;
}

int main(int argc, char **argv) {
  if (!open_client()) return 1;
  GtkApplication *application = gtk_application_new("com.example.gtk_app", G_APPLICATION_NON_UNIQUE);
  g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
  int status = g_application_run(G_APPLICATION(application), argc, argv);
  g_object_unref(application);
  enroll_client_free(client);
  return status;
}
