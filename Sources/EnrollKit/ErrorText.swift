// What Foundation says of an error: its own message, not "the operation could not be completed".

public import EnrollCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension EnrollError: LocalizedError {
  /// ``EnrollError/message``: English, for developers. Your app has the texts for users, by ``EnrollError/messageKey``.
  public var errorDescription: String? { description }
}
