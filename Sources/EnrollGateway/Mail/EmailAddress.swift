// An address that mail is sent to (RFC 5321 §4.1.2), and the key by which two spellings of it are one. ASCII alone: letters of other
// scripts look like ASCII letters, and fold to them (homographs), so that a mail about one account could go to another's
// mailbox. A domain of another script is written in its ASCII form, `xn--…`, as browsers do in a field for e-mail. Refused:
// quoted local parts, addresses in brackets, SMTPUTF8 (RFC 6531), control characters, and with them every way to add a header.

import EnrollCore

/// A checked address.
public struct EmailAddress: Sendable, Equatable {
  /// As the person wrote it, without the blanks around it: mail goes there.
  public let text: String
  /// The whole in lower case (ASCII). The domain has no case (RFC 5321 §2.4). The local part may have one there, but no mail provider
  /// of importance tells cases apart, and phones write a capital first: two accounts for one mailbox would be the result. Dots
  /// and `+` stay: whose mailbox that is, the domain alone knows.
  public let key: String

  /// Why a text is no address.
  public enum Refusal: Error, Sendable, Equatable {
    /// Nothing was written.
    case empty
    /// RFC 5321 §4.5.3.1: 254 bytes, 64 of them in front of the `@`.
    case tooLong
    /// A letter that is not ASCII.
    case notASCII
    case malformed
  }

  /// RFC 5321 §4.5.3.1.3, without the two angle brackets.
  static let longest = 254
  static let longestLocalPart = 64
  /// RFC 1035 §2.3.4.
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

  /// RFC 5322 §3.2.3, `atext`.
  private static func isAtom(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || signs.contains(byte)
  }

  private static let signs = Array("!#$%&'*+-/=?^_`{|}~".utf8)

  private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
    (1...longestLabel).contains(label.count) && label.first != 0x2D && label.last != 0x2D
      && label.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2D }
  }
}
