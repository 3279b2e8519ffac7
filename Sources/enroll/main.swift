// enroll: EnrollKit for people, at a terminal and in scripts. No logic of its own: every command here is one or two of the
// command surface, and words about what came of them.

import CPosix
import EnrollPosix

// Before anything opens a descriptor: what is written to standard output must not go to a file that stands in its place.
enroll_posix_open_missing_streams()
OtherProgram.noteStart()
// A reader that has enough ends no program; until the command runs, other signals do.
enroll_posix_ignore_signal(SIGPIPE)
ProcessMemory.shareHeap()
exit(Enroll.run())
