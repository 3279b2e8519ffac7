// The public files of the gateway: the style sheet with the theme's variables, the product's logo, the script that
// submits a page's form, and the script for Okta's sign-in page. The name of a file contains a hash of its content, so
// that browsers may cache the file for ever (RFC 8246), and a changed theme gets a file with another name. The script
// for Okta has a version number instead, because pages of Okta contain its name and its hash: the file never changes.

/// A public file of the gateway.
public struct Asset: Sendable, Equatable {
  /// `/assets/style-0123456789abcdef.css`
  public let path: String
  public let bytes: [UInt8]
  /// `Content-Type`, `Cache-Control`, and headers that prevent browsers from treating the file as a page.
  public let headers: [(name: String, value: String)]

  init(_ name: String, _ ending: String, type: String, bytes: [UInt8]) {
    path = "/assets/\(name)-\(Self.hash(bytes)).\(ending)"
    self.bytes = bytes
    headers = [
      ("Content-Type", type), ("Cache-Control", "public, max-age=31536000, immutable"),
      ("X-Content-Type-Options", "nosniff"),
      ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ]
  }

  /// The script for Okta's hosted sign-in page. Pages of another origin load it with `integrity`, which requires CORS.
  public static let oktaSignIn = Asset(
    path: "/assets/okta-sign-in-1.js", type: "text/javascript; charset=utf-8",
    bytes: PackageResources.okta_sign_in_1_js)

  private init(path: String, type: String, bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
    headers = [
      ("Content-Type", type), ("Cache-Control", "public, max-age=31536000, immutable"),
      ("X-Content-Type-Options", "nosniff"), ("Access-Control-Allow-Origin", "*"),
      ("Cross-Origin-Resource-Policy", "cross-origin"),
    ]
  }

  public static func == (one: Asset, other: Asset) -> Bool {
    one.path == other.path && one.bytes == other.bytes
  }

  /// FNV-1a, 64 bits: it distinguishes versions, and is not for security.
  private static func hash(_ bytes: [UInt8]) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

extension Asset {
  /// The script that submits the form of a page. In a browser without scripts, the user clicks the form's button.
  static let formSubmitter = Asset(
    "send", "js", type: "text/javascript; charset=utf-8", bytes: Array("document.forms[0].submit();\n".utf8))
}

extension Theme {
  /// The theme's variables, followed by `Assets/style.css`.
  func styleSheet() -> Asset {
    let variables = """
      :root{color-scheme:light dark;--radius:\(radius)px;\(Self.declarations(light))}
      @media (prefers-color-scheme:dark){:root{\(Self.declarations(dark))}}

      """
    return Asset(
      "style", "css", type: "text/css; charset=utf-8",
      bytes: Array(variables.utf8) + PackageResources.style_css)
  }

  /// The logo of a product without its own, and the icon of every page: a half-open door in the theme's accent colour.
  func mark() -> Asset {
    let (back, front) = (light[.accent].text, light[.onAccent].text)
    let picture = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="\(back)"/>\
      <path d="M10 25V9.2L18.5 7v20z" fill="\(front)"/><path d="M20.5 8.5H23v15h-2.5" fill="none" \
      stroke="\(front)" stroke-opacity=".7" stroke-width="1.8"/><circle cx="16.2" cy="17" r="1.2" \
      fill="\(back)"/></svg>

      """
    return Asset("mark", "svg", type: "image/svg+xml", bytes: Array(picture.utf8))
  }

  private static func declarations(_ palette: Palette) -> String {
    ColourRole.allCases.map { "\($0.variable):\(palette[$0].text)" }.joined(separator: ";")
  }
}
