import Expectations
import Foundation
import Testing

@Suite("Whose browser shows a provider's pages (R1)")
struct BrowserTests {
  @Test(
    "no source has a web view (R1)",
    arguments: [
      "Sources", "include", "bindings/kotlin/src", "bindings/cordova/src", "bindings/node/src",
      "bindings/python/src",
    ])
  func ownBrowser(folder: String) throws {
    let files = FileManager.default.enumerator(
      at: Repository.top.appendingPathComponent(folder), includingPropertiesForKeys: [.isRegularFileKey])
    let sources = try (files?.allObjects as? [URL] ?? []).filter {
      try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true && $0.pathExtension != "pyc"
    }
    #expect(!sources.isEmpty)
    for source in sources {
      let text = String(decoding: try Data(contentsOf: source), as: UTF8.self)
      // This finds WKWebView, WebKitWebView, android.webkit.WebView and similar names.
      #expect(!text.contains("WebView"), "\(source.lastPathComponent)")
    }
  }
}
