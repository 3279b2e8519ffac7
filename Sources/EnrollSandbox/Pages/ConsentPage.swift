// The page on which a user allows the scopes that a client requests.

extension Page {
  static func consent(_ interaction: Interaction, client: SandboxClient, user: User) -> Page {
    let items: [HTML] = interaction.request.scopes.map { scope in
      let words = scopeWords[scope] ?? (scope, "A scope that the sandbox knows nothing about.")
      return "<li><strong>\(words.title)</strong><span class=\"soft\">\(words.detail)</span></li>\n"
    }
    let afterwards: HTML =
      interaction.deviceCode == nil
      ? "You return to \(destination(interaction.request.redirectURI))."
      : "The device that shows your code is let in. Allow this only if it is before you."
    return Page(
      title: "Allow access",
      main: """
        <h1>Allow \(client.name) access?</h1>
        <p class="soft">You are signed in as <strong>\(user.fullName)</strong> (\(user.name)). \
        The app asks for:</p>
        <ul class="grants">
        \(items)</ul>
        <p class="soft small">\(afterwards)</p>
        <form method="post" action="\(Endpoint.interaction.path)">
        \(hidden(interaction, step: .consent))
        <button type="submit" name="action" value="continue">Allow</button>
        <button class="quiet" type="submit" name="action" value="cancel">Do not allow</button>
        <button class="quiet" type="submit" name="action" value="other">Use another account</button>
        </form>
        """, formTargets: interaction.formTargets)
  }

  private static let scopeWords: [String: (title: String, detail: String)] = [
    "openid": ("Know who you are", "The app recognises you when you come back."),
    "profile": ("See your name", "Full name, given and family name, user name."),
    "email": ("See your e-mail address", "And whether it was verified."),
    "offline_access": ("Keep you signed in", "Until you sign out, also while you are away."),
  ]

  private static func destination(_ redirectURI: String) -> HTML {
    guard let target = formTarget(of: redirectURI) else { return "the app" }
    return target.hasPrefix("http://")
      ? "the app on this computer (<code>\(target)</code>)" : "the app (<code>\(target)</code>)"
  }
}
