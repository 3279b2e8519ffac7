// How a sandbox is set up, and the one place where it reads the machine's clock. The defaults suit a demo.

public import EnrollCrypto
import Foundation

/// Settings of one sandbox.
public struct SandboxOptions: Sendable {
  /// 0: the system chooses.
  public var port: UInt16 = 0
  public var users: [User] = [.alice, .bob]
  public var clients: [Client] = [.sample]
  /// Algorithms with a key in the set; the first one signs.
  public var algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases
  public var accessLifetimeSeconds: Int64 = 300
  public var idTokenLifetimeSeconds: Int64 = 300
  /// Counted anew at each rotation.
  public var refreshLifetimeSeconds: Int64 = 30 * 86_400
  public var codeLifetimeSeconds: Int64 = 60
  /// How long a device waits for its user, and how often it may ask (RFC 8628 §3.2).
  public var deviceLifetimeSeconds: Int64 = 600
  public var deviceIntervalSeconds: Int64 = 5
  /// How long a user may take over the pages.
  public var interactionLifetimeSeconds: Int64 = 600
  /// How long the refresh token before the current one may be sent again; 0: that is reuse, and ends the session.
  public var refreshGraceSeconds: Int64 = 0
  /// False: a refresh token stays the same for life.
  public var rotatesRefreshTokens = true
  /// The resource servers for which a renewal may ask for a token (RFC 8707).
  public var resources = ["https://api.example.com/", "https://files.example.com/"]
  /// Whether clients may register themselves (RFC 7591).
  public var registersClients = false
  /// False: whoever is signed in has allowed everything.
  public var asksConsent = true
  /// RFC 9207: `iss` in the redirect, and the announcement of it.
  public var sendsIssuer = true
  /// Pushed authorization requests (RFC 9126).
  public var pushedRequests = Offer.off
  /// How long the name of a pushed request works.
  public var pushedRequestLifetimeSeconds: Int64 = 60
  public var gateway = GatewayOptions()
  /// Tokens bound to a key (RFC 9449).
  public var dpop = Offer.off
  /// Every proof needs the nonce of the last answer (RFC 9449 §8).
  public var demandsNonces = false
  /// Seconds since 1970. A fake clock may stand in.
  public var clock: @Sendable () -> Int64 = SystemTime.now
  /// Gets one line per request, without secrets.
  public var log: (@Sendable (String) -> Void)?

  public init() {}

  /// How the provider stands to something that clients may or may not use.
  public enum Offer: String, Sendable, CaseIterable {
    /// As if it had never heard of it.
    case off
    /// Announced.
    case offered
    /// Announced, and nothing works without it.
    case required
  }
}

/// The machine's clock.
public enum SystemTime {
  /// Whole seconds since 1970.
  @Sendable public static func now() -> Int64 { Int64(Date().timeIntervalSince1970) }
}
