// All metrics as one table, which `/metrics` exposes and docs/gateway/operating.md shows. No label contains text of a request:
// values are names of this program or of the configuration.

import EnrollHTTP

/// A metric of the gateway.
public enum Metric: String, CaseIterable, Sendable {
  case requests = "enroll_gateway_requests_total"
  case requestSeconds = "enroll_gateway_request_duration_seconds"
  case connectionsAccepted = "enroll_gateway_connections_total"
  case connections = "enroll_gateway_open_connections"
  case refusals = "enroll_gateway_refusals_total"
  case workerQueue = "enroll_gateway_worker_queue"
  case workerThreads = "enroll_gateway_worker_threads"
  case providerCalls = "enroll_gateway_provider_calls_total"
  case providerSeconds = "enroll_gateway_provider_call_duration_seconds"
  case databaseCalls = "enroll_gateway_database_calls_total"
  case databaseSeconds = "enroll_gateway_database_call_duration_seconds"
  case databaseUp = "enroll_gateway_database_up"
  case signIns = "enroll_gateway_sign_ins_total"
  case sessionsBegun = "enroll_gateway_sessions_begun_total"
  case sessionsEnded = "enroll_gateway_sessions_ended_total"
  case mails = "enroll_gateway_mails_total"
  case mailsWaiting = "enroll_gateway_mails_waiting"
  case limits = "enroll_gateway_limits_total"
  case limitsAlone = "enroll_gateway_limits_alone_total"
  case auditEntries = "enroll_gateway_audit_entries_total"
  case logDropped = "enroll_gateway_log_lines_dropped_total"
  case keys = "enroll_gateway_keys"
  case keyAge = "enroll_gateway_key_age_seconds"
  case build = "enroll_gateway_build_info"
  case processStart = "process_start_time_seconds"
  case processMemory = "process_resident_memory_bytes"
  case processCPU = "process_cpu_seconds_total"
  case processFiles = "process_open_fds"
  case processFileLimit = "process_max_fds"

  public enum Kind: String, Sendable { case counter, gauge, histogram }

  /// The kind of the metric. It matches the end of the metric's name (Prometheus, Metric and label naming).
  public var kind: Kind {
    switch self {
    case .requestSeconds, .providerSeconds, .databaseSeconds: .histogram
    case .connections, .workerQueue, .workerThreads, .databaseUp, .mailsWaiting, .keys, .keyAge, .build,
      .processStart, .processMemory, .processFiles, .processFileLimit:
      .gauge
    default: .counter
    }
  }

  public var labels: [String] {
    switch self {
    case .requests: ["route", "status"]
    case .requestSeconds, .workerQueue, .workerThreads: ["lane"]
    case .refusals, .sessionsEnded: ["reason"]
    case .providerCalls, .signIns: ["provider", "outcome"]
    case .providerSeconds: ["provider"]
    case .databaseCalls, .mails: ["outcome"]
    case .limits: ["limit"]
    case .keyAge: ["key"]
    case .build: ["version"]
    default: []
    }
  }

  /// One sentence for operators.
  public var help: String {
    switch self {
    case .requests: "Requests that the gateway answered, by route and status class."
    case .requestSeconds: "Time to answer a request, in seconds, without the wait for a worker thread."
    case .connectionsAccepted: "Connections that clients opened, including those over a limit."
    case .connections: "Open connections."
    case .refusals: "Requests and connections rejected for breaking HTTP or a server limit, by reason."
    case .workerQueue: "Requests waiting for a worker thread."
    case .workerThreads: "Existing worker threads."
    case .providerCalls:
      "Requests to providers: ok is a status below 400, refused 4xx, failed 5xx, unreachable no response."
    case .providerSeconds: "Duration of a request to a provider, in seconds."
    case .databaseCalls: "Database calls, by outcome."
    case .databaseSeconds: "Duration of a database call, in seconds, including the wait for a connection."
    case .databaseUp: "1 if the last check of the database found what /readyz expects, else 0."
    case .signIns: "Finished sign-ins, by provider and outcome. email is the sign-in by e-mail."
    case .sessionsBegun: "Sessions that this gateway began."
    case .sessionsEnded:
      "Sessions that this gateway ended, by reason. expired is counted at deletion, days later."
    case .mails:
      "E-mails: sent, permanently refused by the mail server, failed and postponed, expired in the outbox."
    case .mailsWaiting: "E-mails in the outbox, for all replicas; updated every ten seconds."
    case .limits: "Requests that a rate limit rejected, by the limit's name in the configuration."
    case .limitsAlone: "Requests counted without the database, because it did not answer."
    case .auditEntries:
      "The number of the newest audit entry, for all replicas; updated every ten seconds."
    case .logDropped: "Log lines dropped because nothing read them in time."
    case .keys: "Keys in the key file."
    case .keyAge: "Seconds since the newest and the oldest key in the key file were created."
    case .build: "Always 1; the label is the version."
    case .processStart: "When the program started, in seconds since 1970."
    case .processMemory: "Resident memory of the program."
    case .processCPU: "User and system CPU time, in seconds."
    case .processFiles: "Open file descriptors."
    case .processFileLimit: "Maximum number of open file descriptors."
    }
  }
}

/// A current value of a metric.
public struct MetricSample: Sendable, Equatable {
  public var metric: Metric
  /// The values of the labels, in the order of ``Metric/labels``.
  public var labels: [String]
  public var value: Double

  public init(_ metric: Metric, _ labels: [String] = [], _ value: Double) {
    self.metric = metric
    self.labels = labels
    self.value = value
  }
}
