// One attempt at getting tokens, from the URL handed to the host until its redirect is settled. Kept in the store,
// so that the process which receives the redirect need not be the one that began (R7, R12).

public import EnrollCrypto

/// A pending or settled attempt. The secrets in it are spent once.
public struct Transaction: Equatable, Sendable {
  public enum Kind: String, Sendable, CaseIterable {
    case signIn, register, passwordless, anotherApp, backend, device
  }

  /// Pending until settled once. A settled one is remembered until its deadline, so that a second redirect is told
  /// what happened to the first.
  public enum Status: String, Sendable, CaseIterable {
    /// Waiting for the redirect.
    case pending
    /// The host said that the user gave up: a hint, a late valid redirect still wins (R12).
    case cancelled
    /// The redirect arrived, the state is spent, the code is being exchanged (R7).
    case exchanging
    case succeeded, failed
  }

  /// Names the transaction to the host: 128 random bits, base64url.
  public var id: String
  public var kind: Kind
  public var status: Status
  public var issuer: String
  /// The redirect URI that was sent, port included.
  public var redirectURI: String
  public var state: Secret
  public var nonce: Secret
  public var codeVerifier: Secret
  /// Tokens that come of it are bound to it (RFC 9449); nil for Bearer tokens.
  public var dpopKey: DPoPKey?
  public var scopes: [String]
  public var maxAgeSeconds: Int64?
  public var acrValues: [String]
  /// `prompt` as it was sent.
  public var prompt: String?
  /// The user chose one of the provider's connections (flows.md §6).
  public var isSocial: Bool
  /// Listens on a loopback port of this process, so it does not survive the process (R4).
  public var listensOnLoopback: Bool
  public var began: UnixTime
  public var deadline: Expiry
  /// What it waits for; where the state machine stands in a process that did not begin it.
  public var step: RegistrationState.Step
  public var details: Details

  /// What its kind needs beyond what every transaction has.
  public enum Details: Equatable, Sendable {
    case none
    /// The session that the gateway opened (flows.md §9).
    case anotherApp(sessionID: Secret)
    /// Who gets the code or the link (flows.md §6), and how many codes were sent for it that may have been wrong.
    case passwordless(Recipient, tries: Int64)
    /// The back end's name for the provider (flows.md §10).
    case backend(provider: String)
    /// Links that came for it, or that began it (flows.md §3, §4).
    case links(LinkHistory)
    /// RFC 8628 §3.2; the next poll is not sent before the end of `notBefore`.
    case device(deviceCode: Secret, intervalSeconds: Int64, notBefore: Expiry)
  }

  public init(
    id: String, kind: Kind, status: Status = .pending, issuer: String, redirectURI: String,
    state: Secret, nonce: Secret, codeVerifier: Secret, dpopKey: DPoPKey? = nil, scopes: [String],
    maxAgeSeconds: Int64? = nil, acrValues: [String] = [], prompt: String? = nil, isSocial: Bool = false,
    listensOnLoopback: Bool = false, began: UnixTime,
    deadline: Expiry, step: RegistrationState.Step = .browser, details: Details = .none
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
    self.isSocial = isSocial
    self.listensOnLoopback = listensOnLoopback
    self.began = began
    self.deadline = deadline
    self.step = step
    self.details = details
  }

  /// May still be settled by a redirect.
  public var isOpen: Bool { status == .pending || status == .cancelled }
}
