// The code of the device grant (RFC 8628 §3.3): an address and a code to type there, or an address that has the code in it, which a
// phone's camera can read.

import EnrollJSON

struct DeviceCode {
  private let action: JSON?
  private let errors = Terminal.errors

  init(_ action: JSON?) { self.action = action }

  func show() {
    errors.say("On a phone or another computer, open this address:")
    errors.say(address: fact("verificationUri") ?? "")
    errors.say("and type the code \(fact("userCode") ?? "")")
    guard let whole = action?["verificationUriComplete"]?.string else { return }
    errors.say("Or open it with the code in it:")
    errors.say(address: Shown.text(whole))
    show(pictureOf: whole)
  }

  private func fact(_ name: String) -> String? { action?[name]?.string.map { Shown.text($0) } }

  /// Where the terminal can show it whole.
  private func show(pictureOf address: String) {
    guard errors.hasColour, errors.signs.isUTF8, let code = QRCode(address),
      code.width + Self.indent.count <= errors.width ?? 0
    else { return }
    errors.write(code.lines.map { "\(Self.indent)\($0)\n" }.joined() + "\n")
  }

  private static let indent = "  "
}
