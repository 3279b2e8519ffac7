// Sends single URLSession requests, and keeps the token at its origin: after a redirect to another origin, the request
// has neither Authorization nor DPoP, even if Foundation itself would keep these headers on this system. The class is a
// delegate, because Foundation asks only delegates about redirects.

import EnrollKit
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// An answer, the request that it answers, and whether redirects left the first origin.
struct GuardedAnswer: Sendable {
  let request: URLRequest
  let body: Data
  let response: HTTPURLResponse
  let hasLeftOrigin: Bool
}

/// The delegate of the URLSession. It is a class, because URLSession keeps a reference to its delegate.
final class RedirectGuard: NSObject, URLSessionDataDelegate {
  private struct Exchange {
    var request: URLRequest
    var body = Data()
    var hasLeftOrigin = false
    var isDone: CheckedContinuation<GuardedAnswer, any Error>
  }

  private let exchanges = Mutex<[Int: Exchange]>([:])

  func send(_ request: URLRequest, in session: URLSession) async throws -> GuardedAnswer {
    let task = session.dataTask(with: request)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { isDone in
        exchanges.withLock { $0[task.taskIdentifier] = Exchange(request: request, isDone: isDone) }
        task.resume()
      }
    } onCancel: {
      task.cancel()
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    var request = request
    // The proof is removed, because it is valid for one URL only.
    request.setValue(nil, forHTTPHeaderField: "DPoP")
    let first = try? TokenOrigin(task.originalRequest?.url)
    let next = try? TokenOrigin(request.url)
    let hasLeftOrigin = exchanges.withLock { exchanges in
      if first == nil || next != first { exchanges[task.taskIdentifier]?.hasLeftOrigin = true }
      return exchanges[task.taskIdentifier]?.hasLeftOrigin ?? true
    }
    if hasLeftOrigin { request.setValue(nil, forHTTPHeaderField: "Authorization") }
    let guarded = request
    exchanges.withLock { $0[task.taskIdentifier]?.request = guarded }
    completionHandler(request)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    exchanges.withLock { $0[dataTask.taskIdentifier]?.body.append(data) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let ended = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
    if let error {
      ended.isDone.resume(throwing: error)
    } else if let response = task.response as? HTTPURLResponse {
      ended.isDone.resume(
        returning: GuardedAnswer(
          request: ended.request, body: ended.body, response: response, hasLeftOrigin: ended.hasLeftOrigin))
    } else {
      ended.isDone.resume(throwing: URLError(.badServerResponse))
    }
  }
}
