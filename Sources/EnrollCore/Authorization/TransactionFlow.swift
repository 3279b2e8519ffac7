// The step that a transaction waits for decides which data it carries. Values that work once (a verifier, a session,
// a device code) become nil when the transaction is settled: the record of a settled transaction holds nothing to
// steal (R7).

public import EnrollCrypto

extension TransactionRecord {
  /// The way to tokens. Indirect: a record is copied as one reference, however much its flow carries.
  public indirect enum Flow: Equatable, Sendable {
    /// The authorize request in the browser (OpenID Connect Core §3.1).
    case signIn(SignIn)
    /// A registration that goes on with a link in an e-mail (flows.md §3).
    case registration(EmailRegistration)
    /// A link to an e-mail address, which comes back as a redirect (flows.md §6).
    case magicLink(MagicLink)
    /// A code that the user types (flows.md §6); nil once it is settled.
    case oneTimeCode(OneTimeCode?)
    /// With the help of another app on the device (flows.md §9).
    case app2app(App2App)
    /// Through a back end that signs in on the app's behalf (flows.md §10).
    case bff(BFF)
    /// A code that is typed on another device (RFC 8628); nil once it is settled.
    case device(Device?)
  }

  /// A sign-in, begun by the host or by a link.
  public struct SignIn: Equatable, Sendable {
    /// As it was sent.
    public var request: CodeRequest
    /// The link that began it; nil for one that the host began, and once it is settled.
    public var cause: LinkCause?
    /// Its one fallback was taken, here or in what led to it: there is no way round in a circle (flows.md §4).
    public var hasFallenBack: Bool

    public init(_ request: CodeRequest, cause: LinkCause? = nil, hasFallenBack: Bool = false) {
      self.request = request
      self.cause = cause
      self.hasFallenBack = hasFallenBack
    }
  }

  /// A registration, which several links may come for.
  public struct EmailRegistration: Equatable, Sendable {
    /// Where it began.
    public enum Start: Equatable, Sendable {
      /// With an authorize request.
      case request(CodeRequest)
      /// At the gateway's own page: nothing redirects from there. The demands apply to the sign-in that the link begins.
      case page(IDTokenDemands)
    }

    /// How it began.
    public var start: Start
    /// The browser is open; false once the user left it, and only the link is awaited.
    public var isInBrowser: Bool
    /// Links that came for it, and work no more.
    public var spentLinks: SpentLinks
    /// As ``SignIn/hasFallenBack``; a new link of an e-mail may fall back anew.
    public var hasFallenBack: Bool

    public init(
      _ start: Start, isInBrowser: Bool, spentLinks: SpentLinks = SpentLinks(), hasFallenBack: Bool = false
    ) {
      self.start = start
      self.isInBrowser = isInBrowser
      self.spentLinks = spentLinks
      self.hasFallenBack = hasFallenBack
    }
  }

  /// A link that was sent to an address.
  public struct MagicLink: Equatable, Sendable {
    /// As it was sent.
    public var request: CodeRequest
    /// The recipient; nil once the transaction is settled.
    public var recipient: Recipient?

    public init(_ request: CodeRequest, to recipient: Recipient?) {
      self.request = request
      self.recipient = recipient
    }
  }

  /// A code that was sent to an address or a number.
  public struct OneTimeCode: Equatable, Sendable {
    /// The recipient.
    public var recipient: Recipient
    /// How many codes were sent to the provider that may have been wrong.
    public var tries: Int64

    public init(to recipient: Recipient, tries: Int64 = 0) {
      self.recipient = recipient
      self.tries = tries
    }
  }

  /// A session that the gateway opened for another app (flows.md §9).
  public struct App2App: Equatable, Sendable {
    /// Where the other app comes back to.
    public var redirectURI: String
    /// nil once it is settled.
    public var session: Session?

    /// The session that the gateway gave for the other app to answer.
    public struct Session: Equatable, Sendable {
      /// The gateway's name for the session.
      public var id: Secret
      /// How many artefacts the gateway refused.
      public var tries: Int64

      public init(_ id: Secret, tries: Int64 = 0) {
        self.id = id
        self.tries = tries
      }
    }

    public init(redirectURI: String, session: Session?) {
      self.redirectURI = redirectURI
      self.session = session
    }
  }

  /// A sign-in at a back end (flows.md §10).
  public struct BFF: Equatable, Sendable {
    /// The redirect that brings the answer.
    public var redirect: AwaitedRedirect
    /// `prompt` as it was sent.
    public var prompt: String?
    /// nil once it is settled.
    public var exchange: Exchange?

    /// The values that the one-time code is redeemed with.
    public struct Exchange: Equatable, Sendable {
      /// The back end's name for the provider.
      public var provider: String
      /// Proves that the code was meant for this app (RFC 7636 §4.1).
      public var codeVerifier: Secret

      public init(provider: String, codeVerifier: Secret) {
        self.provider = provider
        self.codeVerifier = codeVerifier
      }
    }

    public init(redirect: AwaitedRedirect, prompt: String? = nil, exchange: Exchange?) {
      self.redirect = redirect
      self.prompt = prompt
      self.exchange = exchange
    }
  }

  /// The values that a device polls with (RFC 8628 §3.2).
  public struct Device: Equatable, Sendable {
    /// `device_code`.
    public var code: Secret
    /// Between two polls.
    public var intervalSeconds: Int64
    /// The next poll is not sent before its end.
    public var notBefore: Expiry
    /// Tokens that come of it are bound to it (RFC 9449); nil for Bearer tokens.
    public var dpopKey: DPoPKey?

    public init(code: Secret, intervalSeconds: Int64, notBefore: Expiry, dpopKey: DPoPKey? = nil) {
      self.code = code
      self.intervalSeconds = intervalSeconds
      self.notBefore = notBefore
      self.dpopKey = dpopKey
    }
  }
}

extension TransactionRecord {
  /// The kind of transaction that the host began.
  public var kind: TransactionKind {
    switch flow {
    case .signIn: .signIn
    case .registration: .register
    case .magicLink, .oneTimeCode: .passwordless
    case .app2app: .app2app
    case .bff: .bff
    case .device: .device
    }
  }

  /// The step it waits for; a process that did not begin the transaction starts its state machine there.
  public var step: RegistrationState.Step {
    switch flow {
    case .signIn, .bff, .device: .browser
    case .registration(let registration): registration.isInBrowser ? .browser : .emailPending
    case .magicLink: .emailPending
    case .oneTimeCode: .codePending
    case .app2app: .otherApp
    }
  }

  /// The authorize request whose code it waits for.
  public var codeRequest: CodeRequest? {
    switch flow {
    case .signIn(let signIn): signIn.request
    case .registration(let registration): registration.request
    case .magicLink(let link): link.request
    case .oneTimeCode, .app2app, .bff, .device: nil
    }
  }

  /// The redirect with a state that it waits for.
  public var redirect: AwaitedRedirect? {
    // Not by `codeRequest`, of which each part would be copied.
    switch flow {
    case .signIn(let signIn): signIn.request.redirect
    case .bff(let bff): bff.redirect
    case .registration, .magicLink: codeRequest?.redirect
    case .oneTimeCode, .app2app, .device: nil
    }
  }

  /// Where it comes back to; nil when nothing redirects.
  public var redirectURI: String? {
    if case .app2app(let app2app) = flow { app2app.redirectURI } else { redirect?.uri }
  }

  /// False for a loopback redirect: its listener dies with this process (R4).
  public var survivesProcess: Bool { !(redirect?.listensOnLoopback ?? false) }

  /// The registration type that is stored (flows.md §7, Captured values); nil for the other flows.
  var registrationType: String? {
    switch flow {
    case .magicLink, .oneTimeCode: "PASSWORDLESS"
    // Whom a back end signs in with is a connection that the user chose.
    case .bff: "SOCIAL"
    case .signIn, .registration: codeRequest?.isSocial ?? false ? "SOCIAL" : nil
    case .app2app, .device: nil
    }
  }
}

extension TransactionRecord.EmailRegistration {
  /// nil where it began at the gateway's own page.
  public var request: CodeRequest? {
    get { if case .request(let request) = start { request } else { nil } }
    set { if let newValue { start = .request(newValue) } }
  }

  var demands: IDTokenDemands {
    switch start {
    case .request(let request): request.demands
    case .page(let demands): demands
    }
  }
}

extension TransactionRecord.Flow {
  /// Removes the values that work once. The state stays until the deadline, to recognize a second redirect (R7), and
  /// so do the links that were used.
  mutating func spend() {
    switch self {
    case .signIn(var signIn):
      signIn.request.secrets = nil
      (signIn.cause, signIn.hasFallenBack) = (nil, false)
      self = .signIn(signIn)
    case .registration(var registration):
      registration.request?.secrets = nil
      registration.hasFallenBack = false
      self = .registration(registration)
    case .magicLink(var link):
      link.request.secrets = nil
      link.recipient = nil
      self = .magicLink(link)
    case .oneTimeCode: self = .oneTimeCode(nil)
    case .app2app(var app2app):
      app2app.session = nil
      self = .app2app(app2app)
    case .bff(var bff):
      bff.exchange = nil
      self = .bff(bff)
    case .device: self = .device(nil)
    }
  }
}
