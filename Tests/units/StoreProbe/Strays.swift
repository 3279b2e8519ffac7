// A host that writes to its standard descriptors although they are closed. The next files that are opened
// would get the numbers 0, 1 and 2, and the host would write its log into them.

@testable import EnrollStore
import CPosix
import EnrollRules
import EnrollHost
import EnrollPosix
import EnrollTesting
import Synchronization

/// Saves while another thread writes to the descriptors 0 to 2.
struct Strays {
  let orders: Orders

  /// Prints how many saves there were, how many of them were lost, and how many of the three numbers the
  /// library used.
  func run(saves: Int) throws(EnrollError) {
    let answers = dup2(1, 100)
    for number in 0..<Int32(3) { close(number) }
    let isOver = Atomic<Bool>(false)
    let pool = WorkerPool(threads: 1)
    _ = pool.submit {
      let line = Array("a line of the host's log\n".utf8)
      while !isOver.load(ordering: .relaxed) {
        for number in 0..<Int32(3) { _ = write(number, line, line.count) }
      }
    }
    var lost = 0
    var taken = 0
    var failure = ""
    do throws(EnrollError) {
      let store = try orders.openStore()
      for number in 1...saves {
        try store.update(.default) { $0.registrationType = "\(number)" }
        let found = try? orders.openStore().read(.default)
        if found?.registrationType != "\(number)" { lost += 1 }
      }
      let queue = try PolledQueue()
      withExtendedLifetime((store, queue)) {
        var status = stat()
        taken = (0..<Int32(3)).count { fstat($0, &status) == 0 }
      }
    } catch {
      failure = ", \(error.code.name)"
    }
    isOver.store(true, ordering: .relaxed)
    pool.drain()
    dup2(answers, 1)
    say("saved \(saves), lost \(lost), taken \(taken)\(failure)")
  }
}
