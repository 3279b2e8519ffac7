// A PostgreSQL server for the tests, run by the script beside this file; it stops when the tests' process
// ends.

import EnrollGateway
import Foundation
import Testing

@testable import EnrollGatewayStore

final class PostgreSQLServer: Sendable {
  static let isInstalled =
    ((try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []).isEmpty == false
  static let absence: Comment =
    "PostgreSQL is not installed (Debian package postgresql): its half was skipped"

  /// The server that most tests share; each test has its own schema in it.
  static let shared = Result { try PostgreSQLServer() }

  let port: UInt16
  let conninfo: String
  private let folder: URL
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("postgres").path

  struct ScriptFailure: Error {
    var words: [String]
    var said: String
  }

  init() throws {
    let port = try Self.freePort()
    self.port = port
    conninfo = "host=127.0.0.1 port=\(port) user=gateway dbname=postgres"
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "enroll-postgres-\(getpid())-\(port)")
    try start()
  }

  func start() throws { try run("start", folder.path, "\(port)", "\(getpid())") }
  /// Kills the server, as a power cut would.
  func kill() throws { try run("kill", folder.path) }
  func stop() throws { try run("stop", folder.path) }

  private func run(_ words: String...) throws {
    let process = Process()
    let said = Pipe()
    process.executableURL = URL(fileURLWithPath: Self.script)
    process.arguments = words
    process.standardError = said
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let text = said.fileHandleForReading.availableData
      throw ScriptFailure(words: words, said: String(decoding: text, as: UTF8.self))
    }
  }

  /// A port of 127.0.0.1 at which no program listens.
  static func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    try #require(isBound)
    return UInt16(bigEndian: address.sin_port)
  }
}
