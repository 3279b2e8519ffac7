import Foundation
import Testing

@Suite("Whose browser shows a provider's pages (R1)")
struct BrowserTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test(
    "no source has a web view",
    arguments: [
      "Sources", "include", "bindings/kotlin/src", "bindings/cordova/src", "bindings/node/src",
      "bindings/python/src",
    ])
  func ownBrowser(folder: String) throws {
    let files = FileManager.default.enumerator(
      at: Self.root.appendingPathComponent(folder), includingPropertiesForKeys: [.isRegularFileKey])
    let sources = try (files?.allObjects as? [URL] ?? []).filter {
      try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true && $0.pathExtension != "pyc"
    }
    #expect(!sources.isEmpty)
    for source in sources {
      let text = String(decoding: try Data(contentsOf: source), as: UTF8.self)
      // WKWebView, WebKitWebView, android.webkit.WebView and their kin.
      #expect(!text.contains("WebView"), "\(source.lastPathComponent)")
    }
  }
}
