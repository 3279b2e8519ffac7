// Reserves the port of a loopback redirect URI while a server registers the URI: nobody could sign in if another
// program used the port.

import EnrollRules

extension LoopbackListener {
  /// Listens on the port that a loopback redirect URI names, before the URI is sent to a server.
  /// - Returns: nil for any other redirect URI. Also nil if this machine cannot listen there although no other program
  ///   uses the port: the browser may run on another machine or device.
  /// - Throws: `.busy`, for example if another program uses the port.
  static func reservingPort(of redirectURI: String) throws(EnrollError) -> LoopbackListener? {
    guard let url = try? StrictURL(redirectURI), url.kind == .loopbackHTTP, url.port != nil else {
      return nil
    }
    do throws(EnrollError) {
      return try LoopbackListener(redirectURI: redirectURI)
    } catch {
      guard error.code != .busy else { throw error }
      return nil
    }
  }
}
