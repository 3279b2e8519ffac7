// A private certificate authority, made with the openssl command, and an HTTPS server that presents one of its
// certificates.

import Expectations
import Foundation

/// Two certificate authorities. The first has signed a good certificate, a certificate for another host, and a
/// certificate that has expired.
final class Certificates: Sendable {
  enum Kind: String {
    case good, otherHost, expired
    /// The certificate of the other authority itself.
    case stranger
  }

  /// The certificates for all tests. They are made once in a test run.
  static let shared = Result { try Certificates() }

  private let folder: URL
  /// The authority that signed the certificates.
  var authority: String { folder.appending(path: "ca.pem").path }
  /// Another authority.
  var stranger: String { folder.appending(path: "stranger.pem").path }

  func chain(_ kind: Kind) -> String { folder.appending(path: "\(kind.rawValue).pem").path }
  func key(_ kind: Kind) -> String { folder.appending(path: "\(kind.rawValue).key").path }

  private init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "enroll-tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["ca", "stranger"] {
      try openssl(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=\(name) "
          + "-addext basicConstraints=critical,CA:TRUE -keyout \(name).key -out \(name).pem")
    }
    try issue(.good, "IP:127.0.0.1,DNS:localhost", "20200101000000Z", "20491231235959Z")
    try issue(.otherHost, "DNS:other.example", "20200101000000Z", "20491231235959Z")
    try issue(.expired, "IP:127.0.0.1", "20200101000000Z", "20210101000000Z")
    let folder = self.folder
    CleanUp.add { try? FileManager.default.removeItem(at: folder) }
  }

  private func issue(_ kind: Kind, _ names: String, _ from: String, _ until: String) throws {
    let name = kind.rawValue
    let configuration = """
      [ca]
      default_ca=x
      [x]
      database=\(name).db
      new_certs_dir=.
      rand_serial=yes
      default_md=sha256
      policy=p
      x509_extensions=e
      [p]
      commonName=supplied
      [e]
      subjectAltName=\(names)
      """
    try Data(configuration.utf8).write(to: folder.appending(path: "\(name).cnf"))
    try Data().write(to: folder.appending(path: "\(name).db"))
    try openssl(
      "req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=\(name) -keyout \(name).key -out \(name).csr"
    )
    try openssl(
      "ca -batch -notext -config \(name).cnf -cert ca.pem -keyfile ca.key -in \(name).csr -out \(name).pem "
        + "-startdate \(from) -enddate \(until)")
  }

  private func openssl(_ arguments: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments.split(separator: " ").map(String.init)
    process.currentDirectoryURL = folder
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw TestServerFailure(message: "openssl \(arguments) failed")
    }
  }
}

struct TestServerFailure: Error {
  var message: String
}

/// Actions for the end of the test process.
enum CleanUp {
  private static let actions = LockedActions()

  static func add(_ action: @escaping @Sendable () -> Void) { actions.add(action) }

  private final class LockedActions: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [@Sendable () -> Void] = []

    init() { atexit { CleanUp.actions.run() } }
    func add(_ action: @escaping @Sendable () -> Void) { lock.withLock { list.append(action) } }
    func run() { for action in lock.withLock({ list }) { action() } }
  }
}

/// A server that runs until this object is released.
final class TLSServer: @unchecked Sendable {
  // Unchecked: the process is only started and ended here.
  let port: Int
  private let process = Process()
  private let input = Pipe()

  /// - Parameter body: the body of every response; if it is nil, the body has the number of the connection and the
  ///   number of the request.
  init(
    _ certificates: Certificates, _ kind: Certificates.Kind, answering body: String? = nil,
    wantsClientCertificate: Bool = false
  ) throws {
    // The script is in the folder with the other suites' Python files, because Python writes cache files
    // beside a script.
    let script = Repository.top.appending(path: "Tests/faces/Support/tls_server.py").path
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["python3", script, certificates.chain(kind), certificates.key(kind)]
      + (wantsClientCertificate ? ["--mutual"] : []) + (body.map { [$0] } ?? [])
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw TestServerFailure(message: "the TLS server did not start")
    }
    self.port = port
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  func url(_ path: String = "/") -> String { "https://127.0.0.1:\(port)\(path)" }
}
