// A received link, compared byte by byte with the allowlist (R9, R11). Only the activation token is read from it, and
// no part of it is opened, followed or forwarded (R10).

import EnrollCrypto

/// The purpose of an accepted link.
public enum ReceivedLink: Equatable, Sendable {
  /// The link in an e-mail (flows.md §3), and its template.
  case activation(ActivationToken, LinkTemplate)
  /// The fallback link. The browser opens it if the gateway could not return to the sign-in itself (flows.md §4).
  case fallback

  /// - Returns: nil for a URL that is neither one of `appLinks` nor `fallbackUri`.
  /// - Throws: `.redirectMalformed` for a URL that R9 refuses, and for an accepted link whose token R11 refuses.
  public static func read(
    _ text: String, configuration: Configuration
  ) throws(EnrollError) -> ReceivedLink? {
    let url: StrictURL
    do throws(StrictURL.Refusal) {
      url = try StrictURL(text, configured: configuration.redirectURI)
    } catch {
      throw EnrollError(.redirectMalformed, error.text)
    }
    return try read(url, configuration: configuration)
  }

  /// - Throws: `.redirectMalformed` for an accepted link whose token R11 refuses.
  static func read(_ url: StrictURL, configuration: Configuration) throws(EnrollError) -> ReceivedLink? {
    // A template may also match a redirect URI, and a redirect is not a link.
    if url.hasBase(configuration.redirectURI) { return nil }
    if let uri = configuration.postLogoutRedirectURI, url.hasBase(uri) { return nil }
    if let uri = configuration.fallbackURI, url.hasBase(uri) { return .fallback }

    var refusal: EnrollError?
    for template in configuration.linkTemplates {
      guard let place = template.tokenPlace(in: url) else { continue }
      do throws(EnrollError) {
        return .activation(try ActivationToken(url.bytes[place]), template)
      } catch {
        refusal = error
      }
    }
    if let refusal { throw refusal }
    return nil
  }
}

extension LinkTemplate {
  /// The place of the token in a link of this template; nil for any other link. A token contains no delimiter of a URL.
  func tokenPlace(in url: StrictURL) -> Range<Int>? {
    let bytes = url.bytes
    guard bytes.count >= prefix.count + suffix.count, bytes.starts(with: prefix),
      bytes[(bytes.count - suffix.count)...].elementsEqual(suffix)
    else { return nil }
    let place = prefix.count..<(bytes.count - suffix.count)
    guard !bytes[place].contains(where: { $0 == 0x2F || $0 == 0x3F || $0 == 0x26 }) else { return nil }
    return place
  }

  /// The link with a token in the template's place (R10).
  package func filled(with token: ActivationToken) -> String {
    String(decoding: prefix + token.secret.revealBytes() + suffix, as: UTF8.self)
  }
}
