/**
 * Takes standard output away from everything but the one writer of frames (L9): a library that prints would break
 * the client's framing.
 *
 * Taken: `process.stdout` for all who look it up later, and every method of the global `console`, kept references
 * included; both lead to standard error. Not taken, because Node offers no way: `fs.write(1, …)`, native code, child processes that inherit
 * descriptor 1 (spawn them with a pipe), and code that kept a reference to `process.stdout` from before. So call it
 * first thing.
 */
import type { Writable } from "node:stream"

let taken: Writable | undefined

/** The stream for frames. The first call takes it, later calls give the same one. */
export const takeStdout = (): Writable => {
  if (taken !== undefined) return taken
  taken = process.stdout
  Object.defineProperty(process, "stdout", {
    configurable: true,
    enumerable: true,
    get: () => process.stderr,
  })
  Object.assign(globalThis.console, new globalThis.console.Console(process.stderr, process.stderr))
  // Methods that someone kept from before look their stream up here, on every Node so far.
  Reflect.set(globalThis.console, "_stdout", process.stderr)
  // Named imports of `node:process` and `node:console` are copies until told.
  process.getBuiltinModule("node:module").syncBuiltinESMExports()
  return taken
}
