// The inbox: the e-mails and text messages that a real provider would send, the newest first; and the page of a passwordless
// sign-in link.

/// An e-mail or a text message that a real provider would send.
struct Letter {
  var to: String
  /// nil for a text message.
  var subject: String?
  var text: String
  var link: String?
  var at: Int64

  init(_ mail: SandboxGateway.Mail) {
    (to, subject, text, link, at) = (mail.to, mail.subject, mail.text, mail.link, mail.at)
  }

  init(_ message: Passwordless.Message) {
    let content = message.content
    (to, text, link, at) = (content.to, content.text, content.link, message.at)
    if message.isEmail { subject = content.link == nil ? "Your code" : "Your link" }
  }
}

extension Page {
  /// The page of the inbox.
  /// - Parameter letters: the e-mails and text messages, the oldest first.
  static func inbox(_ letters: [Letter]) -> Page {
    let items: [HTML] = letters.reversed().map { letter in
      let subject: HTML = letter.subject.map { "<strong>\($0)</strong>" } ?? "<strong>A text message</strong>"
      let link: HTML = letter.link.map { "<p><a href=\"\($0)\">\($0)</a></p>" } ?? .none
      return """
        <li>\(subject)<span class="soft">To \(letter.to), \(Encoding.httpDate(letter.at))</span>
        <p>\(letter.text)</p>
        \(link)</li>

        """
    }
    let list: HTML =
      letters.isEmpty
      ? "<p class=\"soft\">Nothing was sent yet.</p>" : "<ul class=\"grants\">\n\(items)</ul>"
    return Page(
      title: "Inbox", isWide: true,
      main: """
        <h1>Inbox</h1>
        <p class="soft">E-mails and text messages that the sandbox would send. They stay here.</p>
        \(list)
        """)
  }
}

extension Page {
  static func openLink(ticket: String, address: String, client: SandboxClient, request: CheckedAuthorization)
    -> Page
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
