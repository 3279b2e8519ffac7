// Callbacks that run on the threads of a host with an event loop.

public import CEnroll
import EnrollRules
import EnrollHost
import EnrollPosix

extension PolledQueue {
  static let table = HandleTable<PolledQueue>(kind: 5)

  /// - Throws: `.handle`, `.forked`.
  static func find(_ pointer: Handle?) throws(EnrollError) -> PolledQueue {
    guard let queue = table.object(UInt(bitPattern: pointer)) else { throw unknownQueue }
    try queue.requireUsable()
    return queue
  }

  fileprivate static var unknownQueue: EnrollError {
    EnrollError(.handle, "the queue is NULL, was freed, or never was one", field: "queue")
  }
}

@_cdecl("enroll_queue_new") @implementation
public func enroll_queue_new(_ queue: HandleOut?, _ error: ErrorOut?) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let output = try require(queue, "queue")
    guard let number = PolledQueue.table.insert(try PolledQueue()) else {
      throw EnrollError(.busy, "too many queues are open")
    }
    output.pointee = OpaquePointer(bitPattern: number)
  }
}

@_cdecl("enroll_queue_descriptor") @implementation
public func enroll_queue_descriptor(
  _ queue: Handle?, _ descriptor: Int32Out?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let queue = try PolledQueue.find(queue)
    try require(descriptor, "descriptor").pointee = queue.descriptor
  }
}

@_cdecl("enroll_queue_dispatch") @implementation
public func enroll_queue_dispatch(
  _ queue: Handle?, _ count: UnsafeMutablePointer<Int>?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let queue = try PolledQueue.find(queue)
    guard !HostCode.mark.isSet else {
      throw EnrollError(.reentrant, "a host's callback cannot run the callbacks of others")
    }
    let ran = try queue.dispatch()
    count?.pointee = ran
  }
}

@_cdecl("enroll_queue_free") @implementation
public func enroll_queue_free(_ queue: Handle?) -> enroll_status {
  guard let queue else { return ENROLL_OK }
  return reporting(to: nil) { () throws(EnrollError) in
    guard let removed = PolledQueue.table.remove(UInt(bitPattern: queue)) else {
      throw PolledQueue.unknownQueue
    }
    removed.retire()
  }
}
