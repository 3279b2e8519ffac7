// Short names for what C hands in and takes out, so that a function reads like its line in the header.

public import CEnroll

/// Text in: never believed before TextInput looked at it.
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
