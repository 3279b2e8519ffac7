// The pages of RP-Initiated Logout: the question whether to sign out, and a page for each answer.

extension Page {
  /// The question whether to sign out.
  /// - Parameter returnTo: the URL to which the browser returns afterwards; it is registered for the client.
  static func signOut(user: User, client: SandboxClient?, parameters: Form, returnTo: String?) -> Page {
    let fields: [HTML] = parameters.pairs.map {
      "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">\n"
    }
    let asker: HTML = client.map { "<strong>\($0.name)</strong> asks to end your session." } ?? .none
    return Page(
      title: "Sign out",
      main: """
        <h1>Sign out?</h1>
        <p class="soft">You are signed in as <strong>\(user.fullName)</strong> (\(user.name)). \(asker)</p>
        <form method="post" action="\(Endpoint.endSession.path)">
        \(fields)<button type="submit" name="action" value="sign-out">Sign out</button>
        <button class="quiet" type="submit" name="action" value="stay">Stay signed in</button>
        </form>
        """, formTargets: returnTo.flatMap(formTarget).map { [$0] } ?? [])
  }

  static let signedOut = Page(
    title: "Signed out",
    main: """
      <h1>You are signed out</h1>
      <p class="soft">You can close this window.</p>
      """)

  static let stillSignedIn = Page(
    title: "Still signed in",
    main: """
      <h1>You are still signed in</h1>
      <p class="soft">Nothing was changed. You can close this window.</p>
      """)
}
