// An app that signs its users in through the gateway: its redirect URIs, and the data by which Android and Apple
// systems recognise the app as the owner of these URIs.

import EnrollRules

/// One app of the configuration.
public struct RegisteredApp: Sendable, Equatable {
  /// The app's id: 1 to 64 letters, digits, `-` or `_`.
  public let id: String
  /// The name that the pages show.
  public let title: String
  /// The redirect URIs are compared exactly, except for the port of a loopback address (RFC 8252 §7.3). If the app's
  /// request has no redirect URI, the first URI that is not a loopback address is used; if all are loopback addresses,
  /// the first URI is used.
  public let redirectURIs: [String]
  public let android: Android?
  /// `TEAMID.bundle.id`, for `apple-app-site-association`.
  public let appleAppIDs: [String]
  /// Whether a page with a link to the app is shown, because some browsers open an app only after the user clicks.
  public let showsContinuePage: Bool
  /// Whether the redirect contains the session token instead of a code. Other programs on the device can read the
  /// redirect.
  public let sendsTokenInRedirect: Bool
  /// The URL that the browser opens after a sign-in that has no other URL to return to:
  /// `com.example.app://identity/fallback`.
  public let fallbackURI: String?

  public struct Android: Sendable, Equatable {
    public let package: String
    /// SHA-256 of the signing certificates: 32 bytes each in hexadecimal, separated by colons.
    public let fingerprints: [String]
  }

  public init(
    id: String, title: String, redirectURIs: [String], android: Android? = nil, appleAppIDs: [String] = [],
    showsContinuePage: Bool = false, sendsTokenInRedirect: Bool = false, fallbackURI: String? = nil
  ) {
    self.id = id
    self.title = title
    self.redirectURIs = redirectURIs
    self.android = android
    self.appleAppIDs = appleAppIDs
    self.showsContinuePage = showsContinuePage
    self.sendsTokenInRedirect = sendsTokenInRedirect
    self.fallbackURI = fallbackURI
  }

  /// The redirect URI to use; nil if the given URI is not registered.
  func redirectURI(named given: String?) -> String? {
    guard let given else { return redirectURIs.first { !Self.isLoopback($0) } ?? redirectURIs.first }
    if redirectURIs.contains(where: { ASCII.equals($0, given) }) { return given }
    guard let url = try? StrictURL(given), url.isLoopbackLiteral, url.query == nil, !url.hadFragment else {
      return nil
    }
    let isRegistered = redirectURIs.contains { registered in
      guard let other = try? StrictURL(registered), other.isLoopbackLiteral else { return false }
      return url.hasSameBase(as: other, ignoringPort: true)
    }
    return isRegistered ? given : nil
  }

  private static func isLoopback(_ text: String) -> Bool { (try? StrictURL(text))?.kind == .loopbackHTTP }
}

extension RegisteredApp {
  /// Checks the settings of the app.
  /// - Throws: `.configuration`; `field` is the key within the app's object.
  func check() throws(EnrollError) {
    guard !title.isEmpty, title.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw EnrollError(.configuration, "expected a name without control characters", field: "title")
    }
    guard !redirectURIs.isEmpty, redirectURIs.count <= 16 else {
      throw EnrollError(.configuration, "expected 1 to 16 redirect URIs", field: "redirectUris")
    }
    for text in redirectURIs {
      if let problem = Self.problem(in: text) {
        throw EnrollError(.configuration, problem, field: "redirectUris")
      }
    }
    if let fallbackURI, let problem = Self.problem(in: fallbackURI) {
      throw EnrollError(.configuration, problem, field: "fallbackUri")
    }
    if let android {
      guard Self.isName(android.package, firstIsLetter: true, allows: 0x5F) else {
        throw EnrollError(
          .configuration, "expected the name of a package, such as com.example.app", field: "android.package")
      }
      guard !android.fingerprints.isEmpty else {
        throw EnrollError(.configuration, "expected at least one fingerprint", field: "android.sha256")
      }
    }
    for id in appleAppIDs {
      let parts = id.utf8.split(separator: 0x2E, maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0].count == 10,
        parts[0].allSatisfy({ ASCII.isDigit($0) || (0x41...0x5A).contains($0) }),
        Self.isName(String(Substring(parts[1])), firstIsLetter: false, allows: 0x2D)
      else {
        throw EnrollError(
          .configuration,
          "expected the team's 10 capital letters or digits, a dot and the bundle id, such as "
            + "ABCDE12345.com.example.app", field: "appleAppIds")
      }
    }
    for print in android?.fingerprints ?? [] {
      let parts = print.utf8.split(separator: 0x3A, omittingEmptySubsequences: false)
      guard parts.count == 32, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(Self.isHex) }) else {
        throw EnrollError(
          .configuration, "expected SHA-256 fingerprints: 32 bytes in hexadecimal, separated by colons",
          field: "android.sha256")
      }
    }
  }

  private static func problem(in redirectURI: String) -> String? {
    let url: StrictURL
    do throws(StrictURL.Refusal) { url = try StrictURL(redirectURI) } catch { return error.text }
    if url.hadFragment { return "a redirect URI has no fragment" }
    guard url.kind != .loopbackHTTP || url.isLoopbackLiteral else {
      return "a loopback redirect URI names 127.0.0.1 or [::1], not localhost"
    }
    guard url.kind != .loopbackHTTP || url.query == nil else { return "a loopback redirect URI has no query" }
    return nil
  }

  /// Whether the text is a name of a package (Android) or a bundle (Apple): at least two segments, separated by dots. A
  /// segment consists of letters, digits and the character `other`.
  private static func isName(_ text: String, firstIsLetter: Bool, allows other: UInt8) -> Bool {
    let segments = text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
    return segments.count >= 2
      && segments.allSatisfy { segment in
        guard let first = segment.first, !firstIsLetter || ASCII.isLetter(first) else { return false }
        return segment.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == other }
      }
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    ASCII.isDigit(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }
}
