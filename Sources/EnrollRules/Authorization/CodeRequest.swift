// An authorize request that was sent, as the store keeps it until the answer (RFC 6749 §4.1.1, OpenID Connect Core
// §3.1.2.1).

public import EnrollCrypto

/// An authorize request as it was sent: the data with which EnrollKit recognises its answer, exchanges its code, and
/// checks its tokens.
public struct CodeRequest: Equatable, Sendable {
  /// The redirect that returns the answer.
  public var redirect: AwaitedRedirect
  /// The request's secrets; nil once the transaction is settled.
  public var secrets: Secrets?
  /// The claims that the id_token must have.
  public var demands: IDTokenDemands
  /// `prompt` as it was sent.
  public var prompt: String?
  /// The user of the `id_token_hint`: the answer must be about the same user (OpenID Connect Core §3.1.2.1).
  public var expectedSubject: String?
  /// Whether the user signs in through a connection of the provider, such as its Google sign-in (flows.md
  /// §6).
  public var isSocial: Bool

  /// The request's secrets, which work once.
  public struct Secrets: Equatable, Sendable {
    /// A value that is sent if the request has the scope `openid`, and expected in the id_token (OpenID Connect Core
    /// §3.1.2.1).
    public var nonce: Secret
    /// Proves that this app requested the code (RFC 7636 §4.1).
    public var codeVerifier: Secret
    /// The key to which the tokens will be bound (RFC 9449); nil for Bearer tokens.
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

/// The redirect with which the browser returns (RFC 6749 §4.1.2).
public struct AwaitedRedirect: Equatable, Sendable {
  /// The redirect URI that was sent, including the port.
  public var uri: String
  /// A value that is sent with the request, and expected in its answer (RFC 6749 §10.12).
  public var state: Secret
  /// Whether this process listens on a loopback port for the redirect, so that the transaction does not survive the
  /// process (R4).
  public var listensOnLoopback: Bool

  public init(uri: String, state: Secret, listensOnLoopback: Bool = false) {
    self.uri = uri
    self.state = state
    self.listensOnLoopback = listensOnLoopback
  }
}

/// The claims that the id_token must have in addition to the user's identity (R26).
public struct IDTokenDemands: Equatable, Sendable {
  /// `max_age` as it was sent, in seconds.
  public var maxAgeSeconds: Int64?
  /// `acr_values` as they were sent: the id_token must have one of them.
  public var acrValues: [String]

  public init(maxAgeSeconds: Int64? = nil, acrValues: [String] = []) {
    self.maxAgeSeconds = maxAgeSeconds
    self.acrValues = acrValues
  }
}
