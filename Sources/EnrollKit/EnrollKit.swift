// What Swift programs import: `import EnrollKit` brings every public type of the core with it. And what Foundation
// says of an error: its own message, not "the operation could not be completed".

@_exported public import EnrollCore
@_exported public import EnrollCrypto
@_exported public import EnrollJSON

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension EnrollError: LocalizedError {
  /// ``EnrollError/message``: English, for developers. For users, choose your app's own text by
  /// ``EnrollError/messageKey``.
  public var errorDescription: String? { description }
}
