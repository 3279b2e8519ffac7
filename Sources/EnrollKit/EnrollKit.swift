// The module that Swift programs import: `import EnrollKit` also imports every public type of the core. The file also
// has the text that Foundation shows for an error: the error's own message instead of "the operation could not be
// completed".

@_exported public import EnrollRules
@_exported public import EnrollSteps
@_exported public import EnrollCrypto
@_exported public import EnrollJSON

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension EnrollError: LocalizedError {
  /// The error's ``EnrollError/code`` and ``EnrollError/message``, in English, for developers. For users, choose your
  /// app's own text by ``EnrollError/messageKey``.
  public var errorDescription: String? { description }
}
