// What stands for the folder Curl in a library that is built with HTTP=host: there is no libcurl, neither its header when
// it is built nor the library when it runs. The host brings a transport.

import EnrollCore

/// Cannot be opened.
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

/// Never made: there is no library for it.
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
