// What the command line says about a bridge.

import EnrollRules

struct BridgeOptions {
  /// How a missing session is answered.
  enum SignInPolicy: String, CaseIterable {
    /// Opens the browser, and asks there before the first sign-in at an authorization server.
    case ask
    /// Opens the browser.
    case auto
    /// The error names the command.
    case never
  }

  static let usualWaitSeconds: Int64 = 50

  /// The URL of the MCP server.
  var url: String
  /// The resource of the tokens.
  var resource: String
  /// What the server is called in messages: its host.
  var serverName: String
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
  /// The certificates to trust instead of the system's.
  var certificateFile: String?
}
