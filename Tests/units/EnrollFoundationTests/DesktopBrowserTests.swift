import EnrollTesting
import Foundation
import Testing

@testable import EnrollFoundation

@Suite("The desktop's browser")
struct DesktopBrowserTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

  /// A command that writes its arguments into a file. A shell runs it: a file that was just written cannot
  /// always be executed, because a process that another test starts may have it open for a moment.
  private func program() throws -> String {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent("browser")
    let text =
      "printf '%s\\n' \"$@\" >'\(folder.path)/new' && mv '\(folder.path)/new' '\(folder.path)/opened'\n"
    try Data(text.utf8).write(to: file)
    return "/bin/sh \(file.path)"
  }

  private func opened() async throws -> [String] {
    let record = folder.appendingPathComponent("opened").path
    while !FileManager.default.fileExists(atPath: record) { try await Task.sleep(for: .milliseconds(10)) }
    return String(decoding: try Data(contentsOf: URL(fileURLWithPath: record)), as: UTF8.self)
      .split(separator: "\n").map(String.init)
  }

  @Test("BROWSER names programs: the first that can be started gets the URL", .timeLimit(.minutes(10)))
  func named() async throws {
    let browser = try DesktopBrowser(["BROWSER": "/no/browser:\(program()) --new-window"])
    try #require(await browser.open("https://id.example/?a=b&c=d", redirectURI: nil) == .elsewhere)
    #expect(try await opened() == ["--new-window", "https://id.example/?a=b&c=d"])
  }

  @Test("%s stands for the URL", .timeLimit(.minutes(10)))
  func placeholder() async throws {
    let browser = try DesktopBrowser(["BROWSER": "\(program()) --app=%s --quiet"])
    try #require(await browser.open("https://id.example/", redirectURI: nil) == .elsewhere)
    #expect(try await opened() == ["--app=https://id.example/", "--quiet"])
  }

  @Test("without a browser the host is told to show the URL")
  func absent() {
    for (environment, why) in [
      ([:], "neither DISPLAY nor WAYLAND_DISPLAY"), (["BROWSER": "/no/browser"], "/no/browser"),
      (["DISPLAY": ":0", "PATH": "/no"], "xdg-open"),
    ] as [([String: String], String)] {
      let error = #expect(throws: EnrollError.self) { try DesktopBrowser(environment) }
      #expect(error?.code == .unsupported)
      #expect(
        error?.message.contains(why) == true && error?.message.contains("Show the user the URL") == true)
    }
  }
}
