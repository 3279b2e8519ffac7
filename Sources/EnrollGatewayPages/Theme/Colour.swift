// A colour, and its contrast with another colour (WCAG 2.2, "contrast ratio" and "relative luminance"). A colour is
// written `#rgb` or `#rrggbb`; names, functions and transparency are refused, because their contrast cannot be computed
// here.

/// An opaque sRGB colour.
public struct Colour: Sendable, Hashable {
  public let red: UInt8
  public let green: UInt8
  public let blue: UInt8

  public init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// - Returns: nil unless the text is `#` with three or six hexadecimal digits.
  public init?(_ text: String) {
    var digits: [UInt8] = []
    guard text.utf8.first == UInt8(ascii: "#"), text.utf8.count == 4 || text.utf8.count == 7 else {
      return nil
    }
    for byte in text.utf8.dropFirst() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.append(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digits.append(byte - UInt8(ascii: "a") + 10)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digits.append(byte - UInt8(ascii: "A") + 10)
      default: return nil
      }
    }
    if digits.count == 3 {
      self.init(red: digits[0] * 17, green: digits[1] * 17, blue: digits[2] * 17)
    } else {
      self.init(
        red: digits[0] << 4 | digits[1], green: digits[2] << 4 | digits[3], blue: digits[4] << 4 | digits[5])
    }
  }

  static let white = Colour(red: 255, green: 255, blue: 255)
  static let ink = Colour(red: 17, green: 17, blue: 17)

  /// `#rrggbb`
  public var text: String {
    "#"
      + [red, green, blue].map { channel in
        (channel < 16 ? "0" : "") + String(channel, radix: 16)
      }.joined()
  }

  /// The contrast ratio, from 1 (the same colour) to 21 (black on white).
  public func contrast(against other: Colour) -> Double {
    let (one, two) = (luminance, other.luminance)
    return (max(one, two) + 0.05) / (min(one, two) + 0.05)
  }

  /// The relative luminance, from 0 (black) to 1 (white).
  var luminance: Double {
    0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
  }

  /// A mixture of this colour and another colour. `hundredths` is the percentage of the other colour.
  func mixed(with other: Colour, hundredths: Int) -> Colour {
    func channel(_ mine: UInt8, _ its: UInt8) -> UInt8 {
      let share = min(max(hundredths, 0), 100)
      return UInt8((Int(mine) * (100 - share) + Int(its) * share + 50) / 100)
    }
    return Colour(
      red: channel(red, other.red), green: channel(green, other.green), blue: channel(blue, other.blue))
  }

  private static func linear(_ channel: UInt8) -> Double {
    let value = Double(channel) / 255
    guard value > 0.04045 else { return value / 12.92 }
    let base = (value + 0.055) / 1.055
    // base^2.4 is base² · (base²)^⅕.
    return base * base * fifthRoot(base * base)
  }

  /// The fifth root by Newton's method. The argument is between 0.005 and 1.
  private static func fifthRoot(_ value: Double) -> Double {
    var root = 1.0
    for _ in 0..<24 {
      let fourth = root * root * root * root
      root -= (root * fourth - value) / (5 * fourth)
    }
    return root
  }
}
