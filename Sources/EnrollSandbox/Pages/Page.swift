// The parts that all pages share: language, title, one main heading, landmarks, and security headers. Only the hosted
// login page has a script; pages load nothing from other origins and cannot be framed (RFC 9700 §4.16). This file also
// has the error page for a request that must not be answered with a redirect: an unknown client or redirect URI, an
// old link, a form of another site.

import EnrollCrypto
import Foundation

/// A page that is ready to send.
struct Page {
  /// The page's title; the browser's tab shows it before the product's name.
  var title: String
  var status = 200
  var isWide = false
  /// The content of `main`, which begins with the page's only `h1`.
  var main: HTML
  /// Further landmarks between main and footer.
  var aside: HTML = .none
  /// The URLs that a form of this page may reach, also by a redirect: browsers apply `form-action` to redirects after
  /// a POST.
  var formTargets: [String] = []
  /// The page's script, which runs when the page is loaded. Its text is always the same, because the page's
  /// Content-Security-Policy allows the script by its hash.
  var script: String?

  var markup: HTML {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(title) – EnrollKit Sandbox</title>
    <link rel="icon" href="data:,">
    <style>\(HTML(verbatim: Style.sheet))</style>
    </head>
    <body>
    <div class="frame\(isWide ? " wide" : "")">
    <header>\(Self.mark)<span>EnrollKit</span><span class="tag">Sandbox</span></header>
    <main>
    \(main)
    </main>
    \(aside)
    <footer>For demos and tests on this computer. Never type a real password here.</footer>
    </div>
    \(script.map { "<script>\(HTML(verbatim: $0))</script>" } ?? .none)
    </body>
    </html>
    """
  }

  func answer() -> SandboxAnswer {
    let actions = (["'self'"] + formTargets).joined(separator: " ")
    let scripts = script.map { "script-src 'sha256-\(Self.hash($0))'; " } ?? ""
    let policy =
      "default-src 'none'; \(scripts)style-src 'sha256-\(Self.styleHash)'; img-src data:; form-action \(actions); "
      + "base-uri 'none'; frame-ancestors 'none'"
    return SandboxAnswer(
      status: status,
      headers: [
        ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy),
        ("X-Frame-Options", "DENY"), ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"),
      ], body: Array(markup.text.utf8))
  }

  private static let styleHash = hash(Style.sheet)

  private static func hash(_ text: String) -> String {
    Data((try? Digest.sha256.hash(Array(text.utf8))) ?? []).base64EncodedString()
  }

  /// A half-open door. The picture is decoration, so it is hidden from screen readers.
  private static let mark: HTML = """
    <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="8" \
    fill="#0b5cad"/><path d="M9 25V8.5L19 6v20z" fill="#fff"/><path d="M20.5 8H23v16h-2.500" fill="none" \
    stroke="#bcdcff" stroke-width="2"/><circle cx="16.500" cy="16.500" r="1.300" fill="#0b5cad"/></svg>
    """

  /// The value of `form-action` that allows a redirect to a URL: `http://127.0.0.1:5000`, `com.example.app:`.
  static func formTarget(of address: String) -> String? {
    guard let parts = URLComponents(string: address), let scheme = parts.scheme else { return nil }
    guard scheme == "http" || scheme == "https" else { return scheme + ":" }
    guard let host = parts.percentEncodedHost else { return nil }
    return scheme + "://" + host + (parts.port.map { ":\($0)" } ?? "")
  }
}

extension HTML {
  /// Trusted text that is not escaped: only the style sheet and the script.
  fileprivate init(verbatim text: String) { self.text = text }
}

extension Page {
  /// The error page.
  /// - Parameters:
  ///   - reason: what was expected and what was received, for the developer.
  static func error(_ reason: String, status: Int = 400) -> Page {
    Page(
      title: "Cannot continue", status: status,
      main: """
        <h1>This request cannot continue</h1>
        <p>\(reason)</p>
        <p class="soft">Go back to the app and start again. Nothing was shared.</p>
        """)
  }
}
