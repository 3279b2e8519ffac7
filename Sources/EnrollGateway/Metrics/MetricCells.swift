// The storage of metrics: one atomic integer for each value, without a lock.

import Synchronization

/// A counter or gauge for any thread.
final class MetricCell: Sendable {
  private let value = Atomic<Int>(0)

  func add(_ amount: Int = 1) { value.wrappingAdd(amount, ordering: .relaxed) }
  func set(_ amount: Int) { value.store(amount, ordering: .relaxed) }
  var reading: Int { value.load(ordering: .relaxed) }
}

/// A counter with labels; all combinations of labels are known at the start.
struct CounterTable: Sendable {
  let metric: Metric
  let labels: [[String]]
  private let cells: [MetricCell]

  init(_ metric: Metric, _ labels: [[String]]) {
    self.metric = metric
    self.labels = labels
    cells = labels.map { _ in MetricCell() }
  }

  func add(_ place: Int, _ amount: Int = 1) {
    guard cells.indices.contains(place) else { return }
    cells[place].add(amount)
  }

  func samples(withZeros: Bool = true) -> [MetricSample] {
    zip(labels, cells).compactMap { labels, cell in
      let count = cell.reading
      return count == 0 && !withZeros ? nil : MetricSample(metric, labels, Double(count))
    }
  }
}

/// A histogram of durations.
struct Histogram: Sendable {
  let metric: Metric
  let labels: [String]
  private let cells: [MetricCell]
  private let nanoseconds = MetricCell()

  /// Bucket bounds in seconds: from an answer that waits for nothing to an answer of the slowest provider.
  static let bounds: [Double] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  init(_ metric: Metric, _ labels: [String] = []) {
    self.metric = metric
    self.labels = labels
    cells = (0...Self.bounds.count).map { _ in MetricCell() }
  }

  func add(nanoseconds time: Int64) {
    let seconds = Double(time) / 1_000_000_000
    cells[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count].add()
    nanoseconds.add(Int(max(0, time)))
  }

  /// Cumulative counts, as the text format requires; the last count is the total.
  var reading: (counts: [Int], seconds: Double) {
    var sum = 0
    let counts = cells.map { cell in
      sum += cell.reading
      return sum
    }
    return (counts, Double(nanoseconds.reading) / 1_000_000_000)
  }
}
