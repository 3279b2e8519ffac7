// A proof that the sender of a request has a private key (RFC 9449 §4.2). A proof is valid for one method, one URL and
// one moment.

public import EnrollCrypto
import EnrollJSON

/// The JWT in the header `DPoP`.
public enum DPoPProof {
  package static let headerName = "DPoP"
  /// The number of random bytes of `jti`.
  public static let randomByteCount = 16

  /// - Parameters:
  ///   - time: the server's time, if it is known.
  ///   - nonce: the server's last nonce (§8, §9).
  ///   - accessToken: the access token of the request (`ath`); nil if the request has no access token.
  ///   - random: ``randomByteCount`` bytes.
  public static func make(
    _ signer: DPoPSigner, for request: DPoPRequest, at time: UnixTime, nonce: String? = nil,
    accessToken: Secret? = nil, random: [UInt8]
  ) throws(EnrollError) -> String {
    let header = JSON.object([
      ("typ", .string("dpop+jwt")), ("alg", .string(DPoPKey.algorithm.rawValue)),
      ("jwk", .object(signer.publicKey)),
    ])
    do throws(CryptoError) {
      let claims = JSON.object([
        ("jti", .string(Base64URL.encode(random))), ("htm", .string(request.method)),
        ("htu", .string(request.target)), ("iat", .integer(time.seconds)),
        ("ath", try accessToken.map { token throws(CryptoError) in .string(try hash(token)) }),
        ("nonce", nonce.map { .string($0) }),
      ])
      let input = Base64URL.encode(header.serialized()) + "." + Base64URL.encode(claims.serialized())
      let signature = try signer.key.sign(Array(input.utf8), algorithm: DPoPKey.algorithm)
      return input + "." + Base64URL.encode(signature)
    } catch {
      throw EnrollError(.internal, "a proof could not be signed: \(error.message)")
    }
  }

  /// `ath`: the hash of the token's ASCII bytes (§4.2).
  static func hash(_ accessToken: Secret) throws(CryptoError) -> String {
    Base64URL.encode(try Digest.sha256.hash(accessToken))
  }
}

/// The parts of a request that its proof contains: the method as it is sent (`htm`), and the URL without query and
/// fragment (`htu`, §4.2).
public struct DPoPRequest: Equatable, Sendable {
  public let method: String
  public let target: String
  /// Scheme, host and port of the URL. They identify the server: a nonce is sent only to the server that issued the
  /// nonce (§8.2).
  package let origin: String

  /// The parts of a request that the host sends itself. The path is used as it is sent, with dot segments and escapes;
  /// query and fragment are removed.
  /// - Throws: `.invalidArgument` for a method with characters other than letters, digits, `-` and `_`, and for a URL
  ///   that is not https (nor http to loopback), has user information, or has a byte in its path that cannot be in a
  ///   request. An invalid URL is never repaired (R9).
  public init(method: String, url text: String) throws(EnrollError) {
    guard (1...32).contains(method.utf8.count), method.utf8.allSatisfy(Self.isTokenByte) else {
      throw EnrollError(
        .invalidArgument, "method: expected a method of 1 to 32 letters, as it is sent", field: "method")
    }
    let bytes = text.bytes
    let end = bytes.firstIndex { $0 == 0x3F || $0 == 0x23 } ?? bytes.count
    let path = Self.pathStart(bytes[..<end])
    let server: StrictURL
    do throws(StrictURL.Refusal) {
      if let index = bytes[path..<end].firstIndex(where: { $0 <= 0x20 || $0 >= 0x7F }) {
        throw .character(bytes[index], at: index)
      }
      server = try StrictURL(String(decoding: bytes[..<path], as: UTF8.self))
    } catch {
      throw Self.refusal(error.text)
    }
    guard server.kind != .privateScheme else { throw Self.refusal("expected https, got a private scheme") }
    self.method = method
    origin = server.text
    target = origin + (path < end ? String(decoding: bytes[path..<end], as: UTF8.self) : "/")
  }

  /// The end of the authority: the third slash.
  private static func pathStart(_ url: ArraySlice<UInt8>) -> Int {
    var slashes = 0
    return url.firstIndex {
      slashes += $0 == 0x2F ? 1 : 0
      return slashes == 3
    } ?? url.endIndex
  }

  /// The parts of a request that EnrollKit sends. Its URL was checked when it was configured or discovered.
  package init?(_ request: HTTPRequest) {
    guard let url = try? StrictURL(request.url) else { return nil }
    self.init(method: request.method.rawValue, url)
  }

  private init(method: String, _ url: StrictURL) {
    self.method = method
    // An empty path is sent as a slash (RFC 9110 §4.2.3).
    target = url.text(0..<url.path.upperBound) + (url.path.isEmpty ? "/" : "")
    origin = url.text(0..<url.path.lowerBound)
  }

  /// Whether the byte is a letter, a digit, `-` or `_`: these are the characters of `tchar` (RFC 9110 §5.6.2) that
  /// methods use.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x5F
  }

  private static func refusal(_ text: String) -> EnrollError {
    EnrollError(.invalidArgument, "url: \(text)", field: "url")
  }
}
