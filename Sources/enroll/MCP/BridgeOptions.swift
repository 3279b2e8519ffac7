// The options of a bridge, from the command line.

import EnrollMCP
import EnrollRules

struct BridgeOptions {
  /// What the bridge does if no user is signed in.
  enum SignInPolicy: String, CaseIterable {
    /// Opens the browser, and asks there before the first sign-in at an authorization server.
    case ask
    /// Opens the browser.
    case auto
    /// Opens no browser. The error names the command with which the user signs in.
    case never
  }

  /// The transport of the messages to the server.
  enum Transport: String, CaseIterable {
    /// Streamable HTTP; HTTP+SSE if the server does not support Streamable HTTP.
    case auto
    /// Streamable HTTP.
    case http
    /// HTTP+SSE (2024-11-05).
    case sse
  }

  static let usualWaitSeconds: Int64 = 50
  static let usualLongestMessage: Int64 = 64 << 20

  /// The URL of the MCP server.
  var url: String
  /// The resource of the tokens.
  var resource: String
  /// The server's name in messages, which is the host of its URL.
  var serverName: String
  var transport = Transport.auto
  var policy = SignInPolicy.ask
  var opensBrowser = true
  var usesDevice = false
  /// How long a request waits for a token, in seconds.
  var waitSeconds = Self.usualWaitSeconds
  var allowsLoopbackHTTP = false
  /// Headers of the user for each request.
  var headers: [HTTPHeader] = []
  /// The options of `enroll login` for the sign-in, except those that choose the browser or another device.
  var signInWords: [String] = []
  /// The tools that are hidden from the host.
  var hiddenTools: [NamePattern] = []
  /// The largest size of one message in bytes, in both directions.
  var longestMessage = Int(Self.usualLongestMessage)
  /// A file with the certificate authorities that are trusted instead of the system's.
  var certificateFile: String?

  func hides(_ tool: String) -> Bool { hiddenTools.contains { $0.matches(tool) } }
}
