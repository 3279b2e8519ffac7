// enrolld: EnrollKit for any language, as JSON-RPC 2.0 on stdin and stdout (json-rpc.md).

import CPosix
import EnrollCommands
import EnrollHost
import EnrollJSON

enroll_posix_open_missing_streams()
switch Arguments.read() {
case .serve(let level):
  // A signal to the host's process group, or from its terminal, is meant for the host. The daemon ends with its input, and
  // stores the answers to the requests that it has sent. It fails where the daemon leads a group: nobody else is in that.
  _ = setsid()
  exit(Daemon.serve(Log(level)))
case .help: exit(Page.print(Arguments.help))
case .version: exit(Page.print("enrolld \(LibraryVersion.string)\n"))
case .manifest: exit(Page.print(String(decoding: Manifest.json.serialized(), as: UTF8.self) + "\n"))
case .refused: exit(2)
}
