// The back end's pages: choosing a provider, the account afterwards, and what went wrong in words.

extension Page {
  static func backendChoice() -> Page {
    let choices: [HTML] = BFF.Identity.allCases.map {
      """
      <form method="get" action="\(Endpoint.backendStart.path(with: $0.rawValue))">
      <button class="quiet" type="submit">Continue with \($0.title)</button>
      </form>

      """
    }
    return Page(
      title: "Choose a provider",
      main: """
        <h1>Sign in or create an account</h1>
        <p class="soft">Choose whom you want to sign in with. Your account here is made at the first time.</p>
        \(choices)<p class="soft small">The sandbox plays all of them; nobody is really asked.</p>
        """)
  }

  static func bffAccount(_ account: BFFAccount, formToken: String) -> Page {
    Page(
      title: "Your account",
      main: """
        <h1>You are signed in</h1>
        <table>
        <tbody>
        <tr><th scope="row">User</th><td>\(account.userID)</td></tr>
        <tr><th scope="row">Signed in with</th><td>\(account.providerID) (\(account.providerUserID))</td></tr>
        <tr><th scope="row">E-mail</th><td>\(account.email)</td></tr>
        <tr><th scope="row">Since</th><td>\(Encoding.httpDate(account.created))</td></tr>
        <tr><th scope="row">Last login</th><td>\(Encoding.httpDate(account.lastLogin))</td></tr>
        </tbody>
        </table>
        <form method="post" action="\(Endpoint.bffAccount.path)">
        <input type="hidden" name="token" value="\(formToken)">
        <button type="submit">Sign out</button>
        </form>
        """)
  }

  static func bffProblem(_ identity: BFF.Identity, _ words: String) -> Page {
    Page(
      title: "Error: not signed in", status: 403,
      main: """
        <h1>You are not signed in</h1>
        <p class="alert" role="alert">\(words)</p>
        <form method="get" action="\(Endpoint.backendStart.path(with: identity.rawValue))">
        <button type="submit">Try \(identity.title) again</button>
        </form>
        <form method="get" action="\(Endpoint.backendChoice.path)">
        <button class="quiet" type="submit">Choose another provider</button>
        </form>
        """)
  }

  static let signInOver = Page(
    title: "Sign-in over", status: 403,
    main: """
      <h1>This sign-in is over</h1>
      <p>It was finished before, began in another browser, or took longer than ten minutes. \
      Nothing was changed.</p>
      <form method="get" action="\(Endpoint.backendChoice.path)">
      <button type="submit">Start again</button>
      </form>
      """)
}
