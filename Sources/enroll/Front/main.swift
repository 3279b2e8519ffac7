// enroll, as scripts call it: prints a token without reading the command line by the parser. The full program, which has it,
// takes every other command line.

import CPosix
import EnrollPosix

enroll_posix_open_missing_streams()
if Encoding.complaint() == nil, let words = CommandWords.arguments(), let command = TokenCommand(words: words)
{
  ProcessMemory.shareHeap()
  Interrupts.prepare()
  exit(Run.perform(command.request) { session throws(Failure) in try command.perform(session) })
}
exit(FullProgram.execute())
