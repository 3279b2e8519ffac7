// Short names for the types of parameters, so that a function here looks like its declaration in the C header. Also the
// functions that protect the host's own memory.

public import CEnroll
import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollPosix

/// A text parameter. TextInput checks it before use.
public typealias TextIn = UnsafePointer<CChar>
/// A handle: a number, never dereferenced.
public typealias Handle = OpaquePointer
public typealias HandleOut = UnsafeMutablePointer<OpaquePointer?>
public typealias UserData = UnsafeMutableRawPointer
public typealias ErrorOut = UnsafeMutablePointer<enroll_error>
public typealias BufferOut = UnsafeMutablePointer<enroll_buf>
public typealias StateOut = UnsafeMutablePointer<enroll_state>
public typealias AccessOut = UnsafeMutablePointer<enroll_access>
public typealias TransactionOut = UnsafeMutablePointer<enroll_transaction>
public typealias Int64Out = UnsafeMutablePointer<Int64>
public typealias Int32Out = UnsafeMutablePointer<Int32>

@_cdecl("enroll_wipe") @implementation
public func enroll_wipe(_ memory: UnsafeMutableRawPointer?, _ size: Int) {
  guard let memory, size > 0 else { return }
  Wipe.bytes(UnsafeMutableRawBufferPointer(start: memory, count: size))
}

@_cdecl("enroll_hide_memory") @implementation
public func enroll_hide_memory(_ error: ErrorOut?) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in try ProcessMemory.hide() }
}
