// Shows the code of the device grant (RFC 8628 §3.3): a URL and a code to type there, or a URL with the code in it, as
// a QR code for a phone's camera.

import EnrollRules
import EnrollSteps

struct ShownDeviceCode {
  private let code: DeviceCode
  private let errors = Terminal.errors

  init(_ code: DeviceCode) { self.code = code }

  func show() {
    errors.say("On a phone or another computer, open this address:")
    errors.say(address: Shown.text(code.verificationURI))
    errors.say("and type the code \(Shown.text(code.userCode))")
    guard let whole = code.verificationURIComplete else { return }
    errors.say("Or open it with the code in it:")
    errors.say(address: Shown.text(whole))
    show(pictureOf: whole)
  }

  /// Shows the QR code if the terminal has room for it.
  private func show(pictureOf address: String) {
    guard errors.hasColour, errors.signs.isUTF8, let code = QRCode(address),
      code.width + Self.indent.count <= errors.width ?? 0
    else { return }
    errors.write(code.lines.map { "\(Self.indent)\($0)\n" }.joined() + "\n")
  }

  private static let indent = "  "
}
