// The desktop's browser as a UserAgent (RFC 8252 §8.1), for loopback redirects: the client listens for the redirect
// itself. Other redirects are refused, and so is a machine without a desktop. On such a machine the host shows the URL.

public import EnrollKit
import Foundation

/// A browser that the programs in the environment variable `BROWSER` start. Without that variable, `xdg-open` starts
/// the browser, or on macOS `open` (not tested there).
///
/// `try await client.signIn(using: DesktopBrowser())` opens the browser and waits for the redirect.
public struct DesktopBrowser: UserAgent {
  /// The programs with their arguments. They are tried in this order.
  private let commands: [[String]]
  private let path: [String]

  /// - Throws: `.unsupported` if there is no desktop, or no program that opens URLs. Then show the user the URL:
  ///   ``EnrollKit/EnrollClient/signIn(_:timeout:showing:confirming:)``.
  public init() throws(EnrollError) { try self.init(ProcessInfo.processInfo.environment) }

  /// - Parameter environment: the environment variables to use.
  init(_ environment: [String: String]) throws(EnrollError) {
    path = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map(String.init)
    let named = (environment["BROWSER"] ?? "").split(separator: ":")
      .map { $0.split(separator: " ").map(String.init) }.filter { !$0.isEmpty }
    let hasDesktop = environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil
    let isMac = FileManager.default.fileExists(atPath: "/System/Library/CoreServices")
    let usual = isMac ? [["/usr/bin/open"]] : hasDesktop ? [["xdg-open"]] : []
    let found = named.isEmpty ? usual : named
    if found.isEmpty {
      throw Self.absent("there is no desktop: neither DISPLAY nor WAYLAND_DISPLAY is set")
    }
    let path = self.path
    commands = found.filter { Self.program($0[0], path) != nil }
    if commands.isEmpty {
      throw Self.absent("none of these can be started: \(found.map { $0[0] }.joined(separator: ", "))")
    }
  }

  private static func absent(_ why: String) -> EnrollError {
    EnrollError(.unsupported, "\(why). Show the user the URL instead: client.signIn { url in … }")
  }

  private static func program(_ name: String, _ path: [String]) -> String? {
    let places = name.contains("/") ? [name] : path.map { "\($0)/\(name)" }
    return places.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Starts the browser, and does not wait until it is closed.
  /// - Returns: `.elsewhere`, since the redirect arrives at the client's listener; `.dismissed` if no program could be started.
  public func open(_ url: String, redirectURI: String?) async -> UserAgentAnswer {
    for command in commands {
      guard let program = Self.program(command[0], path) else { continue }
      let process = Process()
      process.executableURL = URL(fileURLWithPath: program)
      let words = command.dropFirst()
      let isNamed = words.contains { $0.contains("%s") }
      process.arguments =
        isNamed ? words.map { $0.replacingOccurrences(of: "%s", with: url) } : words + [url]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      if (try? process.run()) != nil { return .elsewhere }
    }
    return .dismissed
  }
}
