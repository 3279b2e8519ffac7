// What the command line says about a bridge.

import EnrollMCP
import EnrollRules

struct BridgeOptions {
  /// The reaction of the bridge if no user is signed in.
  enum SignInPolicy: String, CaseIterable {
    /// Opens the browser, and asks there before the first sign-in at an authorization server.
    case ask
    /// Opens the browser.
    case auto
    /// The error names the command.
    case never
  }

  /// How messages go to the server.
  enum Transport: String, CaseIterable {
    /// Streamable HTTP, and HTTP+SSE if the server does not take that.
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
  /// What the server is called in messages: its host.
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
  /// The options of `enroll login` for the sign-in, without the way.
  var signInWords: [String] = []
  /// The tools that the host does not see.
  var hiddenTools: [NamePattern] = []
  /// The most bytes of one message, in both directions.
  var longestMessage = Int(Self.usualLongestMessage)
  /// The certificates to trust instead of the system's.
  var certificateFile: String?

  func hides(_ tool: String) -> Bool { hiddenTools.contains { $0.matches(tool) } }
}
