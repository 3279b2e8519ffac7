// The start page: a description, the users who can sign in, and a configuration to copy.

extension Page {
  static func home(issuer: String, users: [User], configuration: String) -> Page {
    let rows: [HTML] = users.map {
      "<tr><th scope=\"row\">\($0.name)</th><td><code>\($0.password)</code></td><td>\($0.fullName)</td></tr>\n"
    }
    let doors: [HTML] = Endpoint.allCases.filter { $0 != .home && $0 != .interaction }.map {
      "<tr><th scope=\"row\">\($0.rawValue)</th><td><code>\($0.path)</code></td></tr>\n"
    }
    return Page(
      title: "A provider to try things on", isWide: true,
      main: """
        <h1>A provider to try things on</h1>
        <p class="soft">An OpenID provider for demos and tests, on this computer only. It forgets everything \
        when it stops, and on demand it misbehaves.</p>
        <h2 id="users">Who can sign in</h2>
        <div class="scroll" tabindex="0" role="region" aria-labelledby="users"><table>
        <thead><tr><th scope="col">User name</th><th scope="col">Password</th><th scope="col">Name</th></tr></thead>
        <tbody>
        \(rows)</tbody>
        </table></div>
        <h2 id="configuration">A configuration for EnrollKit</h2>
        <pre tabindex="0" role="region" aria-labelledby="configuration">\(configuration)</pre>
        <h2 id="doors">Endpoints of <code>\(issuer)</code></h2>
        <div class="scroll" tabindex="0" role="region" aria-labelledby="doors"><table>
        <thead><tr><th scope="col">Endpoint</th><th scope="col">Path</th></tr></thead>
        <tbody>
        \(doors)</tbody>
        </table></div>
        """)
  }
}
