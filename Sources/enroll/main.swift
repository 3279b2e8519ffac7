// enroll: EnrollKit for people, at a terminal and in scripts. No logic of its own: every command here is one or two of the
// command surface, and words about what came of them.

import CPosix

enroll_posix_open_missing_streams()
exit(Program.run())
