// The settings of a sandbox, and the only place where the sandbox reads the machine's clock. The defaults suit a demo.

public import EnrollCrypto
import Foundation

/// The settings of one sandbox.
public struct SandboxOptions: Sendable {
  /// The port; with 0, the system chooses one.
  public var port: UInt16 = 0
  public var users: [User] = [.alice, .bob]
  public var clients: [SandboxClient] = [.sample]
  /// The algorithms that have a key in the key set; the first one signs.
  public var algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases
  public var accessLifetimeSeconds: Int64 = 300
  public var idTokenLifetimeSeconds: Int64 = 300
  /// The lifetime of a refresh token. It starts again at each rotation.
  public var refreshLifetimeSeconds: Int64 = 30 * 86_400
  public var codeLifetimeSeconds: Int64 = 60
  /// How long a device code is valid, and the shortest interval between two polls of the device (RFC 8628 §3.2).
  public var deviceLifetimeSeconds: Int64 = 600
  public var deviceIntervalSeconds: Int64 = 5
  /// How many seconds the user may take for the pages of one sign-in.
  public var interactionLifetimeSeconds: Int64 = 600
  /// How long the previous refresh token may be sent again; with 0, sending it again counts as reuse and ends the
  /// session.
  public var refreshGraceSeconds: Int64 = 0
  /// Whether a refresh token is replaced at each use; if false, it never changes.
  public var rotatesRefreshTokens = true
  /// The resource servers for which a refresh may request a token (RFC 8707).
  public var resources = ["https://api.example.com/", "https://files.example.com/"]
  /// Whether clients may register themselves (RFC 7591).
  public var registersClients = false
  /// Whether the user is asked for consent; if false, every user counts as having consented.
  public var asksConsent = true
  /// Whether redirects have `iss`, and the metadata announces that (RFC 9207).
  public var sendsIssuer = true
  /// Pushed authorization requests (RFC 9126).
  public var pushedRequests = Offer.off
  /// How long the `request_uri` of a pushed request is valid.
  public var pushedRequestLifetimeSeconds: Int64 = 60
  public var gateway = GatewayOptions()
  /// Whether tokens can be bound to a key (RFC 9449).
  public var dpop = Offer.off
  /// Whether every DPoP proof must contain the nonce of the last answer (RFC 9449 §8).
  public var demandsNonces = false
  /// The clock, in seconds since 1970. A test may set a fake clock.
  public var clock: @Sendable () -> Int64 = SystemTime.now
  /// Receives one line per request, without secrets.
  public var log: (@Sendable (String) -> Void)?

  public init() {}

  /// Whether the provider supports a feature that clients may use.
  public enum Offer: String, Sendable, CaseIterable {
    /// Not supported and not announced.
    case off
    /// Announced, but not required.
    case offered
    /// Announced, and required of every client.
    case required
  }
}

/// The machine's clock.
public enum SystemTime {
  /// Whole seconds since 1970.
  @Sendable public static func now() -> Int64 { Int64(Date().timeIntervalSince1970) }
}
