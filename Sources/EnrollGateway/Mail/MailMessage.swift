// An e-mail message: headers (RFC 5322), encoded words for texts in headers (RFC 2047), plain text and HTML as
// alternatives (RFC 2046 §5.1.4). Both alternatives are encoded as quoted-printable (RFC 2045 §6.7), so that no line is
// long and no byte is above 127. Headers contain only checked addresses and encoded words, so a line break in a value
// cannot inject a header.

import EnrollRules
import EnrollGatewayPages
import EnrollJSON

/// A message with its envelope.
public struct MailMessage: Sendable, Equatable {
  public let sender: String
  public let recipient: String
  /// The complete message, with CR LF.
  public let bytes: [UInt8]

  /// - Parameters:
  ///   - id: the local part of `Message-ID`; the same in every try, so that mailboxes can recognize duplicates.
  ///   - boundary: letters and digits that occur neither in the plain text nor in the HTML.
  init(
    _ content: MailContent, from settings: MailSettings, product: String, to recipient: EmailAddress,
    language: Language, id: String, boundary: String, at now: UnixTime
  ) {
    sender = settings.from.text
    self.recipient = recipient.text
    let domain = settings.from.text.utf8.drop { $0 != 0x40 }.dropFirst()
    let name = settings.fromName ?? product
    let lines = [
      "Date: \(MailDate.text(now))",
      "From: \(Self.words(name))\r\n <\(settings.from.text)>",
      "To: <\(recipient.text)>",
      "Subject: \(Self.words(content.subject))",
      "Message-ID: <\(id)@\(String(Substring(domain)))>",
      // Suppresses out-of-office replies (RFC 3834 §5).
      "Auto-Submitted: auto-generated",
      "Content-Language: \(language.tag.text)",
      "MIME-Version: 1.0",
      "Content-Type: multipart/alternative; boundary=\"\(boundary)\"",
      "",
      "--\(boundary)",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: quoted-printable",
      "",
    ]
    var bytes = Array(lines.joined(separator: "\r\n").utf8) + [0x0D, 0x0A]
    bytes += QuotedPrintable.body(Array(content.text.utf8))
    let second = [
      "", "--\(boundary)", "Content-Type: text/html; charset=utf-8",
      "Content-Transfer-Encoding: quoted-printable", "", "",
    ]
    bytes += second.joined(separator: "\r\n").utf8
    bytes += QuotedPrintable.body(content.html)
    bytes += "\r\n--\(boundary)--\r\n".utf8
    self.bytes = bytes
  }

  init(sender: String, recipient: String, bytes: [UInt8]) {
    self.sender = sender
    self.recipient = recipient
    self.bytes = bytes
  }

  /// The text as encoded words, one on each line. A line has at most 76 bytes, even after `Subject: ` (RFC 2047 §2).
  static func words(_ text: String) -> String {
    var words: [String] = []
    var word = ""
    for character in text.unicodeScalars {
      let encoded = String(character).utf8.map { QuotedPrintable.inWord($0) }.joined()
      if word.utf8.count + encoded.utf8.count > 55 {
        words.append(word)
        word = ""
      }
      word += encoded
    }
    words.append(word)
    return words.map { "=?utf-8?Q?\($0)?=" }.joined(separator: "\r\n ")
  }
}

enum QuotedPrintable {
  /// The Q encoding of RFC 2047 §4.2: a blank becomes `_`; every other byte that is not a letter or digit is escaped.
  static func inWord(_ byte: UInt8) -> String {
    if byte == 0x20 { return "_" }
    return ASCII.isLetter(byte) || ASCII.isDigit(byte) ? String(UnicodeScalar(byte)) : escaped(byte)
  }

  /// The text in lines that end with CR LF and have at most 76 characters.
  static func body(_ text: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    var column = 0
    for (place, byte) in text.enumerated() {
      if byte == 0x0A {
        out += [0x0D, 0x0A]
        column = 0
        continue
      }
      let endsLine = place + 1 == text.count || text[place + 1] == 0x0A
      let isPlain = (0x21...0x7E).contains(byte) && byte != 0x3D || byte == 0x20 && !endsLine
      var piece = isPlain ? [byte] : Array(escaped(byte).utf8)
      if column + piece.count > 75 {
        out += [0x3D, 0x0D, 0x0A]
        column = 0
      }
      // A single dot on a line ends a message in SMTP (RFC 5321 §4.5.2), so a leading dot is escaped.
      if byte == 0x2E, column == 0 { piece = Array(escaped(byte).utf8) }
      out += piece
      column += piece.count
    }
    return out
  }

  private static func escaped(_ byte: UInt8) -> String {
    func digit(_ value: UInt8) -> String { String(UnicodeScalar(value < 10 ? 0x30 + value : 0x37 + value)) }
    return "=" + digit(byte >> 4) + digit(byte & 15)
  }
}

extension MailMessage {
  /// The message as JSON. The outbox seals this JSON and stores it.
  var json: JSON {
    .object([
      ("from", .string(sender)), ("to", .string(recipient)),
      ("message", .string(String(decoding: bytes, as: UTF8.self))),
    ])
  }

  init?(json: JSON) {
    guard let sender = json["from"]?.string, let recipient = json["to"]?.string,
      let text = json["message"]?.string, (try? EmailAddress(sender)) != nil,
      (try? EmailAddress(recipient)) != nil
    else { return nil }
    self.init(sender: sender, recipient: recipient, bytes: Array(text.utf8))
  }
}

/// The date of a mail (RFC 5322 §3.3), in UTC.
enum MailDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  static func text(_ time: UnixTime) -> String {
    let seconds = max(time.seconds, 0)
    let days = seconds / 86_400
    let rest = seconds % 86_400
    // In this calculation years begin in March, so that a leap day is the last day of its year; 400 years have 146,097
    // days.
    let shifted = days + 719_468
    let ofEra = shifted % 146_097
    let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let dayOfYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    let month = marchMonth < 10 ? marchMonth + 2 : marchMonth - 10
    let year = yearOfEra + shifted / 146_097 * 400 + (month <= 1 ? 1 : 0)
    let name = Self.days[Int(days % 7)]
    return "\(name), \(day) \(months[Int(month)]) \(year) "
      + [rest / 3600, rest % 3600 / 60, rest % 60].map { ($0 < 10 ? "0" : "") + String($0) }
      .joined(separator: ":") + " +0000"
  }
}
