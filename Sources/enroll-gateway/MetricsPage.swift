// `GET /metrics` on the configured address: all values come from memory, except those from /proc.

import CPosix
import EnrollRules
import EnrollGateway
import EnrollHTTP
import EnrollHost
import EnrollPosix

/// Answers requests on the address of the metrics.
final class MetricsPage: WebApplication {
  private let gateway: Gateway
  private let server: HTTPServer
  private let log: GatewayLog
  private let files: OpenFiles
  private let started: UnixTime

  static let path = "/metrics"
  static let mostConnections = 64

  init(
    _ gateway: Gateway, _ server: HTTPServer, _ log: GatewayLog, _ files: OpenFiles,
    startedAt started: UnixTime
  ) {
    self.gateway = gateway
    self.server = server
    self.log = log
    self.files = files
    self.started = started
  }

  /// Requests are few, so they are answered on the event loop.
  func lane(for request: inout WebRequest) -> Lane { .here }

  func answer(_ request: WebRequest) -> WebResponse {
    guard ASCII.equals(request.path, Self.path) else { return WebResponse(404) }
    return gateway.metricsAnswer(with: hosted + ProcessFigures.samples(fileLimit: files.limit))
  }

  private var hosted: [MetricSample] {
    let now = server.metrics
    var samples = [
      MetricSample(.connectionsAccepted, [], Double(now.connectionsAccepted)),
      MetricSample(.connections, [], Double(now.connectionsOpen)),
      MetricSample(.logDropped, [], Double(log.dropCount)),
      MetricSample(.build, [LibraryVersion.string], 1),
      MetricSample(.processStart, [], Double(started.seconds)),
    ]
    for reason in Refusal.allCases {
      samples.append(MetricSample(.refusals, [reason.rawValue], Double(now.refusals[reason] ?? 0)))
    }
    for (lane, load) in [("database", now.database), ("provider", now.provider)] {
      samples.append(MetricSample(.workerQueue, [lane], Double(load.waiting)))
      samples.append(MetricSample(.workerThreads, [lane], Double(load.threads)))
    }
    return samples
  }
}

/// The system's figures about this process (proc(5)).
enum ProcessFigures {
  static func samples(fileLimit: Int) -> [MetricSample] {
    var samples = [MetricSample(.processFileLimit, [], Double(fileLimit))]
    if let open = openFiles { samples.append(MetricSample(.processFiles, [], Double(open))) }
    // The fields begin after the program's name, which may contain blanks and parentheses.
    guard let stat = read("/proc/self/stat"), let end = stat.utf8.lastIndex(of: 0x29) else {
      return samples
    }
    let fields = stat.utf8[stat.utf8.index(after: end)...].split(separator: 0x20).map {
      String(Substring($0))
    }
    let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    let page = Double(max(1, sysconf(Int32(_SC_PAGESIZE))))
    // Fields 14, 15 and 24 of proc(5); `fields` begins with the third field.
    guard fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
      let pages = Double(fields[21])
    else { return samples }
    samples.append(MetricSample(.processCPU, [], (user + system) / ticks))
    samples.append(MetricSample(.processMemory, [], pages * page))
    return samples
  }

  private static var openFiles: Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // Do not count `.`, `..` and the descriptor of this folder.
    return max(0, count - 3)
  }

  private static func read(_ path: String) -> String? {
    let fd = enroll_posix_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard fd >= 0 else { return nil }
    defer { close(fd) }
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while all.count < 1 << 20 {
      let count = buffer.withUnsafeMutableBytes { CPosix.read(fd, $0.baseAddress, $0.count) }
      guard count > 0 else { break }
      all.append(contentsOf: buffer[..<count])
    }
    return String(decoding: all, as: UTF8.self)
  }
}
