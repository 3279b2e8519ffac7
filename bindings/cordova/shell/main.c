/*
 * main.c - a hybrid app on the desktop: its page is HTML in a WebKitGTK view, and it uses the plugin for Cordova.
 *
 * Only one instance runs. For a redirect (com.example.app:/…) the system starts a second instance, which passes the
 * URL to the first instance and ends; if the first instance has died, the second takes its place. The page comes from
 * the program's own resources, under a policy that allows nothing else. The view never navigates elsewhere: other
 * pages belong in the browser.
 */

#include <gtk/gtk.h>
#include <libsoup/soup.h>
#include <webkit2/webkit2.h>

#include "bridge.h"
#include "shell.h"

#define APPLICATION_ID "com.example.app"
#define RESOURCES "/com/example/app/"
#define POLICY                                                                                            \
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; " \
  "base-uri 'none'; form-action 'none'"

shell the_shell = {.policy = POLICY};

/* ---- The page: resources of the program ----------------------------------------------------------------------- */

static const char *content_type(const char *path) {
  if (g_str_has_suffix(path, ".html")) return "text/html";
  if (g_str_has_suffix(path, ".js")) return "text/javascript";
  if (g_str_has_suffix(path, ".css")) return "text/css";
  return "application/json";
}

/* Loads a resource. The environment variable ENROLL_CONFIG names another file for configuration.json. */
static GBytes *load(const char *path, GError **error) {
  const char *configuration = g_getenv("ENROLL_CONFIG");
  char *text;
  gsize size;
  if (configuration != NULL && strcmp(path, "configuration.json") == 0)
    return g_file_get_contents(configuration, &text, &size, error) ? g_bytes_new_take(text, size) : NULL;
  char *name = g_strconcat(RESOURCES, path, NULL);
  GBytes *bytes = g_resources_lookup_data(name, G_RESOURCE_LOOKUP_FLAGS_NONE, error);
  g_free(name);
  return bytes;
}

static void serve(WebKitURISchemeRequest *request, gpointer data) {
  (void)data;
  GError *error = NULL;
  const char *uri = webkit_uri_scheme_request_get_uri(request);
  const char *path = webkit_uri_scheme_request_get_path(request) + 1;
  GBytes *bytes = g_str_has_prefix(uri, APP_ORIGIN) ? load(path, &error) : NULL;
  if (bytes == NULL) {
    if (error == NULL) error = g_error_new(G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no such page: %s", uri);
    webkit_uri_scheme_request_finish_error(request, error);
    g_error_free(error);
    return;
  }
  GInputStream *stream = g_memory_input_stream_new_from_bytes(bytes);
  WebKitURISchemeResponse *response = webkit_uri_scheme_response_new(stream, (gint64)g_bytes_get_size(bytes));
  webkit_uri_scheme_response_set_content_type(response, content_type(path));
  SoupMessageHeaders *headers = soup_message_headers_new(SOUP_MESSAGE_HEADERS_RESPONSE);
  if (the_shell.policy != NULL) soup_message_headers_append(headers, "Content-Security-Policy", the_shell.policy);
  soup_message_headers_append(headers, "Content-Type", content_type(path));
  soup_message_headers_append(headers, "X-Content-Type-Options", "nosniff");
  webkit_uri_scheme_response_set_http_headers(response, headers);
  webkit_uri_scheme_request_finish_with_response(request, response);
  g_object_unref(response);
  g_object_unref(stream);
  g_bytes_unref(bytes);
}

/* ---- Where the view may go: nowhere else ---------------------------------------------------------------------- */

static gboolean decide(WebKitWebView *view, WebKitPolicyDecision *decision, WebKitPolicyDecisionType type,
                       gpointer data) {
  (void)view, (void)data;
  if (type == WEBKIT_POLICY_DECISION_TYPE_RESPONSE) return FALSE;
  WebKitNavigationAction *action =
      webkit_navigation_policy_decision_get_navigation_action(WEBKIT_NAVIGATION_POLICY_DECISION(decision));
  const char *uri = webkit_uri_request_get_uri(webkit_navigation_action_get_request(action));
  gboolean ours = type == WEBKIT_POLICY_DECISION_TYPE_NAVIGATION_ACTION && g_str_has_prefix(uri, APP_ORIGIN);
  if (ours || (the_shell.permitted != NULL && g_str_has_prefix(uri, the_shell.permitted)))
    webkit_policy_decision_use(decision);
  else
    webkit_policy_decision_ignore(decision);
  return TRUE;
}

static void on_load(WebKitWebView *view, WebKitLoadEvent event, gpointer data) {
  (void)view, (void)data;
  if (event == WEBKIT_LOAD_COMMITTED) bridge_reset(the_shell.bridge);
}

static void on_web_process_ended(WebKitWebView *view, WebKitWebProcessTerminationReason reason, gpointer data) {
  (void)reason, (void)data;
  bridge_reset(the_shell.bridge);
  webkit_web_view_load_uri(view, APP_ORIGIN "index.html");
}

/* ---- The application ------------------------------------------------------------------------------------------ */

static void start(GApplication *application, gpointer data) {
  (void)data;
  /* The view keeps nothing: no cookies, no cache. */
  WebKitWebContext *context = webkit_web_context_new_ephemeral();
  gboolean is_sandboxed = TRUE;
#ifdef HYBRID_SHELL_TESTING
  /* The view's sandbox needs user namespaces, which some containers do not allow. */
  is_sandboxed = g_getenv("HYBRID_SHELL_UNSANDBOXED") == NULL;
#endif
  webkit_web_context_set_sandbox_enabled(context, is_sandboxed);
  webkit_web_context_register_uri_scheme(context, "app", serve, NULL, NULL);
  webkit_security_manager_register_uri_scheme_as_secure(webkit_web_context_get_security_manager(context), "app");

  WebKitUserContentManager *manager = webkit_user_content_manager_new();
  the_shell.bridge = bridge_new(manager, APPLICATION_ID);
  WebKitSettings *settings = webkit_settings_new_with_settings(
      "enable-developer-extras", FALSE, "javascript-can-open-windows-automatically", FALSE, "enable-html5-database",
      FALSE, "enable-html5-local-storage", FALSE, "enable-webgl", FALSE, "enable-media", FALSE,
      "hardware-acceleration-policy", WEBKIT_HARDWARE_ACCELERATION_POLICY_NEVER, NULL);
#ifdef HYBRID_SHELL_TESTING
  webkit_settings_set_enable_write_console_messages_to_stdout(settings, TRUE);
#endif
  the_shell.view = WEBKIT_WEB_VIEW(g_object_new(WEBKIT_TYPE_WEB_VIEW, "web-context", context, "user-content-manager",
                                                manager, "settings", settings, NULL));
  g_signal_connect(the_shell.view, "decide-policy", G_CALLBACK(decide), NULL);
  g_signal_connect(the_shell.view, "load-changed", G_CALLBACK(on_load), NULL);
  g_signal_connect(the_shell.view, "web-process-terminated", G_CALLBACK(on_web_process_ended), NULL);
  bridge_set_view(the_shell.bridge, the_shell.view);
  g_object_unref(settings);
  g_object_unref(manager);
  g_object_unref(context);

  the_shell.window = GTK_WINDOW(gtk_application_window_new(GTK_APPLICATION(application)));
  gtk_window_set_title(the_shell.window, "Hello, EnrollKit");
  gtk_window_set_default_size(the_shell.window, 420, 720);
  gtk_container_add(GTK_CONTAINER(the_shell.window), GTK_WIDGET(the_shell.view));
  webkit_web_view_load_uri(the_shell.view, APP_ORIGIN "index.html");
#ifdef HYBRID_SHELL_TESTING
  remote_listen(g_getenv("HYBRID_SHELL_REMOTE"));
#endif
}

static void activate(GApplication *application, gpointer data) {
  (void)application, (void)data;
  gtk_widget_show_all(GTK_WIDGET(the_shell.window));
  gtk_window_present(the_shell.window);
}

/* Receives the redirect: from the second process over D-Bus or, if the first is gone, from this process's arguments. */
static void open_urls(GApplication *application, GFile **files, gint count, const char *hint, gpointer data) {
  (void)hint;
  for (gint i = 0; i < count; i++) {
    char *url = g_file_get_uri(files[i]);
    bridge_take_url(the_shell.bridge, url);
    g_free(url);
  }
  activate(application, data);
}

static void shut_down(GApplication *application, gpointer data) {
  (void)application, (void)data;
  bridge_free(the_shell.bridge);
}

int main(int argc, char **argv) {
  GtkApplication *application = gtk_application_new(APPLICATION_ID, G_APPLICATION_HANDLES_OPEN);
  g_signal_connect(application, "startup", G_CALLBACK(start), NULL);
  g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
  g_signal_connect(application, "open", G_CALLBACK(open_urls), NULL);
  g_signal_connect(application, "shutdown", G_CALLBACK(shut_down), NULL);
  int status = g_application_run(G_APPLICATION(application), argc, argv);
  g_object_unref(application);
  return status;
}
