/**
 * `auth.json` in the state directory: an API key, or the tokens of a login, in the original's shape, so that a login
 * made with either serves both. Its owner's alone (0600); members that nobody here knows stay. No error quotes it.
 */
import { AuthFailed } from "@colloquy/server/app/ports/AuthPort"
import { readFile } from "@colloquy/store/node/ReadFile"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { replace } from "../machine/AtomicFile.ts"
import { codeOf, problemOf } from "../config/ConfigFile.ts"
import { type Kept, keptIn, type Stored, storedIn, storedOf } from "./StoredLogin.ts"

export type { Kept, Tokens } from "./StoredLogin.ts"

const maxBytes = 256 * 1024

/** The file was read and its text makes no sense; `message` names the file. */
export class MalformedLogin extends Data.TaggedError("MalformedLogin")<{
  readonly message: string
}> {}

const fail = (message: string) => new AuthFailed({ message })

const pathIn = (directory: string): string => join(directory, "auth.json")

/** Undefined for a file that is missing, and for no other reason. */
const textOf = (path: string): Effect.Effect<string | undefined, AuthFailed> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(new TextDecoder().decode(readFile(path, maxBytes)))
    } catch (error) {
      return codeOf(error) === "ENOENT" ? Effect.undefined : fail(`${path}: ${problemOf(error)}`)
    }
  })

const readFrom = Effect.fnUntraced(function* (
  path: string,
): Effect.fn.Return<Stored | undefined, AuthFailed | MalformedLogin> {
  const text = yield* textOf(path)
  if (text === undefined) return undefined
  return yield* Effect.mapError(
    Effect.fromResult(storedIn(text)),
    (problem) => new MalformedLogin({ message: `${path}: ${problem}` }),
  )
})

const write = Effect.fnUntraced(function* (
  path: string,
  stored: Stored,
): Effect.fn.Return<void, AuthFailed> {
  const suffix = String(yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER))
  yield* Effect.try({
    try: () => replace(path, `${JSON.stringify(stored, null, 2)}\n`, { suffix, mode: 0o600 }),
    catch: (error) => fail(`${path}: cannot be written (${codeOf(error)})`),
  })
})

export interface AuthFile {
  readonly path: string
  /** Undefined where there is no login. */
  readonly read: Effect.Effect<Kept | undefined, AuthFailed | MalformedLogin>
  /**
   * Returns when it is on disk. Members of the file that are not of a login stay; a text that makes no sense is replaced.
   * Fails, and the file is as before, when it is there and cannot be read.
   */
  readonly write: (kept: Kept) => Effect.Effect<void, AuthFailed>
  readonly remove: Effect.Effect<void, AuthFailed>
}

export const make = (directory: string): AuthFile => {
  const path = pathIn(directory)
  return {
    path,
    read: Effect.map(readFrom(path), (stored) =>
      stored === undefined ? undefined : keptIn(stored),
    ),
    write: Effect.fnUntraced(function* (kept) {
      // What could not be read may be the only copy of a login.
      const text = yield* Effect.mapError(textOf(path), ({ message }) =>
        fail(`${message}; the file was not changed: remove it to log in again`),
      )
      const before = text === undefined ? undefined : Result.getOrUndefined(storedIn(text))
      yield* write(path, { ...before, ...storedOf(kept) })
    }),
    remove: Effect.try({
      try: () => rmSync(path, { force: true }),
      catch: (error) => fail(`${path}: cannot be removed (${codeOf(error)})`),
    }),
  }
}
