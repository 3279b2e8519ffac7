@testable import EnrollHost
import EnrollPosix
import EnrollTesting
import Testing

/// Tests of waiting for libcurl, which may be loaded from a slow disk.
@Suite(.timeLimit(.minutes(10))) struct LibraryLoadingTests {
  @Test("who waits for the library goes on when it is there")
  func there() {
    let loading = LibraryLoading()
    let loaded = Event()
    loading.start { loaded.set() }
    loading.wait(cancellation: CancellationFlag())
    #expect(loaded.isSet)
  }

  @Test("who waits for the library goes on when the wait is cancelled, and one thread loads at a time")
  func cancelled() {
    let loading = LibraryLoading()
    let (began, mayEnd, second) = (Event(), Event(), Event())
    loading.start {
      began.set()
      mayEnd.wait()
    }
    loading.start { second.set() }
    began.wait()
    let cancellation = CancellationFlag()
    let left = Event()
    #expect(
      BackgroundThread.start {
        loading.wait(cancellation: cancellation)
        left.set()
      })
    #expect(!left.isSet)
    cancellation.cancel()
    left.wait()
    mayEnd.set()
    loading.wait(cancellation: CancellationFlag())
    #expect(!second.isSet)
  }

  @Test("nobody waits for a library that no thread loads")
  func none() {
    LibraryLoading().wait(cancellation: CancellationFlag())
  }
}
