// The text format of Prometheus, version 0.0.4 (Prometheus, Exposition formats).

/// Writes metrics as text.
struct MetricsText {
  private(set) var text = ""

  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// Writes all samples of one metric. Without samples, writes nothing.
  mutating func write(_ metric: Metric, _ samples: [MetricSample]) {
    guard !samples.isEmpty else { return }
    head(metric)
    for sample in samples {
      line(metric.rawValue, zip(metric.labels, sample.labels).map { ($0, $1) }, sample.value)
    }
  }

  mutating func write(_ metric: Metric, _ histograms: [Histogram]) {
    head(metric)
    for histogram in histograms {
      let labels = Array(zip(metric.labels, histogram.labels))
      let (counts, seconds) = histogram.reading
      for (place, count) in counts.enumerated() {
        let bound = place < Histogram.bounds.count ? Self.number(Histogram.bounds[place]) : "+Inf"
        line(metric.rawValue + "_bucket", labels + [("le", bound)], Double(count))
      }
      line(metric.rawValue + "_sum", labels, seconds)
      line(metric.rawValue + "_count", labels, Double(counts.last ?? 0))
    }
  }

  private mutating func head(_ metric: Metric) {
    text += "# HELP \(metric.rawValue) \(Self.escaped(metric.help, quotes: false))\n"
    text += "# TYPE \(metric.rawValue) \(metric.kind.rawValue)\n"
  }

  private mutating func line(_ name: String, _ labels: [(String, String)], _ value: Double) {
    let told = labels.map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }.joined(separator: ",")
    text += told.isEmpty ? name : "\(name){\(told)}"
    text += " \(Self.number(value))\n"
  }

  /// Writes a whole number without a fraction.
  private static func number(_ value: Double) -> String {
    Int64(exactly: value).map { String($0) } ?? String(value)
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
