// A PIN over one account (store.md, PIN): its record is sealed with a key of its own, which only the PIN opens.
// Tries are counted before each check, so that nobody gains one by killing the process.

public import EnrollCrypto
import EnrollJSON

/// How a PIN was taken.
public struct PINAnswer: Equatable, Sendable {
  /// The outcome of the try.
  public enum Outcome: String, Sendable, CaseIterable {
    /// The account is open in this process.
    case unlocked
    /// It is another one; nothing changed but ``triesLeft``.
    case wrong
    /// Not looked at: the pause after the last wrong one is not over.
    case tooSoon
    /// It was the last try: the account is gone from this device.
    case erased
  }

  /// The outcome of the try.
  public var outcome: Outcome
  /// Before the account is erased.
  public var triesLeft: Int64
  /// Until the next try is looked at; 0 for at once.
  public var retryAfterSeconds: Int64

  public init(_ outcome: Outcome, triesLeft: Int64, retryAfterSeconds: Int64 = 0) {
    self.outcome = outcome
    self.triesLeft = triesLeft
    self.retryAfterSeconds = retryAfterSeconds
  }
}

/// Limits on a PIN and on the number of tries.
public enum PINPolicy {
  /// The last of them erases the account.
  public static let tries: Int64 = 10
  /// Bytes of UTF-8.
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

  /// The pause after that many wrong tries in a row: none after two, then 30 s, doubling up to an hour.
  public static func pauseSeconds(afterTries tries: Int64) -> Int64 {
    tries < 3 ? 0 : min(3600, 30 << min(tries - 3, 10))
  }
}

/// A store that can put a PIN over an account.
public protocol PINKeeper: AnyObject, Sendable {
  /// nil without a PIN; else whether this process has opened the account.
  func isUnlocked(_ account: AccountName) throws(EnrollError) -> Bool?

  /// Seals the account with a key of its own.
  /// - Throws: `.illegalState` when it has a PIN, or no record; store errors.
  func setPIN(_ pin: Secret, _ account: AccountName) throws(EnrollError)

  /// Opens the account in this process.
  /// - Parameter change: what the right PIN leads to.
  /// - Throws: `.illegalState` when it has no PIN; store errors.
  func usePIN(_ pin: Secret, _ account: AccountName, to change: PINChange) throws(EnrollError) -> PINAnswer
}

/// The operation that the right PIN allows.
public enum PINChange: Equatable, Sendable {
  /// The account is opened in this process.
  case unlock
  /// This PIN takes its place.
  case replace(Secret)
  /// The account has no PIN any more.
  case remove
}

/// The data outside the PIN's seal: how to derive the key from the PIN, and how often that was tried.
public struct PINEnvelope: Equatable, Sendable {
  /// Of scrypt: N = 2^`cost`, r = 8, p = 1 (RFC 7914).
  public static let cost: Int64 = 17

  public var cost = PINEnvelope.cost
  public var salt: [UInt8]
  /// The account's own key: nonce, ciphertext, tag.
  public var wrappedKey: [UInt8]
  /// Tries since the last right one.
  public var tries: Int64 = 0
  /// Until when no try is looked at.
  public var pause: Expiry?

  public init(salt: [UInt8], wrappedKey: [UInt8]) {
    self.salt = salt
    self.wrappedKey = wrappedKey
  }

  /// Before the account is erased.
  public var triesLeft: Int64 { max(0, PINPolicy.tries - tries) }

  /// Seconds until a try is looked at; 0 for now.
  public func secondsToWait(at moment: Moment) -> Int64 {
    guard let pause else { return 0 }
    // A date that was set back does not lengthen the pause, nor does a reboot shorten it below what the date says.
    return min(max(0, pause.secondsLeft(at: moment)), pause.lifetimeSeconds)
  }

  /// One more, durably, before it is looked at.
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
