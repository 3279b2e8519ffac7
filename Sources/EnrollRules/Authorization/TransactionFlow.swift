// The data of a transaction. Which data a transaction has depends on the step for which it waits. Values that work once
// (a verifier, a session, a device code) become nil when the transaction is settled: the record of a settled
// transaction has no secret that still works (R7).

public import EnrollCrypto

extension TransactionRecord {
  /// The way to get tokens. The enum is indirect, so that copying a record copies only one reference, whatever data its
  /// flow has.
  public indirect enum Flow: Equatable, Sendable {
    /// The authorize request in the browser (OpenID Connect Core §3.1).
    case signIn(SignIn)
    /// A registration that waits for a link in an e-mail (flows.md §3).
    case registration(EmailRegistration)
    /// A sign-in with a link that is sent to an e-mail address. The answer is a redirect (flows.md §6).
    case magicLink(MagicLink)
    /// A sign-in with a code that the user types in the app (flows.md §6); nil once the transaction is settled.
    case oneTimeCode(OneTimeCode?)
    /// A sign-in with the help of another app on the device (flows.md §9).
    case app2app(App2App)
    /// A sign-in through a back end that acts on the app's behalf (flows.md §10).
    case bff(BFF)
    /// A sign-in with a code that the user types on another device (RFC 8628); nil once the transaction is settled.
    case device(Device?)
  }

  /// A sign-in, begun by the host or by a link.
  public struct SignIn: Equatable, Sendable {
    /// The authorize request as it was sent.
    public var request: CodeRequest
    /// The link that began the sign-in; nil if the host began the sign-in, or once the transaction is settled.
    public var cause: LinkCause?
    /// Whether the fallback, which is allowed once, was used in this transaction or in the transaction before it. This
    /// prevents an endless loop (flows.md §4).
    public var hasFallenBack: Bool

    public init(_ request: CodeRequest, cause: LinkCause? = nil, hasFallenBack: Bool = false) {
      self.request = request
      self.cause = cause
      self.hasFallenBack = hasFallenBack
    }
  }

  /// A registration, for which several links may arrive.
  public struct EmailRegistration: Equatable, Sendable {
    /// Where the registration began.
    public enum Start: Equatable, Sendable {
      /// The registration began with this authorize request.
      case request(CodeRequest)
      /// The registration began at the gateway's own page, which does not redirect. The demands apply to the sign-in
      /// that the link begins.
      case page(IDTokenDemands)
    }

    /// How the registration began.
    public var start: Start
    /// Whether the browser is open; false once the user left it, and only the link is awaited.
    public var isInBrowser: Bool
    /// Links that arrived for the registration and do not work any more.
    public var spentLinks: SpentLinks
    /// Like ``SignIn/hasFallenBack``; after a new e-mail link, a fallback is allowed again.
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

  /// A sign-in with a link that was sent to an e-mail address.
  public struct MagicLink: Equatable, Sendable {
    /// The authorize request as it was sent.
    public var request: CodeRequest
    /// The recipient; nil once the transaction is settled.
    public var recipient: Recipient?

    public init(_ request: CodeRequest, to recipient: Recipient?) {
      self.request = request
      self.recipient = recipient
    }
  }

  /// A sign-in with a code that was sent to an e-mail address or a phone number.
  public struct OneTimeCode: Equatable, Sendable {
    /// The recipient.
    public var recipient: Recipient
    /// The number of codes sent to the provider that may have been wrong.
    public var tries: Int64

    public init(to recipient: Recipient, tries: Int64 = 0) {
      self.recipient = recipient
      self.tries = tries
    }
  }

  /// A session that the gateway opened for another app (flows.md §9).
  public struct App2App: Equatable, Sendable {
    /// The URI to which the other app returns.
    public var redirectURI: String
    /// The gateway's session; nil once the transaction is settled.
    public var session: Session?

    /// The gateway's session. The other app returns an artefact for this session.
    public struct Session: Equatable, Sendable {
      /// The gateway's id of the session.
      public var id: Secret
      /// The number of artefacts that the gateway refused.
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
    /// The redirect that returns the answer.
    public var redirect: AwaitedRedirect
    /// `prompt` as it was sent.
    public var prompt: String?
    /// The values for the exchange of the one-time code; nil once the transaction is settled.
    public var exchange: Exchange?

    /// The values with which the one-time code is redeemed.
    public struct Exchange: Equatable, Sendable {
      /// The back end's name for the provider.
      public var provider: String
      /// Proves that this app requested the code (RFC 7636 §4.1).
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

  /// The values with which a device polls (RFC 8628 §3.2).
  public struct Device: Equatable, Sendable {
    /// For how many seconds polling continues after the code's lifetime has passed by this device's clock. The
    /// provider's clock decides when the code expires; the provider then answers `expired_token`.
    package static let extraSeconds: Int64 = 30

    /// `device_code`.
    public var code: Secret
    /// The time between two polls.
    public var intervalSeconds: Int64
    /// The pause before the next poll.
    public var notBefore: Expiry
    /// The key to which the tokens will be bound (RFC 9449); nil for Bearer tokens.
    public var dpopKey: DPoPKey?
    /// Proves that this app requested the code, as RFC 7636 does for a code in a redirect: Keycloak requires it of
    /// clients with PKCE. nil in a record of an earlier version.
    public var codeVerifier: Secret?
    /// The number of consecutive polls that were answered with status 500.
    public var serverErrors: Int64 = 0
    /// The last response, as text for an error; nil before the first poll.
    public var lastAnswer: String?

    /// How ``lastAnswer`` begins after a poll was sent, until its response is stored. A poll that finds this text
    /// knows that the response to an earlier poll is lost, and that it may have had the tokens.
    private static let lost = "no answer"

    /// Whether the response to the last poll that was sent is lost.
    package var hasLostAnswer: Bool { lastAnswer?.utf8.starts(with: Self.lost.utf8) ?? false }

    /// The ``lastAnswer`` for a poll whose response is lost.
    /// - Parameter cause: nil while the response may still come.
    package static func lostAnswer(_ cause: String? = nil) -> String {
      "\(lost): \(cause ?? "the process that polled ended before it was stored")"
    }

    public init(
      code: Secret, intervalSeconds: Int64, notBefore: Expiry, dpopKey: DPoPKey? = nil,
      codeVerifier: Secret? = nil, serverErrors: Int64 = 0, lastAnswer: String? = nil
    ) {
      self.code = code
      self.intervalSeconds = intervalSeconds
      self.notBefore = notBefore
      self.dpopKey = dpopKey
      self.codeVerifier = codeVerifier
      self.serverErrors = serverErrors
      self.lastAnswer = lastAnswer
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

  /// The step that the transaction waits for; a process that did not begin the transaction starts its state machine in
  /// this step.
  public var step: RegistrationState.Step {
    switch flow {
    case .signIn, .bff, .device: .browser
    case .registration(let registration): registration.isInBrowser ? .browser : .emailPending
    case .magicLink: .emailPending
    case .oneTimeCode: .codePending
    case .app2app: .otherApp
    }
  }

  /// The authorize request whose code the transaction waits for.
  public var codeRequest: CodeRequest? {
    switch flow {
    case .signIn(let signIn): signIn.request
    case .registration(let registration): registration.request
    case .magicLink(let link): link.request
    case .oneTimeCode, .app2app, .bff, .device: nil
    }
  }

  /// The redirect for which the transaction waits, if it is a redirect with a `state`; otherwise nil.
  public var redirect: AwaitedRedirect? {
    // `codeRequest` is not used here, because it would copy the whole request.
    switch flow {
    case .signIn(let signIn): signIn.request.redirect
    case .bff(let bff): bff.redirect
    case .registration, .magicLink: codeRequest?.redirect
    case .oneTimeCode, .app2app, .device: nil
    }
  }

  /// The redirect URI; nil if the flow ends without a redirect.
  public var redirectURI: String? {
    if case .app2app(let app2app) = flow { app2app.redirectURI } else { redirect?.uri }
  }

  /// Whether the transaction can still succeed after this process has ended. False for a loopback redirect, because its
  /// listener ends with this process (R4).
  public var survivesProcess: Bool { !(redirect?.listensOnLoopback ?? false) }

  /// The registration type that the flow stores (flows.md §7, Captured values); nil if the flow stores none.
  package var registrationType: String? {
    switch flow {
    case .magicLink, .oneTimeCode: "PASSWORDLESS"
    // A sign-in through a back end always uses a provider that the user chose, so it counts as a social sign-in.
    case .bff: "SOCIAL"
    case .signIn, .registration: codeRequest?.isSocial ?? false ? "SOCIAL" : nil
    case .app2app, .device: nil
    }
  }
}

extension TransactionRecord.EmailRegistration {
  /// The authorize request; nil if the registration began at the gateway's own page.
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
  /// Removes the values that work once. The `state` and the used links are kept until the deadline; with the `state`, a
  /// second redirect is recognised (R7).
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
