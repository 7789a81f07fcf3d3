/**
 * The last step inside bubblewrap: `setpriv` of util-linux applies Landlock rules to itself and becomes the command.
 * They close a gap that mounts leave: a read-only mount does not keep a process from writing to a named pipe. Pure.
 * Part of L15.
 *
 * Only two rights are restricted. `write-file` is checked whenever something is opened for writing, be it a file, a
 * pipe or a device. `refer` has to be named, or the kernel would refuse every rename between directories. Both are
 * granted below the writable roots and below the `/dev` of the sandbox, which contains only devices of the sandbox.
 * Unnamed pipes, sockets and open descriptors have no place in the file system and are not affected.
 */

/** Path of the link to setpriv inside the sandbox. The program calls itself by the last part in its messages. */
export const launcherPath = "/dev/colloquy-launch"

/** Prefix of the launcher's messages on standard error. */
export const launcherPrefix = "colloquy-launch: "

/** Variable of the server's environment that names the setpriv to use, an absolute path. */
export const setprivVariable = "COLLOQUY_SETPRIV"

const rights = "write-file,refer"

/** The words before those of the program, which may write below these directories only. */
const launching = (
  directories: ReadonlyArray<string>,
): readonly [string, ...ReadonlyArray<string>] => [
  launcherPath,
  "--landlock-access",
  `fs:${rights}`,
  ...directories.flatMap((path) => ["--landlock-rule", `path-beneath:${rights}:${path}`]),
  "--",
]

/** The words before those of the command. The roots are directories, absolute, as they are inside the sandbox. */
export const landlockWords = (
  roots: ReadonlyArray<string>,
): readonly [string, ...ReadonlyArray<string>] => launching(["/dev", ...roots])

/**
 * A command that exits with 0 when a named pipe below the permitted directory can be written to and another one cannot.
 * Both lie in the `/dev` of the sandbox, so that nothing on the host is touched.
 */
export const probeWords: readonly [string, ...ReadonlyArray<string>] = [
  ...launching(["/dev/shm"]),
  "/bin/sh",
  "-c",
  // Opening a pipe for reading and writing does not wait for another process.
  "mkfifo /dev/shm/inside /dev/outside && (: <>/dev/shm/inside) && ! (: <>/dev/outside) 2>/dev/null",
]

/** Whether a command can write to named pipes outside the writable roots. */
export type NamedPipes =
  | { readonly _tag: "Closed"; readonly by: string }
  | { readonly _tag: "Open"; readonly reason: string; readonly advice: string }

const newerSetpriv = `install util-linux 2.40 or newer, or name such a setpriv in ${setprivVariable}`
const newerKernel =
  "use Linux 5.19 or newer with Landlock among its security modules (lsm=landlock on the kernel command line)"

/** The status when no usable setpriv was found. */
export const setprivMissing = (reason: string): NamedPipes => ({
  _tag: "Open",
  reason,
  advice: newerSetpriv,
})

/** The result of the attempt with `probeWords`; `text` is its whole output. */
export const namedPipesOf = (setpriv: string, code: number, text: string): NamedPipes => {
  if (code === 0) return { _tag: "Closed", by: `Landlock through ${setpriv}` }
  if (/unrecognized option|unknown option|invalid option/i.test(text)) {
    const reason = `${setpriv} knows no Landlock`
    return { _tag: "Open", reason, advice: newerSetpriv }
  }
  const reason = text.split("\n", 1)[0] || `the attempt with ${setpriv} ended with code ${code}`
  return { _tag: "Open", reason, advice: newerKernel }
}
