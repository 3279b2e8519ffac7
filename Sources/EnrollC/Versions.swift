// The C functions that tell versions.

import CEnroll
import EnrollHost

private let versionString = PermanentText(LibraryVersion.string)

@_cdecl("enroll_abi_version") @implementation
public func enroll_abi_version() -> UInt32 { LibraryVersion.abi }

@_cdecl("enroll_version_string") @implementation
public func enroll_version_string() -> UnsafePointer<CChar>! { versionString.pointer }
