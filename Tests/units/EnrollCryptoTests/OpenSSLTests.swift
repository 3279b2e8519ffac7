// Tests of loading libcrypto if it is missing or unusable: the result must be an error that says what is missing, not a
// crash.

import Expectations
import Testing

@testable import EnrollCrypto

private func refusal(_ fileName: String) -> CryptoError? {
  if case .failure(let error) = OpenSSL.open(fileName) { error } else { nil }
}

@Suite("libcrypto is opened on first use")
struct OpenSSLTests {
  @Test("where it is not installed, the error names the file and its package, and says why")
  func missing() {
    let error = refusal("libcrypto-nowhere.so.3")
    expect(error?.reason, is: .missing)
    expect(error?.message.contains("libcrypto-nowhere.so.3"), is: true)
    expect(error?.message.contains("libssl3"), is: true)
    expect(error?.message.contains("No such file or directory"), is: true)
  }

  @Test("a library without the functions that are needed is refused, and the first one is named")
  func incomplete() {
    let error = refusal("libc.so.6")
    expect(error?.reason, is: .missing)
    expect(error?.message, is: "libc.so.6 is not OpenSSL 3: it has no BN_bin2bn")
  }

  @Test("all functions are there in the one that is installed")
  func complete() throws {
    _ = try OpenSSL.functions()
    expect(refusal(OpenSSL.fileName), is: nil)
  }
}
