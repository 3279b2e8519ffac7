// enroll, as scripts call it: prints a token without reading the command line by the parser. The full program, which has it,
// takes every other command line, and finds the standard streams as they are.

import CPosix
import EnrollPosix

guard Encoding.complaint() == nil, let words = CommandWords.arguments(),
  let command = TokenCommand(words: words)
else { exit(FullProgram.execute()) }
enroll_posix_open_missing_streams()
ProcessMemory.shareHeap()
exit(Run.perform(command.request) { session throws(Failure) in try command.perform(session) })
