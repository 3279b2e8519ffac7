// The plugin's own file needs Apple's Security framework. This file has the same declarations, so that
// EnrollCalls.swift compiles against enroll.h.

import CEnroll

enum KeychainSecretStore {
  static func withStruct<Outcome>(_ body: (UnsafePointer<enroll_secret_store>) -> Outcome) -> Outcome {
    var secrets = enroll_secret_store()
    return withUnsafePointer(to: &secrets, body)
  }
}
