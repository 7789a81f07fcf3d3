/** The ways in which a process leaves the group of the command that started it, as scripts of Bash. */
import { spawnSync } from "node:child_process"

/** True where processes carry a mark: on Linux, unless this process has a lower limit on file locks. */
export const canMark: boolean =
  process.platform === "linux" &&
  spawnSync("bash", ["-c", "ulimit -S -x 123456789000000001"]).status === 0

if (!canMark) {
  // oxlint-disable-next-line no-console -- the person who runs the tests has to see what was skipped
  console.warn(
    "the limit on file locks cannot be set, tests of processes that leave their group are skipped",
  )
}

/** A conventional daemon: two forks, a new session, and all descriptors closed. */
const daemon = (word: string): string =>
  `python3 -c "
import os
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    os.closerange(0, 64)
    os.execvp('sleep', ['sleep', '${word}'])
os.wait()"`

export const leaving: Readonly<Record<string, (word: string) => string>> = {
  "a new session": (word) => `setsid sleep ${word} >/dev/null 2>&1 </dev/null &`,
  "a fork by setsid": (word) => `setsid -f sleep ${word} >/dev/null 2>&1 </dev/null`,
  "nohup in a new session": (word) => `nohup setsid sleep ${word} >/dev/null 2>&1 & disown`,
  "a job with its own group": (word) => `set -m; sleep ${word} >/dev/null 2>&1 </dev/null & disown`,
  "a daemon": daemon,
  "an empty environment": (word) => `env -i setsid -f sleep ${word} >/dev/null 2>&1 </dev/null`,
}
