/*
 * remote.c - lets tests control the shell, only in the tests' build. Each line at a Unix socket is a JSON object:
 *
 *     {"run": "return document.title"}       a function's body in the page's own world; answers {"value": "…"}
 *     {"snapshot": "/path/to.png"}           a picture of the page
 *     {"size": [320, 568]}                   sets the size of the window
 *     {"permit": "http://127.0.0.1:1/", "visit": "http://127.0.0.1:1/page"}   lets an attacker in, without a policy
 *
 * Each is answered by one line: {"value": …} or {"error": "…"}.
 */

#include <gio/gunixsocketaddress.h>
#include <jansson.h>

#include "shell.h"

typedef struct visitor {
  GSocketConnection *connection;
  GDataInputStream *lines;
} visitor;

static void next_line(visitor *visitor);

static void say(visitor *visitor, json_t *answer) {
  char *text = json_dumps(answer, JSON_COMPACT | JSON_ENCODE_ANY);
  char *line = g_strconcat(text, "\n", NULL);
  GOutputStream *out = g_io_stream_get_output_stream(G_IO_STREAM(visitor->connection));
  g_output_stream_write_all(out, line, strlen(line), NULL, NULL, NULL);
  g_free(line);
  free(text);
  json_decref(answer);
  next_line(visitor);
}

static void say_error(visitor *visitor, GError *error) {
  say(visitor, json_pack("{s:s}", "error", error->message));
  g_error_free(error);
}

static void on_run(GObject *view, GAsyncResult *result, gpointer data) {
  GError *error = NULL;
  JSCValue *value = webkit_web_view_call_async_javascript_function_finish(WEBKIT_WEB_VIEW(view), result, &error);
  if (value == NULL) return say_error(data, error);
  char *json = jsc_value_to_json(value, 0);
  say(data, json_pack("{s:o?}", "value", json == NULL ? NULL : json_loads(json, JSON_DECODE_ANY, NULL)));
  g_free(json);
  g_object_unref(value);
}

static void on_snapshot(GObject *view, GAsyncResult *result, gpointer data) {
  GError *error = NULL;
  visitor *visitor = data;
  char *path = g_object_steal_data(G_OBJECT(visitor->connection), "path");
  cairo_surface_t *surface = webkit_web_view_get_snapshot_finish(WEBKIT_WEB_VIEW(view), result, &error);
  if (surface == NULL) {
    say_error(visitor, error);
  } else {
    say(visitor, json_pack("{s:b}", "value", cairo_surface_write_to_png(surface, path) == CAIRO_STATUS_SUCCESS));
    cairo_surface_destroy(surface);
  }
  g_free(path);
}

static void obey(visitor *visitor, json_t *order) {
  const char *run = json_string_value(json_object_get(order, "run"));
  const char *snapshot = json_string_value(json_object_get(order, "snapshot"));
  const char *visit = json_string_value(json_object_get(order, "visit"));
  json_t *size = json_object_get(order, "size");
  if (run != NULL) {
    webkit_web_view_call_async_javascript_function(the_shell.view, run, -1, NULL, NULL, NULL, NULL, on_run, visitor);
  } else if (snapshot != NULL) {
    g_object_set_data_full(G_OBJECT(visitor->connection), "path", g_strdup(snapshot), g_free);
    webkit_web_view_get_snapshot(the_shell.view, WEBKIT_SNAPSHOT_REGION_FULL_DOCUMENT, WEBKIT_SNAPSHOT_OPTIONS_NONE,
                                 NULL, on_snapshot, visitor);
  } else {
    if (size != NULL)
      gtk_window_resize(the_shell.window, (int)json_integer_value(json_array_get(size, 0)),
                        (int)json_integer_value(json_array_get(size, 1)));
    if (visit != NULL) {
      the_shell.permitted = g_strdup(json_string_value(json_object_get(order, "permit")));
      the_shell.policy = NULL;
      webkit_web_view_load_uri(the_shell.view, visit);
    }
    say(visitor, json_pack("{s:b}", "value", 1));
  }
}

static void on_line(GObject *lines, GAsyncResult *result, gpointer data) {
  visitor *visitor = data;
  char *line = g_data_input_stream_read_line_finish(G_DATA_INPUT_STREAM(lines), result, NULL, NULL);
  json_t *order = line == NULL ? NULL : json_loads(line, 0, NULL);
  if (order != NULL) {
    obey(visitor, order);
  } else {
    g_object_unref(visitor->lines);
    g_object_unref(visitor->connection);
    g_free(visitor);
  }
  json_decref(order);
  g_free(line);
}

static void next_line(visitor *visitor) {
  g_data_input_stream_read_line_async(visitor->lines, G_PRIORITY_DEFAULT, NULL, on_line, visitor);
}

static gboolean on_visitor(GSocketService *service, GSocketConnection *connection, GObject *source, gpointer data) {
  (void)service, (void)source, (void)data;
  struct visitor *visitor = g_new0(struct visitor, 1);
  visitor->connection = g_object_ref(connection);
  visitor->lines = g_data_input_stream_new(g_io_stream_get_input_stream(G_IO_STREAM(connection)));
  next_line(visitor);
  return TRUE;
}

void remote_listen(const char *path) {
  if (path == NULL) return;
  GError *error = NULL;
  GSocketService *service = g_socket_service_new();
  GSocketAddress *address = g_unix_socket_address_new(path);
  remove(path);
  if (!g_socket_listener_add_address(G_SOCKET_LISTENER(service), address, G_SOCKET_TYPE_STREAM,
                                     G_SOCKET_PROTOCOL_DEFAULT, NULL, NULL, &error))
    g_error("%s: %s", path, error->message);
  g_signal_connect(service, "incoming", G_CALLBACK(on_visitor), NULL);
  g_object_unref(address);
}
