/**
 * Reserves standard output for the one writer of frames (L9): a library that prints would break the
 * client's framing.
 *
 * Redirected to standard error: `process.stdout` for code that reads it later, and every method of
 * the global `console`, including references that were kept. Not redirected, because Node offers no
 * way: `fs.write(1, …)`, native code, child processes that inherit descriptor 1 (start them with a
 * pipe), and code that kept a reference to `process.stdout` from before. Therefore call
 * `takeStdout` first.
 */
import type { Writable } from "node:stream"

/** Key of the property of `process` that holds the reserved stream. */
const framesKey: unique symbol = Symbol.for("@colloquy/transport-stdio/frames")

/**
 * Returns the stream for frames. The first call redirects all other output; later calls return the
 * same stream.
 */
export const takeStdout = (): Writable => {
  const reserved: unknown = Reflect.get(process, framesKey)
  if (reserved !== undefined) return reserved as Writable
  const frames = process.stdout
  Object.defineProperty(process, framesKey, { value: frames })
  Object.defineProperty(process, "stdout", {
    configurable: true,
    enumerable: true,
    get: () => process.stderr,
  })
  Object.assign(globalThis.console, new globalThis.console.Console(process.stderr, process.stderr))
  // Console methods that were kept from before look up their stream here, in every Node version so
  // far.
  Reflect.set(globalThis.console, "_stdout", process.stderr)
  // Named imports of `node:process` and `node:console` are copies until they are synchronized.
  process.getBuiltinModule("node:module").syncBuiltinESMExports()
  return frames
}
