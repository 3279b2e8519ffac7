// Functions for the host's own memory that holds secrets.

public import CEnroll
import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollPosix

@_cdecl("enroll_wipe") @implementation
public func enroll_wipe(_ memory: UnsafeMutableRawPointer?, _ size: Int) {
  guard let memory, size > 0 else { return }
  Wipe.bytes(UnsafeMutableRawBufferPointer(start: memory, count: size))
}

@_cdecl("enroll_hide_memory") @implementation
public func enroll_hide_memory(_ error: ErrorOut?) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in try ProcessMemory.hide() }
}
