// The pages on which the user of a device without a browser types its code (RFC 8628 §3.3), and the two pages that
// follow.

extension Page {
  /// The page on which the user types the code.
  /// - Parameter typed: the initial value, from the URL or from the last try.
  static func enterDeviceCode(typed: String = "", problem: String? = nil) -> Page {
    let failed = problem != nil
    let described: HTML = failed ? "code-hint problem" : "code-hint"
    let invalid: HTML = failed ? " aria-invalid=\"true\"" : .none
    return Page(
      title: (failed ? "Error: " : "") + "Connect a device", status: failed ? 422 : 200,
      main: """
        <h1>Connect a device</h1>
        <p class="soft">Go on only if you have the device before you, and it shows this very code.</p>
        \(alert(problem))
        <form method="post" action="\(Endpoint.device.path)">
        <label for="user_code">Code on the device</label>
        <p class="hint" id="code-hint">Eight letters; capitals and the hyphen do not matter.</p>
        <input id="user_code" name="user_code" value="\(typed)" autocomplete="off" autocapitalize="characters" \
        autocorrect="off" spellcheck="false" maxlength="32" required aria-describedby="\(described)"\(invalid) autofocus>
        <button type="submit" name="action" value="continue">Continue</button>
        </form>
        """)
  }

  static let deviceAllowed = Page(
    title: "Device connected",
    main: """
      <h1>Your device is connected</h1>
      <p class="soft">Return to it; it goes on by itself. You can close this window.</p>
      """)

  static let deviceRefused = Page(
    title: "Device not connected",
    main: """
      <h1>Your device was not connected</h1>
      <p class="soft">It was told that you said no. You can close this window.</p>
      """)
}
