// The PIN of an account (store.md, PIN): the record is sealed with the account's own key, and only the PIN can decrypt
// this key. A try is counted before the PIN is checked, so that nobody gets an extra try by killing the process.

public import EnrollCrypto
import EnrollJSON

/// The result of a try.
public struct PINAnswer: Equatable, Sendable {
  /// How the try ended.
  public enum Outcome: String, Sendable, CaseIterable {
    /// The account is unlocked in this process.
    case unlocked
    /// The PIN is wrong. Nothing changed except ``triesLeft``.
    case wrong
    /// The PIN was not checked, because the pause after the last wrong PIN is not over.
    case tooSoon
    /// The PIN is wrong, and this was the last try: the account was deleted from this device.
    case erased
  }

  /// The outcome of the try.
  public var outcome: Outcome
  /// The number of tries that are left before the account is erased.
  public var triesLeft: Int64
  /// The number of seconds until the next try is checked; 0 if a try is checked at once.
  public var retryAfterSeconds: Int64

  public init(_ outcome: Outcome, triesLeft: Int64, retryAfterSeconds: Int64 = 0) {
    self.outcome = outcome
    self.triesLeft = triesLeft
    self.retryAfterSeconds = retryAfterSeconds
  }
}

/// Limits on a PIN and on the number of tries.
public enum PINPolicy {
  /// The number of tries. If the last try is wrong, the account is erased.
  public static let tries: Int64 = 10
  /// The length of a PIN, in bytes of UTF-8.
  public static let length = 4...64

  /// - Throws: `.invalidArgument`.
  public static func check(_ pin: Secret, _ field: String = "pin") throws(EnrollError) {
    let isText = pin.withBytes { bytes in bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    guard length.contains(pin.count), isText else {
      throw EnrollError(
        .invalidArgument,
        "\(field): expected 4 to 64 bytes without control characters, got \(pin.count) bytes",
        field: field)
    }
  }

  /// The pause in seconds after this many wrong tries in a row. There is no pause after the first two tries. After the
  /// third it is 30 s, and it doubles with each further try, up to an hour.
  public static func pauseSeconds(afterTries tries: Int64) -> Int64 {
    tries < 3 ? 0 : min(3600, 30 << min(tries - 3, 10))
  }
}

/// An operation that is done once the right PIN was given.
public enum PINChange: Equatable, Sendable {
  /// Unlocks the account in this process.
  case unlock
  /// Replaces the old PIN with this PIN.
  case replace(Secret)
  /// The account's PIN is removed.
  case remove
}

/// The data of a PIN that are stored unsealed beside the record: they say how to derive the key from the PIN, and how
/// many tries there were.
public struct PINEnvelope: Equatable, Sendable {
  /// The cost of scrypt: N = 2^`cost`, r = 8, p = 1 (RFC 7914).
  public static let cost: Int64 = 17

  public var cost = PINEnvelope.cost
  public var salt: [UInt8]
  /// The account's own key, encrypted with the key from the PIN: nonce, ciphertext, tag.
  public var wrappedKey: [UInt8]
  /// The number of tries since the last right PIN.
  public var tries: Int64 = 0
  /// The pause after a wrong PIN. No try is checked before it ends.
  public var pause: Expiry?

  public init(salt: [UInt8], wrappedKey: [UInt8]) {
    self.salt = salt
    self.wrappedKey = wrappedKey
  }

  /// The number of tries that are left before the account is erased.
  public var triesLeft: Int64 { max(0, PINPolicy.tries - tries) }

  /// The number of seconds until a try is checked; 0 if a try is checked at once.
  public func secondsToWait(at moment: Moment) -> Int64 {
    guard let pause else { return 0 }
    // The pause is never longer than its whole length, even if somebody set the date back. A reboot does not shorten
    // the pause, because after a reboot the date decides.
    return min(max(0, pause.secondsLeft(at: moment)), pause.lifetimeSeconds)
  }

  /// Counts a try. The caller saves the envelope durably before it checks the PIN.
  public mutating func count(at moment: Moment) {
    tries += 1
    let seconds = PINPolicy.pauseSeconds(afterTries: tries)
    pause = seconds > 0 ? Expiry(lifetimeSeconds: seconds, from: moment) : nil
  }

  public mutating func forgive() {
    tries = 0
    pause = nil
  }
}

extension PINEnvelope {
  var json: JSON {
    var object = JSONObject()
    object.put("cost", cost)
    object.put("salt", Base64URL.encode(salt))
    object.put("wrappedKey", Base64URL.encode(wrappedKey))
    object.put("tries", tries)
    object["pause"] = pause?.json
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    cost = object.integer("cost")
    salt = object.bytes("salt")
    wrappedKey = object.bytes("wrappedKey")
    tries = object.integer("tries")
    pause = object.optionalExpiry("pause")
    try object.end()
  }
}
