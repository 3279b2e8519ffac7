// The event loops of a host, each with its connections and its timer.

import NIOCore
import NIOPosix

/// Reaches each loop's roster from any thread, by going to that loop.
struct HostLoops: Sendable {
  private let rosters: [ObjectIdentifier: NIOLoopBound<ConnectionRoster>]
  private let timers: [RepeatedTask]

  init(_ group: MultiThreadedEventLoopGroup, _ limits: HostLimits) throws {
    // A timeout is noticed late by a quarter of the shortest one, and by a second at most.
    let shortest = min(
      limits.headerTimeoutMilliseconds, limits.bodyTimeoutMilliseconds, limits.idleTimeoutMilliseconds,
      limits.lingerMilliseconds)
    let period = TimeAmount.milliseconds(min(max(shortest / 4, 5), 1_000))
    var rosters: [ObjectIdentifier: NIOLoopBound<ConnectionRoster>] = [:]
    var timers: [RepeatedTask] = []
    for loop in group.makeIterator() {
      let roster = try loop.submit { NIOLoopBound(ConnectionRoster(), eventLoop: loop) }.wait()
      rosters[ObjectIdentifier(loop)] = roster
      timers.append(
        loop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in roster.value.tick() })
    }
    self.rosters = rosters
    self.timers = timers
  }

  /// Called on `loop`.
  func roster(of loop: any EventLoop) -> ConnectionRoster? { rosters[ObjectIdentifier(loop)]?.value }

  /// Runs `body` on every loop, and returns once all have.
  func forEach(_ body: @escaping @Sendable (ConnectionRoster) -> Void) {
    for roster in rosters.values {
      try? roster.eventLoop.submit { body(roster.value) }.wait()
    }
  }

  func end() {
    for timer in timers { timer.cancel() }
  }
}
