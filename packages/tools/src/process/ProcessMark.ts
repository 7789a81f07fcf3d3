/**
 * A mark that a program and all its descendants carry, so that those that left its process group (by `setsid`, or as
 * daemons) can be found and killed with it (L8). Pure: sets no mark and reads none.
 *
 * The mark is the soft value of the resource limit on file locks (`RLIMIT_LOCKS`). Linux has not enforced that limit
 * since version 2.4.25. Every process inherits it across fork and exec; a new session, closed descriptors and an
 * emptied environment do not change it; and `/proc/PID/limits` shows it. A variable would be lost with `env -i`, and
 * the program would see it. Other systems have no such limit: their programs carry no mark.
 */

/** A decimal number below 2^63: the prefix of the server, followed by the number of the program. */
export type ProcessMark = string

const prefixDigits = 10
const numberDigits = 8

/** Range of the prefixes: the first is included, the second is not. */
export const prefixRange = [10 ** (prefixDigits - 1), 9 * 10 ** (prefixDigits - 1)] as const

/** The mark of the program after `count` others. After a hundred million programs, numbers are used again. */
export const markOf = (prefix: number, count: number): ProcessMark =>
  `${prefix}${String(count % 10 ** numberDigits).padStart(numberDigits, "0")}`

/**
 * The shell command that sets the mark on the shell itself; `unlimited` removes one. Dash and Busybox call the limit
 * `-w`, Bash calls it `-x`. Where the shell or the system has no such limit, nothing changes.
 */
export const setMarkCommand = (mark: ProcessMark): string =>
  `ulimit -S -w ${mark} 2>/dev/null || ulimit -S -x ${mark} 2>/dev/null`

const limitName = "Max file locks"

/** True when the text of `/proc/PID/limits` contains the mark. */
export const isMarked = (limits: string, mark: ProcessMark): boolean =>
  limits.split("\n").some((line) => {
    const [soft] = line.startsWith(limitName) ? line.slice(limitName.length).trim().split(" ") : []
    return soft === mark
  })

/** Extended regular expression for a line with any mark of a server; `prefix` may be a shell variable. */
export const linePattern = (prefix: string): string =>
  `^${limitName} +${prefix}[0-9]{${numberDigits}} `
