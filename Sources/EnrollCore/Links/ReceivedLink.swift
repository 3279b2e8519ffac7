// A link that reached the app, held against the allow-list: byte by byte, or it is none of ours (R9, R11). Nothing in it
// but the activation token is read, and nothing of it is opened, followed or forwarded (R10).

import EnrollCrypto

/// The purpose of a link of ours.
public enum ReceivedLink: Equatable, Sendable {
  /// The link in an e-mail (flows.md §3), and the template that it is.
  case activation(ActivationToken, LinkTemplate)
  /// The gateway could not find its way back by itself (flows.md §4).
  case fallback

  /// - Returns: nil for a URL that is neither one of `appLinks` nor `fallbackUri`.
  /// - Throws: `.redirectMalformed` for what R9 refuses, and for a link of ours whose token R11 refuses.
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

  /// - Throws: `.redirectMalformed` for a link of ours whose token R11 refuses.
  static func read(_ url: StrictURL, configuration: Configuration) throws(EnrollError) -> ReceivedLink? {
    // A template may be wide enough to hold a redirect; what is awaited there is no link.
    if url.hasBase(configuration.redirectURI) { return nil }
    if let uri = configuration.postLogoutRedirectURI, url.hasBase(uri) { return nil }
    if let uri = configuration.fallbackURI, url.hasBase(uri) { return .fallback }

    var refusal: EnrollError?
    for template in configuration.appLinks {
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
  /// Where the token of a link of this template stands; nil for any other link. A token contains no delimiter of a URL.
  func tokenPlace(in url: StrictURL) -> Range<Int>? {
    let bytes = url.bytes
    guard bytes.count >= prefix.count + suffix.count, bytes.starts(with: prefix),
      bytes[(bytes.count - suffix.count)...].elementsEqual(suffix)
    else { return nil }
    let place = prefix.count..<(bytes.count - suffix.count)
    guard !bytes[place].contains(where: { $0 == 0x2F || $0 == 0x3F || $0 == 0x26 }) else { return nil }
    return place
  }

  /// The link with a token in its place (R10).
  func filled(with token: ActivationToken) -> String {
    String(decoding: prefix + token.secret.revealBytes() + suffix, as: UTF8.self)
  }
}
