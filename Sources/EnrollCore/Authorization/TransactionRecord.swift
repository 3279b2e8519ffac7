// One attempt at getting tokens, from the URL handed to the host until its redirect is settled. Kept in the store,
// so that the process which receives the redirect need not be the one that began (R7, R12).

public import EnrollCrypto

/// A pending or settled attempt. The secrets in it are spent once.
public struct TransactionRecord: Equatable, Sendable {
  /// Pending until settled once. A settled one is remembered until its deadline, so that a second redirect is told
  /// what happened to the first.
  public enum Status: String, Sendable, CaseIterable {
    /// Waiting for the redirect.
    case pending
    /// The host said that the user gave up: a hint, a late valid redirect still wins (R12).
    case cancelled
    /// The redirect arrived, the state is spent, the code is being exchanged (R7).
    case exchanging
    /// It ended with tokens.
    case succeeded
    /// It ended without.
    case failed
  }

  /// Names the transaction to the host: 128 random bits, base64url.
  public var id: String
  /// Which way it goes.
  public var kind: TransactionKind
  /// Whether it is settled yet.
  public var status: Status
  /// The provider that was asked, as it is configured.
  public var issuer: String
  /// The redirect URI that was sent, port included.
  public var redirectURI: String
  /// Sent with the request, and expected in its answer (RFC 6749 §10.12).
  public var state: Secret
  /// Sent with the request, and expected in the id_token (OpenID Connect Core §3.1.2.1).
  public var nonce: Secret
  /// What proves that the code was meant for this app (RFC 7636 §4.1).
  public var codeVerifier: Secret
  /// Tokens that come of it are bound to it (RFC 9449); nil for Bearer tokens.
  public var dpopKey: DPoPKey?
  /// The scopes that were asked for.
  public var scopes: [String]
  /// `max_age` as it was sent, seconds: the id_token has to satisfy it (R26).
  public var maxAgeSeconds: Int64?
  /// `acr_values` as they were sent: the id_token has to name one of them (R26).
  public var acrValues: [String]
  /// `prompt` as it was sent.
  public var prompt: String?
  /// Whom `id_token_hint` was about: the answer has to be about the same user (OpenID Connect Core §3.1.2.1).
  public var expectedSubject: String?
  /// The user chose one of the provider's connections (flows.md §6).
  public var isSocial: Bool
  /// Listens on a loopback port of this process, so it does not survive the process (R4).
  public var listensOnLoopback: Bool
  /// When it began, by the device's clock.
  public var began: UnixTime
  /// When it ends by itself.
  public var deadline: Expiry
  /// Another transaction of the account brought tokens while this one was open.
  public var isOvertaken: Bool
  /// What it waits for; where the state machine stands in a process that did not begin it.
  public var step: RegistrationState.Step
  /// What its kind needs beyond what every transaction has.
  public var details: Details

  /// What its kind needs beyond what every transaction has.
  public enum Details: Equatable, Sendable {
    /// Nothing more.
    case none
    /// The session that the gateway opened (flows.md §9), and how many artefacts it refused.
    case app2app(sessionID: Secret, tries: Int64)
    /// Who gets the code or the link (flows.md §6), and how many codes were sent for it that may have been wrong.
    case passwordless(Recipient, tries: Int64)
    /// The back end's name for the provider (flows.md §10).
    case bff(provider: String)
    /// Links that came for it, or that began it (flows.md §3, §4).
    case links(LinkHistory)
    /// RFC 8628 §3.2; the next poll is not sent before the end of `notBefore`.
    case device(deviceCode: Secret, intervalSeconds: Int64, notBefore: Expiry)
  }

  public init(
    id: String, kind: TransactionKind, status: Status = .pending, issuer: String, redirectURI: String,
    state: Secret, nonce: Secret, codeVerifier: Secret, dpopKey: DPoPKey? = nil, scopes: [String],
    maxAgeSeconds: Int64? = nil, acrValues: [String] = [], prompt: String? = nil,
    expectedSubject: String? = nil, isSocial: Bool = false, listensOnLoopback: Bool = false, began: UnixTime,
    deadline: Expiry, isOvertaken: Bool = false, step: RegistrationState.Step = .browser,
    details: Details = .none
  ) {
    self.id = id
    self.kind = kind
    self.status = status
    self.issuer = issuer
    self.redirectURI = redirectURI
    self.state = state
    self.nonce = nonce
    self.codeVerifier = codeVerifier
    self.dpopKey = dpopKey
    self.scopes = scopes
    self.maxAgeSeconds = maxAgeSeconds
    self.acrValues = acrValues
    self.prompt = prompt
    self.expectedSubject = expectedSubject
    self.isSocial = isSocial
    self.listensOnLoopback = listensOnLoopback
    self.began = began
    self.deadline = deadline
    self.isOvertaken = isOvertaken
    self.step = step
    self.details = details
  }

  /// May still be settled by a redirect.
  public var isOpen: Bool { status == .pending || status == .cancelled }

  /// How long ago it began, in seconds.
  func age(at moment: Moment) -> Int64 {
    max(0, deadline.lifetimeSeconds - deadline.secondsLeft(at: moment))
  }

  /// It ended, with tokens or without.
  var isSettled: Bool { status == .succeeded || status == .failed }
}
