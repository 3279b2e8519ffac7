// Tests of an idle event loop, and of a loop to which the system gives no more descriptors.

@testable import EnrollHTTP
import Foundation
import Testing

@Suite struct LoopTests {
  private static let get = "GET / HTTP/1.1\r\nHost: gateway.test\r\n\r\n"

  @Test("a loop without connections has no tick, and one with connections has")
  func tick() throws {
    try withServer(TestApplication(), { $0.eventLoops = 2 }) { server in
      #expect(server.ticking == [false, false])
      var first = Wire(server.port)
      #expect(eventually { server.ticking == [true, false] })
      // Connections are given to the loops in turn.
      var second = Wire(server.port)
      #expect(eventually { server.ticking == [true, true] })
      first?.send(Self.get)
      #expect(first?.readAnswer()?.status == 200)
      #expect(server.ticking == [true, true])
      first = nil
      #expect(second?.isReadable(withinMilliseconds: 0) == false)
      second = nil
      #expect(eventually { server.ticking == [false, false] })
    }
  }

  @Test("without descriptors a connection waits, the loop rests, and the others are answered")
  func descriptors() async {
    // Runs in a separate process, because other tests open files.
    await #expect(processExitsWith: .success) {
      try withServer(TestApplication()) { server in
        let first = try #require(Wire(server.port))
        first.send(Self.get)
        #expect(first.readAnswer()?.status == 200)
        var limit = rlimit(rlim_cur: 256, rlim_max: 256)
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #expect(setrlimit(kind, &limit) == 0)
        // The number of this process's inherited descriptors is unknown, so the test takes all free descriptors.
        var spares: [Int32] = []
        while case let spare = open("/dev/null", O_RDONLY), spare >= 0 { spares.append(spare) }
        // Frees a descriptor for the client, but no descriptor for the server.
        close(spares.removeLast())
        let waiting = try #require(Wire(server.port))
        waiting.send(Self.get)
        #expect(eventually { server.metrics.refusals[.noDescriptor] ?? 0 > 0 })
        #expect(server.ticking == [true])
        for _ in 0..<1_000 {
          first.send(Self.get)
          #expect(first.readAnswer()?.status == 200)
        }
        // The loop tries once in each tick. Without this pause it would have tried thousands of times.
        #expect(server.metrics.refusals[.noDescriptor] ?? 0 < 100)
        close(spares.removeLast())
        #expect(waiting.readAnswer()?.status == 200)
      }
    }
  }

  @Test("a server that the system gives no descriptors says so, and leaves nothing behind")
  func noServer() async {
    await #expect(processExitsWith: .success) {
      let spare = open("/dev/null", O_RDONLY)
      let before = openSockets()
      var limit = rlimit(rlim_cur: rlim_t(spare), rlim_max: 1_024)
      let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      for room in 0..<9 {
        limit.rlim_cur = rlim_t(Int(spare) + room)
        #expect(setrlimit(kind, &limit) == 0)
        let settings = ServerSettings(publicOrigin: "http://gateway.test")
        do { try HTTPServer.start(settings, TestApplication()).stop() } catch {
          let error = try #require(error as? ServerError)
          #expect(error.setting == .system || error.setting == .addresses)
        }
      }
      limit.rlim_cur = 1_024
      #expect(setrlimit(kind, &limit) == 0)
      // A loop ends with its thread.
      #expect(eventually { openSockets() == before })
    }
  }

  @Test("idle connections need little memory each", .disabled(if: isSanitized, "a sanitizer needs more"))
  func idle() async {
    await #expect(processExitsWith: .success) {
      let isTorture = ProcessInfo.processInfo.environment["TORTURE"] == "1"
      let count = isTorture ? 5_000 : 400
      var limit = rlimit()
      let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      #expect(getrlimit(kind, &limit) == 0)
      limit.rlim_cur = limit.rlim_max
      #expect(setrlimit(kind, &limit) == 0)
      let change: (inout ServerSettings) -> Void = { $0.limits.connectionsPerAddress = 10_000 }
      try withServer(TestApplication(), change) { server in
        func connect(_ count: Int) throws -> [Wire] {
          try (0..<count).map { _ in
            let wire = try #require(Wire(server.port))
            wire.send(Self.get)
            #expect(wire.readAnswer()?.status == 200)
            return wire
          }
        }
        // The first connections are made before the measurement, because they cause allocations that happen only once.
        var wires = try connect(100)
        let before = try residentKibibytes()
        wires += try connect(count)
        // The measured memory includes the client's side of each connection.
        let each = Double(try residentKibibytes() - before) / Double(count)
        #expect(server.metrics.connectionsOpen == count + 100)
        #expect(each < 8)
      }
    }
  }
}

private let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

private func openSockets() -> Int {
  let folder = "/proc/self/fd/"
  let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  return files.count { file in
    (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + file))?.hasPrefix("socket:") ?? false
  }
}

private func residentKibibytes() throws -> Int {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
  return try #require(Int(line.split(separator: " ")[1]))
}
