// The gateway's pages: for signing in, for registering, after an e-mail was sent, for choosing a password, and for an
// invalid link.

extension Page {
  /// The provider's login page: its script redirects to the gateway; without scripts the user follows a link.
  static func hostedLogin(path: String, fromURI: String?, clientID: String) -> Page {
    var query = Form()
    query.append("fromURI", fromURI)
    query.append("clientId", clientID)
    return Page(
      title: "One moment",
      main: """
        <h1>One moment</h1>
        <p class="soft">You are led to the sign-in page.</p>
        <p><a id="login" href="\(path)?\(query.encoded)" data-path="\(path)" data-from-uri="\(fromURI ?? "")" \
        data-client-id="\(clientID)">Continue</a></p>
        """, script: hostedLoginScript)
  }

  /// The script of the login page. Like `okta-login.js`, it shows no sign-in widget, but redirects to the gateway's own
  /// pages.
  private static let hostedLoginScript = """
    (function(){var d=document.getElementById('login').dataset,q=[];\
    if(d.fromUri)q.push('fromURI='+encodeURIComponent(d.fromUri));\
    if(d.clientId)q.push('clientId='+encodeURIComponent(d.clientId));\
    location.replace(d.path+'?'+q.join('&'));})();
    """

  static func gatewaySignIn(
    _ context: GatewayContext, users: [User], name: String = "", problem: String? = nil
  ) -> Page {
    let described: HTML =
      problem == nil ? .none : " aria-invalid=\"true\" aria-describedby=\"problem\""
    return Page(
      title: (problem == nil ? "" : "Error: ") + "Sign in or register", status: problem == nil ? 200 : 422,
      main: """
        <h1>Sign in</h1>
        \(alert(problem))
        <form method="post" action="\(Endpoint.signIn.path)">
        \(hidden(context))
        <label for="username">E-mail address or user name</label>
        <input id="username" name="username" value="\(name)" autocomplete="username" autocapitalize="none" \
        autocorrect="off" spellcheck="false" required\(described)>
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" \
        required\(described)>
        <button type="submit" name="action" value="continue">Sign in</button>
        <button class="quiet" type="submit" name="action" value="cancel" formnovalidate>Cancel</button>
        </form>
        <p><a href="\(Endpoint.register.path + context.query)">Register with your e-mail address</a></p>
        """, aside: hint(users), formTargets: context.formTargets)
  }

  static func register(_ context: GatewayContext, email: String = "", problem: String? = nil) -> Page {
    let described: HTML = problem == nil ? .none : " aria-invalid=\"true\""
    return Page(
      title: (problem == nil ? "" : "Error: ") + "Register", status: problem == nil ? 200 : 422,
      main: """
        <h1>Register</h1>
        \(alert(problem))
        <form method="post" action="\(Endpoint.register.path)">
        \(hidden(context))
        <label for="email">E-mail address</label>
        <p class="hint" id="email-hint">You get an e-mail with a link. In the sandbox it goes to the \
        <a href="\(Endpoint.inbox.path)">inbox</a>.</p>
        <input id="email" name="email" type="email" value="\(email)" autocomplete="email" maxlength="100" \
        required aria-describedby="email-hint\(problem == nil ? "" : " problem")"\(described)>
        <button type="submit" name="action" value="continue">Send the e-mail</button>
        <button class="quiet" type="submit" name="action" value="cancel" formnovalidate>Cancel</button>
        </form>
        <p><a href="\(Endpoint.signIn.path + context.query)">I have an account</a></p>
        """, formTargets: context.formTargets)
  }

  static func emailSent(_ context: GatewayContext) -> Page {
    Page(
      title: "E-mail sent",
      main: """
        <h1>Check your e-mail</h1>
        <p>Open the link in it on this device: it leads back to the app, where you choose a password.</p>
        <p class="soft">Nothing came? <a href="\(Endpoint.register.path + context.query)">Send it again</a>. \
        The sandbox sends nothing: <a href="\(Endpoint.inbox.path)">look into its inbox</a>.</p>
        """)
  }

  static func setPassword(_ context: GatewayContext, token: String, problem: String? = nil) -> Page {
    let described: HTML = problem == nil ? .none : " aria-invalid=\"true\""
    return Page(
      title: (problem == nil ? "" : "Error: ") + "Welcome", status: problem == nil ? 200 : 422,
      main: """
        <h1>Welcome</h1>
        <p class="soft">Choose a password, and your account is ready.</p>
        \(alert(problem))
        <form method="post" action="\(Endpoint.welcome.path(with: token))">
        \(hidden(context))
        <label for="password">Password</label>
        <p class="hint" id="password-hint">At least 8 characters, and none that you use elsewhere.</p>
        <input id="password" name="password" type="password" autocomplete="new-password" minlength="8" \
        maxlength="100" required \
        aria-describedby="password-hint\(problem == nil ? "" : " problem")"\(described)>
        <button type="submit" name="action" value="continue">Save the password</button>
        <button class="quiet" type="submit" name="action" value="cancel" formnovalidate>Not now</button>
        </form>
        """, formTargets: context.formTargets)
  }

  /// The page for a link that is used, expired or unknown. It says what happened, and what the user can do.
  static func deadLink(_ context: GatewayContext, token: String, reason: String) -> Page {
    Page(
      title: "This link works no more", status: 410,
      main: """
        <h1>This link works no more</h1>
        <p>\(reason)</p>
        <p>If you have chosen a password already, \
        <a href="\(Endpoint.signIn.path + context.query)">sign in</a>. Otherwise \
        <a href="\(Endpoint.register.path + context.query)">ask for another e-mail</a>.</p>
        <form method="post" action="\(Endpoint.welcome.path(with: token))">
        \(hidden(context))
        <button class="quiet" type="submit" name="action" value="cancel">Back to the app</button>
        </form>
        """, formTargets: context.formTargets)
  }

  static let backToApp = Page(
    title: "Back to the app",
    main: """
      <h1>Go back to the app</h1>
      <p class="soft">You can close this window.</p>
      """)

  private static func hidden(_ context: GatewayContext) -> HTML {
    """
    <input type="hidden" name="mark" value="\(context.mark)">
    <input type="hidden" name="clientId" value="\(context.clientID)">
    <input type="hidden" name="fromURI" value="\(context.fromURI ?? "")">
    """
  }
}
