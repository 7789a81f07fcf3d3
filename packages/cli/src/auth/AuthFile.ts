/**
 * Reads and writes `auth.json` of the state directory: an API key, or the tokens of a login, in the original's format, so
 * that both programs can use the same file. Only its owner can read it (0600). Unknown members are preserved. No error
 * quotes its content.
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
import {
  type StoredCredentials,
  credentialsOf,
  type Stored,
  parseStored,
  storedOf,
} from "./StoredLogin.ts"

export type { StoredCredentials, Tokens } from "./StoredLogin.ts"

const maxBytes = 256 * 1024

/** The file was read but its text is not valid; `message` names the file. */
export class MalformedLogin extends Data.TaggedError("MalformedLogin")<{
  readonly message: string
}> {}

const fail = (message: string) => new AuthFailed({ message })

const pathIn = (directory: string): string => join(directory, "auth.json")

/** Undefined only if the file is missing; fails if it cannot be read. */
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
    Effect.fromResult(parseStored(text)),
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

/** One `auth.json`. */
export interface AuthFile {
  readonly path: string
  /** The login; undefined if there is none. */
  readonly read: Effect.Effect<StoredCredentials | undefined, AuthFailed | MalformedLogin>
  /**
   * Replaces the login and resolves when the file is on disk. Members of the file that do not belong to a login are
   * preserved; a text that is not valid is replaced. Fails and leaves the file unchanged if it exists but cannot be read.
   */
  readonly write: (kept: StoredCredentials) => Effect.Effect<void, AuthFailed>
  /** Deletes the file, if it exists. */
  readonly remove: Effect.Effect<void, AuthFailed>
}

/** @param directory of the `auth.json` */
export const make = (directory: string): AuthFile => {
  const path = pathIn(directory)
  return {
    path,
    read: Effect.map(readFrom(path), (stored) =>
      stored === undefined ? undefined : credentialsOf(stored),
    ),
    write: Effect.fnUntraced(function* (kept) {
      // A file that cannot be read may be the only copy of a login.
      const text = yield* Effect.mapError(textOf(path), ({ message }) =>
        fail(`${message}; the file was not changed: remove it to log in again`),
      )
      const before = text === undefined ? undefined : Result.getOrUndefined(parseStored(text))
      yield* write(path, { ...before, ...storedOf(kept) })
    }),
    remove: Effect.try({
      try: () => rmSync(path, { force: true }),
      catch: (error) => fail(`${path}: cannot be removed (${codeOf(error)})`),
    }),
  }
}
