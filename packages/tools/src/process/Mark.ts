/**
 * A mark that a program and every process that descends from it carry, so that those which left its process group
 * (`setsid`, a daemon) can be found and ended with it (L8). Pure: sets no mark and reads none.
 *
 * The mark is the soft value of the resource limit on file locks (`RLIMIT_LOCKS`). Linux has not enforced that limit since
 * version 2.4.25, every process inherits it across fork and exec, a new session, closed descriptors and an emptied
 * environment do not change it, and `/proc/PID/limits` shows it. A variable would be lost with `env -i`, and the
 * program would see it. Systems other than Linux have no such limit: programs carry no mark there.
 */

/** A decimal number that fits in 63 bits: the prefix of the server, then the number of the program. */
export type Mark = string

const prefixDigits = 10
const numberDigits = 8

/** Prefixes lie between these. */
export const prefixRange = [10 ** (prefixDigits - 1), 9 * 10 ** (prefixDigits - 1)] as const

/** `count` programs were marked before; after a hundred million, numbers are used again. */
export const markOf = (prefix: number, count: number): Mark =>
  `${prefix}${String(count % 10 ** numberDigits).padStart(numberDigits, "0")}`

/**
 * The command of a shell that sets the mark on itself; `unlimited` removes one. Dash and Busybox name the limit `-w`,
 * Bash names it `-x`. Where the shell or the system has no such limit, it stays as it is.
 */
export const settingLine = (mark: Mark): string =>
  `ulimit -S -w ${mark} 2>/dev/null || ulimit -S -x ${mark} 2>/dev/null`

const limitName = "Max file locks"

/** True when the text of `/proc/PID/limits` shows the mark. */
export const isMarked = (limits: string, mark: Mark): boolean =>
  limits.split("\n").some((line) => {
    const [soft] = line.startsWith(limitName) ? line.slice(limitName.length).trim().split(" ") : []
    return soft === mark
  })

/** An extended regular expression for the line that shows any mark of a server; `prefix` may be a shell's variable. */
export const linePattern = (prefix: string): string =>
  `^${limitName} +${prefix}[0-9]{${numberDigits}} `
