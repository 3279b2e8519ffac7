// An authorize request that was sent, as the store keeps it until its answer comes (RFC 6749 §4.1.1, OpenID Connect Core
// §3.1.2.1).

public import EnrollCrypto

/// An authorize request as it was sent: what its answer is known by, exchanged with and measured by.
public struct CodeRequest: Equatable, Sendable {
  /// The redirect that brings the answer.
  public var redirect: AwaitedRedirect
  /// nil once the transaction is settled.
  public var secrets: Secrets?
  /// The claims that the id_token has to prove.
  public var demands: IDTokenDemands
  /// `prompt` as it was sent.
  public var prompt: String?
  /// Whom `id_token_hint` was about: the answer has to be about the same user (OpenID Connect Core §3.1.2.1).
  public var expectedSubject: String?
  /// The user chose one of the provider's connections (flows.md §6).
  public var isSocial: Bool

  /// The values that work once.
  public struct Secrets: Equatable, Sendable {
    /// Sent with a request for the scope `openid`, and expected in the id_token (OpenID Connect Core §3.1.2.1).
    public var nonce: Secret
    /// Proves that the code was meant for this app (RFC 7636 §4.1).
    public var codeVerifier: Secret
    /// Tokens that come of it are bound to it (RFC 9449); nil for Bearer tokens.
    public var dpopKey: DPoPKey?

    public init(nonce: Secret, codeVerifier: Secret, dpopKey: DPoPKey? = nil) {
      self.nonce = nonce
      self.codeVerifier = codeVerifier
      self.dpopKey = dpopKey
    }
  }

  public init(
    redirect: AwaitedRedirect, secrets: Secrets?, demands: IDTokenDemands = IDTokenDemands(),
    prompt: String? = nil, expectedSubject: String? = nil, isSocial: Bool = false
  ) {
    self.redirect = redirect
    self.secrets = secrets
    self.demands = demands
    self.prompt = prompt
    self.expectedSubject = expectedSubject
    self.isSocial = isSocial
  }
}

/// The redirect that a browser comes back with (RFC 6749 §4.1.2).
public struct AwaitedRedirect: Equatable, Sendable {
  /// The redirect URI that was sent, port included.
  public var uri: String
  /// Sent with the request, and expected in its answer (RFC 6749 §10.12).
  public var state: Secret
  /// A loopback port of this process listens, so the transaction does not survive the process (R4).
  public var listensOnLoopback: Bool

  public init(uri: String, state: Secret, listensOnLoopback: Bool = false) {
    self.uri = uri
    self.state = state
    self.listensOnLoopback = listensOnLoopback
  }
}

/// The claims that the id_token has to prove besides the user's identity (R26).
public struct IDTokenDemands: Equatable, Sendable {
  /// `max_age` as it was sent, seconds.
  public var maxAgeSeconds: Int64?
  /// `acr_values` as they were sent: the id_token has to name one of them.
  public var acrValues: [String]

  public init(maxAgeSeconds: Int64? = nil, acrValues: [String] = []) {
    self.maxAgeSeconds = maxAgeSeconds
    self.acrValues = acrValues
  }
}
