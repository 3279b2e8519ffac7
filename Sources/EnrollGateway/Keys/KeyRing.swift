// The gateway's keys, which seal cookies and authenticate forms. Several keys are in use at a time, so that a
// key rotation signs nobody out. A new key can open texts at once. It seals texts a day later, when every
// replica has read it. Each purpose has a derived key (RFC 5869).

public import EnrollRules
public import EnrollSteps
public import EnrollCrypto
public import EnrollJSON

/// The keys of one key file, the oldest first.
public struct KeyRing: Sendable {
  /// The purpose of a derived key. A text that was sealed for one purpose cannot be opened for another.
  public enum Purpose: String, Sendable, CaseIterable {
    /// The cookie of a sign-in in progress.
    case attempt = "enroll-gateway attempt 1"
    /// The token of a form.
    case form = "enroll-gateway form 1"
    /// The cookie that proves that the session's sign-in was recent.
    case proof = "enroll-gateway proof 1"
    /// The cookie that proves, for a merge, that the user holds an identity of another account.
    case merge = "enroll-gateway merge 1"
    /// A provider's token in the database.
    case providerToken = "enroll-gateway provider token 1"
    /// An e-mail in the outbox.
    case mail = "enroll-gateway mail 1"
    /// The destination after a sign-in by e-mail, in a form field or a URL.
    case destination = "enroll-gateway visit 1"
  }

  private struct Key: Sendable {
    let id: String
    let created: UnixTime
    /// One secret for each purpose, in the order of the purposes.
    let derived: [Secret]
    let signing: SigningKey

    func secret(for purpose: Purpose) -> Secret { derived[Purpose.allCases.firstIndex(of: purpose) ?? 0] }
  }

  private let keys: [Key]

  /// How many seconds after its creation a key begins to seal.
  public static let readingSeconds: Int64 = 86_400
  /// The most keys in one file.
  public static let limit = 16

  /// Reads the keys of a key file.
  /// - Parameter json: `{"keys": [{"id": …, "created": seconds since 1970, "secret": 32 bytes in base64url}]}`.
  /// - Throws: `.configuration`. The message says what was expected, and never contains a part of a secret.
  public init(json: JSON) throws(EnrollError) {
    guard let entries = json["keys"]?.array, (1...Self.limit).contains(entries.count) else {
      throw Self.refusal("expected an object with keys, a list of 1 to \(Self.limit) keys")
    }
    var keys: [Key] = []
    for entry in entries {
      guard let id = entry["id"]?.string, Self.isID(id) else {
        throw Self.refusal("each key needs an id of 1 to 32 letters, digits or hyphens")
      }
      guard !keys.contains(where: { ASCII.equals($0.id, id) }) else {
        throw Self.refusal("two keys have the id \(id)")
      }
      guard let created = entry["created"]?.integer, created >= 0 else {
        throw Self.refusal("key \(id) needs created, in seconds since 1970")
      }
      guard let text = entry["secret"]?.string, let bytes = Base64URL.decode(text),
        bytes.count == AESGCM.keyCount
      else { throw Self.refusal("the secret of key \(id) must be \(AESGCM.keyCount) bytes in base64url") }
      keys.append(try Self.key(id, created: UnixTime(seconds: created), Secret(bytes)))
    }
    self.keys = keys.sorted { $0.created < $1.created }
  }

  private static func key(_ id: String, created: UnixTime, _ secret: Secret) throws(EnrollError) -> Key {
    var derived: [Secret] = []
    for purpose in Purpose.allCases {
      do throws(CryptoError) {
        derived.append(
          try HKDF.sha256(key: secret, salt: [], info: Array(purpose.rawValue.utf8), count: AESGCM.keyCount))
      } catch {
        throw EnrollError(error, "deriving a key failed")
      }
    }
    do throws(CryptoError) {
      return Key(id: id, created: created, derived: derived, signing: try SigningKey(derivedFrom: secret))
    } catch {
      throw EnrollError(error, "deriving a signing key failed")
    }
  }

  private static func isID(_ text: String) -> Bool {
    (1...32).contains(text.utf8.count)
      && text.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2D }
  }

  private static func refusal(_ text: String) -> EnrollError {
    EnrollError(.configuration, "key file: \(text)", field: "keys")
  }

  /// The number of keys.
  public var count: Int { keys.count }

  /// When the newest key was created, and when the oldest key was created.
  var newest: UnixTime { keys.last?.created ?? UnixTime(seconds: 0) }
  var oldest: UnixTime { keys.first?.created ?? UnixTime(seconds: 0) }

  /// The newest key that every replica has read; the oldest key if no key is old enough.
  private func sealing(at now: UnixTime) -> Key {
    keys.last { $0.created + Self.readingSeconds <= now } ?? keys[0]
  }
}

extension KeyRing {
  /// Seals the text with the newest key that every replica has read.
  /// - Returns: `key id.base64url(nonce, ciphertext, tag)`.
  public func seal(
    _ text: Secret, for purpose: Purpose, at now: UnixTime, random: any RandomSource
  ) throws(EnrollError) -> String {
    let key = sealing(at: now)
    let nonce = try random.bytes(AESGCM.nonceCount)
    do throws(CryptoError) {
      let sealed = try AESGCM.seal(
        text, key: key.secret(for: purpose), nonce: nonce, associatedData: Array(key.id.utf8))
      return key.id + "." + Base64URL.encode(nonce + sealed)
    } catch {
      throw EnrollError(error, "sealing failed")
    }
  }

  /// Opens a sealed text. Returns nil if no key of this ring sealed the text for this purpose.
  public func open(_ sealed: String, for purpose: Purpose) -> Secret? {
    guard let dot = sealed.utf8.firstIndex(of: 0x2E) else { return nil }
    let id = String(sealed[..<dot])
    guard let key = keys.first(where: { ASCII.equals($0.id, id) }),
      let bytes = Base64URL.decode(String(sealed[sealed.utf8.index(after: dot)...])),
      bytes.count >= AESGCM.nonceCount + AESGCM.tagCount
    else { return nil }
    return try? AESGCM.open(
      Array(bytes[AESGCM.nonceCount...]), key: key.secret(for: purpose),
      nonce: Array(bytes[..<AESGCM.nonceCount]), associatedData: Array(key.id.utf8))
  }

  /// The key that signs now: every reader of ``signingKeys`` has had a day to load it.
  func signingKey(at now: UnixTime) -> SigningKey { sealing(at: now).signing }

  /// Every signing key: keys that sign now, will sign later, or signed earlier.
  var signingKeys: [SigningKey] { keys.map(\.signing) }

  /// A message authentication code of the text: only a key of this ring can make it.
  public func authenticationCode(of text: [UInt8], for purpose: Purpose, at now: UnixTime) throws(EnrollError)
    -> String
  {
    do throws(CryptoError) {
      return Base64URL.encode(try HMAC.sha256(key: sealing(at: now).secret(for: purpose), text))
    } catch {
      throw EnrollError(error, "HMAC failed")
    }
  }

  /// Whether any key of this ring made the code.
  public func verifies(_ code: String, of text: [UInt8], for purpose: Purpose) -> Bool {
    guard let given = Base64URL.decode(code) else { return false }
    var isFound = false
    for key in keys {
      guard let made = try? HMAC.sha256(key: key.secret(for: purpose), text) else { continue }
      if ConstantTime.equal(made, given) { isFound = true }
    }
    return isFound
  }
}
