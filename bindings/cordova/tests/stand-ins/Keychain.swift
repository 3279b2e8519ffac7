// The plugin's own needs Apple's Security; this has its shape, so that EnrollCalls.swift can be held against enroll.h.

import CEnroll

enum KeychainSecretStore {
  static func withStruct<Outcome>(_ body: (UnsafePointer<enroll_secret_store>) -> Outcome) -> Outcome {
    var secrets = enroll_secret_store()
    return withUnsafePointer(to: &secrets, body)
  }
}
