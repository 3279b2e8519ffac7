// The pages on which users identify themselves: sign in, create an account, choose an account.

extension Page {
  /// - Parameters:
  ///   - name: the initial value, from `login_hint` or from the last try.
  ///   - problem: why the last try failed. It is shown as an alert and linked to both fields.
  ///   - asksCode: whether the second factor is also required (`acr_values`).
  static func signIn(
    _ interaction: Interaction, client: SandboxClient, users: [User], name: String, problem: String? = nil,
    asksCode: Bool = false
  ) -> Page {
    let failed = problem != nil
    let onName = name.isEmpty
    let code: HTML =
      asksCode
      ? """
      <label for="code">Confirmation code</label>
      <p class="hint" id="code-hint">A second factor is wanted. In the sandbox it is always \
      <code>\(User.confirmationCode)</code>.</p>
      <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required \
      aria-describedby="code-hint\(failed ? " problem" : "")"\(invalid(failed))>
      """ : .none
    return Page(
      title: (failed ? "Error: " : "") + "Sign in", status: failed ? 422 : 200,
      main: """
        <h1>Sign in</h1>
        <p class="soft">to continue to <strong>\(client.name)</strong></p>
        \(alert(problem))
        <form method="post" action="\(Endpoint.interaction.path)">
        \(hidden(interaction, step: .signIn))
        <label for="username">User name</label>
        <input id="username" name="username" value="\(name)" autocomplete="username" autocapitalize="none" \
        autocorrect="off" spellcheck="false" required\(described(failed))\(autofocus(onName))>
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required\
        \(described(failed))\(autofocus(!onName))>
        \(code)
        <button type="submit" name="action" value="continue">Sign in</button>
        <button class="quiet" type="submit" name="action" value="create" formnovalidate>\
        Create an account</button>
        <button class="quiet" type="submit" name="action" value="cancel" formnovalidate>Cancel</button>
        </form>
        """,
      aside: hint(users), formTargets: interaction.formTargets)
  }

  static func createAccount(
    _ interaction: Interaction, client: SandboxClient, typed: Form = Form(),
    problems: [NewAccount.Problem] = []
  ) -> Page {
    func field(_ id: String, _ label: String, _ hint: String, _ attributes: HTML) -> HTML {
      let problem = problems.first { $0.field == id }
      let error: HTML =
        problem.map { "<p class=\"hint wrong\" id=\"\(id)-problem\">Error: \($0.text)</p>\n" } ?? .none
      let value: HTML = id == "password" ? .none : " value=\"\(typed[id] ?? "")\""
      let isFirst = problems.isEmpty ? id == "username" : problems.first?.field == id
      return """
        <label for="\(id)">\(label)</label>
        <p class="hint" id="\(id)-hint">\(hint)</p>
        \(error)\
        <input id="\(id)" name="\(id)"\(value) required \
        aria-describedby="\(id)-hint\(problem == nil ? "" : " \(id)-problem")"\(invalid(problem != nil))\
        \(autofocus(isFirst)) \(attributes)>

        """
    }
    let summary =
      problems.isEmpty ? nil : "Please correct: " + problems.map(\.label).joined(separator: ", ") + "."
    return Page(
      title: (problems.isEmpty ? "" : "Error: ") + "Create an account", status: problems.isEmpty ? 200 : 422,
      main: """
        <h1>Create an account</h1>
        <p class="soft">to continue to <strong>\(client.name)</strong>. \
        It lives until the sandbox stops.</p>
        \(alert(summary))
        <form method="post" action="\(Endpoint.interaction.path)">
        \(hidden(interaction, step: .create))
        \(field("username", "User name", "Small letters, digits and hyphens, at most 32.",
          "autocomplete=\"username\" autocapitalize=\"none\" spellcheck=\"false\" maxlength=\"32\""))\
        \(field("name", "Full name", "As apps should show it.", "autocomplete=\"name\" maxlength=\"100\""))\
        \(field("email", "E-mail address", "No mail is sent.",
          "type=\"email\" autocomplete=\"email\" maxlength=\"100\""))\
        \(field("password", "Password", "At least 8 characters, and none that you use elsewhere.",
          "type=\"password\" autocomplete=\"new-password\" minlength=\"8\" maxlength=\"100\""))\
        <button type="submit" name="action" value="continue">Create account</button>
        <button class="quiet" type="submit" name="action" value="existing" formnovalidate>\
        I have an account</button>
        <button class="quiet" type="submit" name="action" value="cancel" formnovalidate>Cancel</button>
        </form>
        """, formTargets: interaction.formTargets)
  }

  static func chooseAccount(_ interaction: Interaction, client: SandboxClient, user: User) -> Page {
    Page(
      title: "Choose an account",
      main: """
        <h1>Choose an account</h1>
        <p class="soft">to continue to <strong>\(client.name)</strong></p>
        <form method="post" action="\(Endpoint.interaction.path)">
        \(hidden(interaction, step: .choose))
        <button type="submit" name="action" value="continue">Continue as \(user.fullName)</button>
        <button class="quiet" type="submit" name="action" value="other">Use another account</button>
        <button class="quiet" type="submit" name="action" value="cancel">Cancel</button>
        </form>
        """, formTargets: interaction.formTargets)
  }

  /// Lists the users who can sign in here, and their passwords, which the sandbox does not keep secret.
  static func hint(_ users: [User]) -> HTML {
    let rows: [HTML] = users.map { "<tr><td>\($0.name)</td><td><code>\($0.password)</code></td></tr>\n" }
    return """
      <aside class="note" aria-labelledby="hint">
      <h2 id="hint">Who can sign in</h2>
      <div class="scroll"><table>
      <thead><tr><th scope="col">User name</th><th scope="col">Password</th></tr></thead>
      <tbody>
      \(rows)</tbody>
      </table></div>
      </aside>
      """
  }

  static func hidden(_ interaction: Interaction, step: Interaction.Step) -> HTML {
    """
    <input type="hidden" name="interaction" value="\(interaction.id)">
    <input type="hidden" name="step" value="\(step.rawValue)">
    """
  }

  static func alert(_ text: String?) -> HTML {
    text.map { "<p class=\"alert\" role=\"alert\" id=\"problem\">\($0)</p>" } ?? .none
  }

  private static func invalid(_ failed: Bool) -> HTML { failed ? " aria-invalid=\"true\"" : .none }
  private static func described(_ failed: Bool) -> HTML {
    failed ? " aria-invalid=\"true\" aria-describedby=\"problem\"" : .none
  }
  private static func autofocus(_ wanted: Bool) -> HTML { wanted ? " autofocus" : .none }
}
