// The pages of another app that signs the user in. The sandbox shows these pages in place of a real app on the phone.

extension Page {
  static func otherApp(
    _ session: OtherAppSessions.Session, client: SandboxClient, users: [User], returnTo: String
  ) -> Page {
    let people: [HTML] = users.map {
      """
      <button class="quiet" type="submit" name="user" value="\($0.name)">Continue as \($0.fullName)</button>

      """
    }
    return Page(
      title: "The other app",
      main: """
        <h1>The other app</h1>
        <p class="soft"><strong>\(client.name)</strong> wants to know who you are. On a phone this would be \
        another app, which has known you for long.</p>
        <form method="post" action="\(Endpoint.otherApp.path)">
        <input type="hidden" name="request" value="\(session.request)">
        \(people)<button class="quiet" type="submit" name="action" value="cancel">Cancel</button>
        </form>
        """, formTargets: formTarget(of: returnTo).map { [$0] } ?? [])
  }

  static let otherAppDeclined = Page(
    title: "Nothing was told",
    main: """
      <h1>Nothing was told</h1>
      <p class="soft">Go back to the app that you came from; it still waits for a while.</p>
      """)
}
