/**
 * The last step inside bubblewrap: `setpriv` of util-linux gives itself Landlock rules and becomes the command. They close
 * what mounts leave open: a read-only mount does not keep a process from writing to a named pipe. Pure. Part of L15.
 *
 * Only two rights are governed. `write-file` is asked for whenever something is opened for writing, be it a file, a
 * pipe or a device. `refer` has to be named, or the kernel would refuse every rename between directories. Both are
 * granted below the writable roots and below the `/dev` of the sandbox, where the devices and terminals are its own.
 * Pipes without a name, sockets and open descriptors have no place in the file system and stay as they are.
 */

/** Where setpriv is linked to inside the sandbox. It names itself by the last part in its messages. */
export const launcherPath = "/dev/colloquy-launch"

/** How a message of the launcher on stderr begins. */
export const launcherPrefix = "colloquy-launch: "

/** What names the setpriv to use, in the environment of the server. Absolute. */
export const setprivVariable = "COLLOQUY_SETPRIV"

const rights = "write-file,refer"

/** The words up to those of the program, which may write below these directories alone. */
const launching = (
  directories: ReadonlyArray<string>,
): readonly [string, ...ReadonlyArray<string>] => [
  launcherPath,
  "--landlock-access",
  `fs:${rights}`,
  ...directories.flatMap((path) => ["--landlock-rule", `path-beneath:${rights}:${path}`]),
  "--",
]

/** What precedes the words of the command. The roots are directories, absolute, as they are inside the sandbox. */
export const landlockWords = (
  roots: ReadonlyArray<string>,
): readonly [string, ...ReadonlyArray<string>] => launching(["/dev", ...roots])

/**
 * Ends with 0 when a named pipe below the given directory can be written to and another cannot. Both lie in the `/dev` of
 * the sandbox, so that nothing on the host is touched.
 */
export const probeWords: readonly [string, ...ReadonlyArray<string>] = [
  ...launching(["/dev/shm"]),
  "/bin/sh",
  "-c",
  // Opened for reading and writing a pipe waits for nobody.
  "mkfifo /dev/shm/inside /dev/outside && (: <>/dev/shm/inside) && ! (: <>/dev/outside) 2>/dev/null",
]

/** Whether a command can write to named pipes outside the writable roots. */
export type NamedPipes =
  | { readonly _tag: "Closed"; readonly by: string }
  | { readonly _tag: "Open"; readonly reason: string; readonly advice: string }

const newerSetpriv = `install util-linux 2.40 or newer, or name such a setpriv in ${setprivVariable}`
const newerKernel =
  "use Linux 5.19 or newer with Landlock among its security modules (lsm=landlock on the kernel command line)"

export const setprivMissing = (reason: string): NamedPipes => ({
  _tag: "Open",
  reason,
  advice: newerSetpriv,
})

/** What the attempt with `probeWords` shows; `text` is everything that it printed. */
export const namedPipesOf = (setpriv: string, code: number, text: string): NamedPipes => {
  if (code === 0) return { _tag: "Closed", by: `Landlock through ${setpriv}` }
  if (/unrecognized option|unknown option|invalid option/i.test(text)) {
    const reason = `${setpriv} knows no Landlock`
    return { _tag: "Open", reason, advice: newerSetpriv }
  }
  const reason = text.split("\n", 1)[0] || `the attempt with ${setpriv} ended with code ${code}`
  return { _tag: "Open", reason, advice: newerKernel }
}
