// The page behind the link of a passwordless sign-in.

extension Page {
  static func openLink(ticket: String, address: String, client: Client, request: AuthorizationRequest) -> Page
  {
    Page(
      title: "Sign in with the link",
      main: """
        <h1>Sign in to \(client.name)</h1>
        <p class="soft">as <strong>\(address)</strong>. Go on only if you asked for this link.</p>
        <form method="post" action="\(Endpoint.passwordlessLink.path)">
        <input type="hidden" name="ticket" value="\(ticket)">
        <button type="submit" name="action" value="continue">Sign in</button>
        </form>
        """, formTargets: formTarget(of: request.redirectURI).map { [$0] } ?? [])
  }
}
