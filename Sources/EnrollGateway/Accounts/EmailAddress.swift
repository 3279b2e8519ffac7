// An e-mail address (RFC 5321 §4.1.2), and its key: spellings with the same key are the same address. Only ASCII is
// accepted. Letters of other scripts look like ASCII letters or fold to them (homographs): mail about one account could
// go to the mailbox of another user. An internationalized domain is written in its ASCII form, `xn--…`, as browsers
// send it. Refused: quoted local parts, address literals in brackets, SMTPUTF8 (RFC 6531), and control characters, so
// that no address can inject a header.

import EnrollRules

/// A checked address.
public struct EmailAddress: Sendable, Equatable {
  /// The address as the user wrote it, without surrounding blanks: mail is sent to it.
  public let text: String
  /// The address in lower case (ASCII). A domain has no case (RFC 5321 §2.4). A local part may distinguish upper and
  /// lower case, but no major mail provider distinguishes them. Phones capitalize the first letter, so a user could get
  /// two accounts for one mailbox. Dots and `+` stay, because only the domain knows whether they matter.
  public let key: String

  /// Why a text is not an accepted address.
  public enum Refusal: Error, Sendable, Equatable {
    /// The text is empty.
    case empty
    /// The address is over 254 bytes, or the local part over 64 (RFC 5321 §4.5.3.1).
    case tooLong
    /// The text has a character that is not ASCII.
    case notASCII
    case malformed
  }

  /// The longest address in bytes (RFC 5321 §4.5.3.1.3, without the two angle brackets).
  static let longest = 254
  static let longestLocalPart = 64
  /// The longest label of a domain in bytes (RFC 1035 §2.3.4).
  static let longestLabel = 63

  public init(_ given: String) throws(Refusal) {
    var bytes = Array(given.utf8)[...]
    while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= Self.longest else { throw .tooLong }
    guard bytes.allSatisfy({ $0 < 0x80 }) else { throw .notASCII }
    guard let at = bytes.firstIndex(of: 0x40), at > bytes.startIndex else { throw .malformed }
    let local = bytes[..<at]
    let domain = bytes[(at + 1)...]
    guard local.count <= Self.longestLocalPart else { throw .tooLong }
    let atoms = local.split(separator: 0x2E, omittingEmptySubsequences: false)
    guard atoms.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isAtom) }) else { throw .malformed }
    let labels = domain.split(separator: 0x2E, omittingEmptySubsequences: false)
    guard labels.count >= 2, labels.allSatisfy(Self.isLabel), let top = labels.last,
      !top.allSatisfy(ASCII.isDigit)
    else { throw .malformed }
    text = String(decoding: bytes, as: UTF8.self)
    key = String(decoding: bytes.map { ASCII.lowercased($0) }, as: UTF8.self)
  }

  /// `atext` of RFC 5322 §3.2.3.
  private static func isAtom(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || signs.contains(byte)
  }

  private static let signs = Array("!#$%&'*+-/=?^_`{|}~".utf8)

  private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
    (1...longestLabel).contains(label.count) && label.first != 0x2D && label.last != 0x2D
      && label.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2D }
  }
}
