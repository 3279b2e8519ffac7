// enrolld: EnrollKit for any language, as JSON-RPC 2.0 on stdin and stdout (json-rpc.md).

import CPosix
import EnrollCommands
import EnrollHost
import EnrollJSON

enroll_posix_open_missing_streams()
switch Arguments.read() {
case .serve(let level):
  // A signal to the host's process group, or from its terminal, is meant for the host, so the daemon starts its own
  // session. The daemon ends when its input ends, and saves the answers to the requests that it has sent. setsid()
  // fails if the daemon already leads a process group; in that case the group has no other process.
  _ = setsid()
  exit(Daemon.serve(Log(level)))
case .help: exit(StandardOutput.print(Arguments.help))
case .version: exit(StandardOutput.print("enrolld \(LibraryVersion.string)\n"))
case .manifest: exit(StandardOutput.print(String(decoding: Manifest.json.serialized(), as: UTF8.self) + "\n"))
case .refused: exit(2)
}
