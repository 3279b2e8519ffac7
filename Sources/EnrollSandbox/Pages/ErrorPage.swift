// A request that must not be answered by a redirect: unknown client or redirect URI, an old link, a foreign form.

extension Page {
  /// - Parameters:
  ///   - reason: what was expected and what came, in words for the developer who watches.
  static func error(_ reason: String, status: Int = 400) -> Page {
    Page(
      title: "Cannot continue", status: status,
      main: """
        <h1>This request cannot continue</h1>
        <p>\(reason)</p>
        <p class="soft">Go back to the app and start again. Nothing was shared.</p>
        """)
  }
}
