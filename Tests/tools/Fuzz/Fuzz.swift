// The functions that libFuzzer calls (https://llvm.org/docs/LibFuzzer.html). All targets are in one program;
// the environment variable ENROLL_FUZZ_TARGET selects one. A target ends the program if a parser breaks a
// promise.

import Glibc

/// One parser, or several that read the same input.
struct Target: Sendable {
  let name: String
  let run: @Sendable ([UInt8]) -> Void

  init(_ name: String, _ run: @escaping @Sendable ([UInt8]) -> Void) {
    self.name = name
    self.run = run
  }

  static let all: [Target] =
    spellings + json + daemon + links + answers + identity + profile + resource + http + configuration + store

  /// The target of this process.
  static let chosen: Target = {
    let name = getenv("ENROLL_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = all.first(where: { $0.name == name }) else {
      // Prints the list, for the script that runs all targets.
      for target in all { print(target.name) }
      exit(name.isEmpty ? 0 : 2)
    }
    return target
  }()
}

@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?) -> CInt {
  _ = Target.chosen
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  Target.chosen.run(Array(UnsafeBufferPointer(start: data, count: count)))
  return 0
}

/// Ends the program if the parser under test has broken this promise.
func require(_ isKept: Bool, _ promise: StaticString) {
  guard !isKept else { return }
  let line = Array("broken promise: \(promise)\n".utf8)
  _ = write(2, line, line.count)
  abort()
}

/// The text of an input; nil if the bytes are not UTF-8, because a String can only hold UTF-8.
func text(_ bytes: [UInt8]) -> String? { String(validating: bytes, as: UTF8.self) }
