// The shared libraries that are opened when they are first needed: Sources/CPosix/libraries.h names them for each
// system. The file includes nothing, so the compiler can read it for systems whose headers are missing on this machine.

import Expectations
import Foundation
import Testing

/// The macros of libraries.h for the system of `triple`, by name, without quotes.
private func names(for triple: String) throws -> [String: String] {
  let header = Repository.top.appendingPathComponent("Sources/CPosix/libraries.h")
  let compiler = Process()
  let output = Pipe()
  compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  compiler.arguments = ["clang", "--target=\(triple)", "-E", "-dM", header.path]
  compiler.standardOutput = output
  try compiler.run()
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  compiler.waitUntilExit()
  try #require(compiler.terminationStatus == 0)
  var found: [String: String] = [:]
  for line in text.split(separator: "\n") where line.hasPrefix("#define ENROLL_POSIX_LIB") {
    let words = line.split(separator: " ", maxSplits: 2)
    if words.count == 3 { found[String(words[1])] = words[2].trimmingCharacters(in: ["\""]) }
  }
  // The value of a macro may be the name of another macro.
  return found.mapValues { found[$0] ?? $0 }
}

@Suite("Each system names the shared libraries that are opened")
struct LibraryNameTests {
  private static let linux = "x86_64-unknown-linux-gnu"

  @Test(
    "every back end has each name and each advice, in its system's form",
    arguments: [
      (linux, #"^lib[a-z0-9-]+\.so\.[0-9]+$"#),
      ("aarch64-unknown-linux-musl", #"^lib[a-z0-9-]+\.so\.[0-9]+$"#),
      // An Android app's package may contain only libraries with such names.
      ("aarch64-unknown-linux-android24", #"^lib[a-z0-9_-]+\.so$"#),
      // A name without a folder would also be searched for in the working directory.
      ("arm64-apple-ios18.0", #"^(@rpath|/usr/lib)/lib[a-z0-9.-]+\.dylib$"#),
      ("arm64-apple-macos15.0", #"^(@rpath|/usr/lib)/lib[a-z0-9.-]+\.dylib$"#),
    ])
  func complete(triple: String, form: String) throws {
    let found = try names(for: triple)
    #expect(Set(found.keys) == Set(try names(for: Self.linux).keys))
    for (name, value) in found where !name.hasSuffix("_ADVICE") {
      #expect(value.contains(try Regex(form)), "\(name) is \(value) for \(triple)")
    }
  }

  @Test("no Swift file names a shared library: libraries.h does")
  func unnamed() throws {
    let sources = Repository.top.appendingPathComponent("Sources")
    let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter {
      $0.hasSuffix(".swift")
    }
    #expect(!files.isEmpty)
    for file in files {
      let text = try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
      #expect(!text.contains(try Regex(#""[^"\n]*lib[\w-]+\.(so|[0-9.]*dylib)[^"\n]*""#)), "\(file)")
    }
  }
}
