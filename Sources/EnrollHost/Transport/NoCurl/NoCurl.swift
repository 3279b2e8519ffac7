// Replaces the folder Curl in a library that is built with HTTP=host. Such a library needs neither libcurl's header nor
// libcurl itself: the host provides a transport.

import EnrollRules
import EnrollSteps

/// Replaces the type of this name in builds without libcurl. The library can never be opened.
final class CurlLibrary: Sendable {
  static let fileNames: [String] = []

  private init() {}

  static func load(_ fileNames: [String]) {}

  /// - Throws: `.unsupported`.
  static func open(_ fileNames: [String]) throws(EnrollError) -> CurlLibrary {
    throw EnrollError(
      .unsupported,
      "this library was built without HTTP of its own (HTTP=host): open the client with a transport")
  }
}

/// Never created, because no library can be opened.
final class CurlSession: Sendable {
  private let library: CurlLibrary

  init(_ library: CurlLibrary) { self.library = library }

  func run(
    _ request: HTTPRequest, headerLines: [String], target: RequestTarget, options: CurlTransport.Options,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    throw EnrollError(.unsupported, "there is no libcurl")
  }
}
