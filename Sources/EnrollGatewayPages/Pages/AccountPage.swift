// The account page: the user's identities, and the user's sessions, which the user can end here. Each session has its
// own button, and is shown with its device or app, because only the user knows whether it is theirs.

/// The account page.
public struct AccountPage: Page {
  /// An identity of the user: a provider, and the provider's claims.
  public struct Identity: Sendable {
    /// The value of the field in the form that disconnects the identity; nil if there is no such form.
    public var id: String?
    public var label: String
    public var sign: ProviderSign
    public var email: String?
    public var isEmailVerified: Bool

    public init(
      id: String? = nil, label: String, sign: ProviderSign = .initial, email: String? = nil,
      isEmailVerified: Bool = false
    ) {
      self.id = id
      self.label = label
      self.sign = sign
      self.email = email
      self.isEmailVerified = isEmailVerified
    }
  }

  /// A live session of the user.
  public struct Session: Sendable {
    /// The value of the form's field `session`.
    public var id: String
    /// An app's name; nil for a browser.
    public var app: String?
    /// The name of the browser or app: a User-Agent, or a chosen name.
    public var device: String?
    /// Seconds since 1970, UTC.
    public var created: Int64
    /// Seconds since 1970, UTC.
    public var lastSeen: Int64
    /// True for the session of the browser that shows this page.
    public var isCurrent: Bool

    public init(
      id: String, app: String? = nil, device: String? = nil, created: Int64, lastSeen: Int64,
      isCurrent: Bool = false
    ) {
      self.id = id
      self.app = app
      self.device = device
      self.created = created
      self.lastSeen = lastSeen
      self.isCurrent = isCurrent
    }
  }

  /// The URLs to which the page's forms are sent, each with POST.
  public struct Actions: Sendable {
    /// The URL that ends one session; its form has the field `session`.
    public var endSession: PageLink
    public var signOut: PageLink
    public var signOutEverywhere: PageLink
    /// The URL that adds a way to sign in; its form has the field `provider`.
    public var connect: PageLink?
    /// The URL that removes a way to sign in; its form has the field `identity`.
    public var disconnect: PageLink?
    /// The URL that downloads the user's data: the answer is a file.
    public var export: PageLink?
    /// The page for deleting the account: a link, not a form.
    public var deletion: PageLink?
    /// The page for changing the password: a link, not a form; nil if the user has no password.
    public var password: PageLink?

    public init(
      endSession: PageLink, signOut: PageLink, signOutEverywhere: PageLink, connect: PageLink? = nil,
      disconnect: PageLink? = nil, export: PageLink? = nil, deletion: PageLink? = nil,
      password: PageLink? = nil
    ) {
      self.endSession = endSession
      self.signOut = signOut
      self.signOutEverywhere = signOutEverywhere
      self.connect = connect
      self.disconnect = disconnect
      self.export = export
      self.deletion = deletion
      self.password = password
    }
  }

  /// The result of a form of this page.
  public enum Notice: String, Sendable, CaseIterable {
    case sessionEnded = "ended"
    case connected
    /// The account already had this way to sign in.
    case alreadyConnected = "connected-before"
    case disconnected
    /// The user tried to remove the account's only way to sign in; it was not removed.
    case lastWay = "last-way"
    case merged

    var text: PageText {
      switch self {
      case .sessionEnded: .accountSessionWasEnded
      case .connected: .accountWasConnected
      case .alreadyConnected: .accountWasConnectedBefore
      case .disconnected: .accountWasDisconnected
      case .lastWay: .accountLastWay
      case .merged: .accountWasMerged
      }
    }
  }

  public var name: String?
  /// Seconds since 1970, UTC.
  public var created: Int64
  /// The identities, sorted, the oldest first.
  public var identities: [Identity]
  /// The live sessions. The page shows the current session first, and the other sessions in this order.
  public var sessions: [Session]
  /// The ways to sign in that the user can add.
  public var connections: [ConfirmPage.SignInMethod]
  public var actions: Actions
  public var token: FormToken
  public var notice: Notice?
  /// Seconds since 1970, UTC.
  public var now: Int64

  public init(
    name: String? = nil, created: Int64, identities: [Identity], sessions: [Session],
    connections: [ConfirmPage.SignInMethod] = [], actions: Actions, token: FormToken, notice: Notice? = nil,
    now: Int64
  ) {
    self.name = name
    self.created = created
    self.identities = identities
    self.sessions = sessions
    self.connections = connections
    self.actions = actions
    self.token = token
    self.notice = notice
    self.now = now
  }

  package func content(texts: Texts) -> Content {
    let heading = texts(.accountTitle)
    return Content(heading: heading, isWide: true) { html in
      html.element(.h1, phrase: heading)
      if let notice {
        html.element(.p, .class("notice"), .role("status"), phrase: texts(notice.text))
      }
      let methods = AccountSignInMethods(page: self, texts: texts)
      profile(texts, methods, into: &html)
      methods.writeConnections(into: &html)
      AccountSessions(page: self, texts: texts).write(into: &html)
      html.element(.section, .class("apart"), .labelledBy("everywhere")) { html in
        html.element(.h2, .id("everywhere"), phrase: texts(.accountEverywhereTitle))
        html.element(.p, phrase: texts(.accountEverywhereLead))
        html.form(to: actions.signOutEverywhere, token) {
          $0.element(.button, .class("quiet"), .type("submit"), phrase: texts(.accountSignOutEverywhere))
        }
      }
      methods.writeData(into: &html)
    }
  }

  private func profile(_ texts: Texts, _ methods: AccountSignInMethods, into html: inout HTML) {
    html.element(.section, .labelledBy("profile")) { html in
      html.element(.h2, .id("profile"), phrase: texts(.accountProfile))
      html.element(.dl) { html in
        if let name {
          html.element(.div) { html in
            html.element(.dt, phrase: texts(.accountName))
            html.element(.dd) { $0.element(.bdi, text: name) }
          }
        }
        html.element(.div) { html in
          html.element(.dt, phrase: texts(.accountSince))
          let moment = CalendarTime(created)
          html.element(.dd) { $0.element(.time, .dateTime(moment.machineDay), text: moment.day(texts)) }
        }
        html.element(.div) { html in
          html.element(.dt, phrase: texts(.accountWaysIn))
          methods.writeIdentities(into: &html)
        }
      }
      if let password = actions.password {
        html.element(.p) {
          $0.element(.a, .class("button quiet"), .href(password), phrase: texts(.changePasswordTitle))
        }
      }
    }
  }
}

/// The list of sessions.
private struct AccountSessions {
  let page: AccountPage
  let texts: Texts

  func write(into html: inout HTML) {
    html.element(.section, .labelledBy("sessions")) { html in
      html.element(.h2, .id("sessions"), phrase: texts(.accountSessions))
      html.element(.p, .class("soft"), phrase: texts(.accountSessionsLead))
      html.element(.ul, .class("sessions"), .role("list")) { html in
        let ordered = page.sessions.filter(\.isCurrent) + page.sessions.filter { !$0.isCurrent }
        for (number, session) in ordered.enumerated() {
          html.element(.li) { self.session(session, number + 1, into: &$0) }
        }
      }
      // If the list lacks the current session, the user must still be able to sign out.
      if !page.sessions.contains(where: \.isCurrent) { signOut(.class("quiet"), into: &html) }
    }
  }

  private func session(_ session: AccountPage.Session, _ number: Int, into html: inout HTML) {
    html.element(.div) { html in
      html.element(.p, .class("device")) { html in
        html.element(.strong, .id("device-", number)) { $0.isolated(name(of: session), always: true) }
        if session.isCurrent {
          html.text(" ")
          html.element(.span, .class("badge"), phrase: texts(.accountThisBrowser))
        }
      }
      html.element(.p, .class("soft")) { html in
        if session.isCurrent || page.now - session.lastSeen < 300 {
          html.phrase(texts(.accountActiveNow))
        } else {
          let moment = CalendarTime(session.lastSeen)
          html.element(
            .time, .dateTime(moment.machineText),
            phrase: texts(.accountLastUsed, [.date: moment.moment(texts)]))
        }
      }
      html.element(.p, .class("soft")) { html in
        let created = CalendarTime(session.created)
        html.element(
          .time, .dateTime(created.machineDay), phrase: texts(.accountSignedInOn, [.date: created.day(texts)])
        )
      }
    }
    if session.isCurrent {
      signOut(.class("quiet"), into: &html)
    } else {
      html.form(to: page.actions.endSession, page.token, hidden: ("session", session.id)) {
        // The button's accessible name includes the session, for users who hear only the buttons.
        $0.element(
          .button, .class("quiet"), .type("submit"), .id("end-", number),
          .labelledBy("end-", "device-", number: number), phrase: texts(.accountEndSession))
      }
    }
  }

  private func signOut(_ style: Attribute, into html: inout HTML) {
    html.form(to: page.actions.signOut, page.token) {
      $0.element(.button, style, .type("submit"), phrase: texts(.accountSignOut))
    }
  }

  private func name(of session: AccountPage.Session) -> String {
    let device = session.device.flatMap { Device($0) }?.name(texts) ?? texts(.deviceUnknown).plain
    guard let app = session.app else { return device }
    return texts(.deviceAppOnDevice, [.app: app, .device: device]).plain
  }
}
