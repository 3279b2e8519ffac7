// The account: who somebody is and by which provider, where they are signed in, and how that ends. Each session has a button of its
// own; a session is named by what it is, since only people can tell whether they know it.

/// The account page.
public struct AccountPage: Sendable {
  /// A provider by which the user signs in, and what it said.
  public struct Identity: Sendable {
    /// Goes back with the form that takes it away; nil where there is no such form.
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

  /// A place where the user is signed in.
  public struct Session: Sendable {
    /// Goes back with the form.
    public var id: String
    /// An app's name; nil: a browser.
    public var app: String?
    /// What the browser or the app said it is: a User-Agent, or a name.
    public var device: String?
    /// Seconds since 1970, UTC.
    public var created: Int64
    /// Seconds since 1970, UTC.
    public var lastSeen: Int64
    /// The one that asks for this page.
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

  /// Where the forms go. Each is a POST.
  public struct Actions: Sendable {
    /// With the field `session`.
    public var endSession: PageLink
    public var signOut: PageLink
    public var signOutEverywhere: PageLink
    /// With the field `provider`: one more way to sign in.
    public var connect: PageLink?
    /// With the field `identity`: one way less.
    public var disconnect: PageLink?
    /// Answers with a file.
    public var export: PageLink?
    /// A page, not a form.
    public var deletion: PageLink?
    /// A page, where the user has a password.
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

  /// What a form of this page has just done.
  public enum Notice: String, Sendable, CaseIterable {
    case sessionEnded = "ended"
    case connected
    /// The account had that way to sign in already.
    case alreadyConnected = "connected-before"
    case disconnected
    /// The only way to sign in stays.
    case lastWay = "last-way"
    case merged

    var text: PageText {
      switch self {
      case .sessionEnded: .sessionWasEnded
      case .connected: .wasConnected
      case .alreadyConnected: .wasConnectedBefore
      case .disconnected: .wasDisconnected
      case .lastWay: .lastWay
      case .merged: .wasMerged
      }
    }
  }

  public var name: String?
  /// Seconds since 1970, UTC.
  public var created: Int64
  /// The oldest first.
  public var identities: [Identity]
  /// In the order in which they are shown; the current one is put first.
  public var sessions: [Session]
  /// The ways to sign in that can be added.
  public var connections: [ConfirmPage.Way]
  public var actions: Actions
  public var token: FormToken
  public var notice: Notice?
  /// Seconds since 1970, UTC.
  public var now: Int64

  public init(
    name: String? = nil, created: Int64, identities: [Identity], sessions: [Session],
    connections: [ConfirmPage.Way] = [], actions: Actions, token: FormToken, notice: Notice? = nil, now: Int64
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

  func content(texts: Texts) -> Content {
    let heading = texts(.accountTitle)
    return Content(heading: heading, isWide: true) { html in
      html.element(.h1, phrase: heading)
      if let notice {
        html.element(.p, .class("notice"), .role("status"), phrase: texts(notice.text))
      }
      let ways = AccountWays(page: self, texts: texts)
      profile(texts, ways, into: &html)
      ways.writeConnections(into: &html)
      AccountSessions(page: self, texts: texts).write(into: &html)
      html.element(.section, .class("apart"), .labelledBy("everywhere")) { html in
        html.element(.h2, .id("everywhere"), phrase: texts(.everywhereTitle))
        html.element(.p, phrase: texts(.everywhereLead))
        html.form(to: actions.signOutEverywhere, token) {
          $0.element(.button, .class("quiet"), .type("submit"), phrase: texts(.signOutEverywhere))
        }
      }
      ways.writeData(into: &html)
    }
  }

  private func profile(_ texts: Texts, _ ways: AccountWays, into html: inout HTML) {
    html.element(.section, .labelledBy("profile")) { html in
      html.element(.h2, .id("profile"), phrase: texts(.profile))
      html.element(.dl) { html in
        if let name {
          html.element(.div) { html in
            html.element(.dt, phrase: texts(.name))
            html.element(.dd) { $0.element(.bdi, text: name) }
          }
        }
        html.element(.div) { html in
          html.element(.dt, phrase: texts(.since))
          let moment = CalendarTime(created)
          html.element(.dd) { $0.element(.time, .dateTime(moment.machineDay), text: moment.day(texts)) }
        }
        html.element(.div) { html in
          html.element(.dt, phrase: texts(.waysIn))
          ways.writeIdentities(into: &html)
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
      html.element(.h2, .id("sessions"), phrase: texts(.sessions))
      html.element(.p, .class("soft"), phrase: texts(.sessionsLead))
      html.element(.ul, .class("sessions"), .role("list")) { html in
        let ordered = page.sessions.filter(\.isCurrent) + page.sessions.filter { !$0.isCurrent }
        for (number, session) in ordered.enumerated() {
          html.element(.li) { self.session(session, number + 1, into: &$0) }
        }
      }
      // A page that an app's session asks for names no browser: its user can sign out all the same.
      if !page.sessions.contains(where: \.isCurrent) { signOut(.class("quiet"), into: &html) }
    }
  }

  private func session(_ session: AccountPage.Session, _ number: Int, into html: inout HTML) {
    html.element(.div) { html in
      html.element(.p, .class("device")) { html in
        html.element(.strong, .id("device-", number)) { $0.isolated(name(of: session), always: true) }
        if session.isCurrent {
          html.text(" ")
          html.element(.span, .class("badge"), phrase: texts(.thisBrowser))
        }
      }
      html.element(.p, .class("soft")) { html in
        if session.isCurrent || page.now - session.lastSeen < 300 {
          html.phrase(texts(.activeNow))
        } else {
          let moment = CalendarTime(session.lastSeen)
          html.element(
            .time, .dateTime(moment.machineText), phrase: texts(.lastUsed, [.date: moment.moment(texts)]))
        }
      }
      html.element(.p, .class("soft")) { html in
        let created = CalendarTime(session.created)
        html.element(
          .time, .dateTime(created.machineDay), phrase: texts(.signedInOn, [.date: created.day(texts)]))
      }
    }
    if session.isCurrent {
      signOut(.class("quiet"), into: &html)
    } else {
      html.form(to: page.actions.endSession, page.token, hidden: ("session", session.id)) {
        // The name says which session, for those who hear the buttons alone.
        $0.element(
          .button, .class("quiet"), .type("submit"), .id("end-", number),
          .labelledBy("end-", "device-", number: number), phrase: texts(.endSession))
      }
    }
  }

  private func signOut(_ style: Attribute, into html: inout HTML) {
    html.form(to: page.actions.signOut, page.token) {
      $0.element(.button, style, .type("submit"), phrase: texts(.signOut))
    }
  }

  private func name(of session: AccountPage.Session) -> String {
    let device = session.device.flatMap { Device($0) }?.name(texts) ?? texts(.unknownDevice).plain
    guard let app = session.app else { return device }
    return texts(.appOnDevice, [.app: app, .device: device]).plain
  }
}
