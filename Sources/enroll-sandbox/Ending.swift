// Waits for the events that end the program: a signal, or the end of stdin.

import Dispatch
import Foundation

enum Ending {
  /// Returns at SIGINT or SIGTERM; with `orStdin` at the end of stdin as well.
  static func wait(orStdin: Bool) async {
    let (endings, continuation) = AsyncStream.makeStream(of: Void.self)
    var sources: [any DispatchSourceProtocol] = []
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield() }
      source.resume()
      sources.append(source)
    }
    if orStdin {
      let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
      source.setEventHandler {
        var bytes = [UInt8](repeating: 0, count: 4096)
        if read(STDIN_FILENO, &bytes, bytes.count) <= 0 { continuation.yield() }
      }
      source.resume()
      sources.append(source)
    }
    for await _ in endings { break }
    for source in sources { source.cancel() }
  }
}
