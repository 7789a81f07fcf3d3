/**
 * The bearer token with which the user who started a server reaches it over HTTP: in a file of the state directory that only
 * that user can read. Created at the first start; all servers of the directory accept it.
 */
import { makeFolders } from "@colloquy/store/node/MakeFolders"
import { readFile } from "@colloquy/store/node/ReadFile"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import { closeSync, fsyncSync, linkSync, openSync, rmSync, statSync, writeSync } from "node:fs"
import { join } from "node:path"
import { codeOf, problemOf } from "../config/ConfigFile.ts"

/** The token cannot be read, created or trusted; `message` names the file and never contains the token. */
export class TokenFileError extends Data.TaggedError("TokenFileError")<{
  readonly message: string
}> {}

/** The token of a state directory. */
export interface StateToken {
  readonly token: string
  readonly path: string
  /** True: this call has created it. */
  readonly isNew: boolean
}

const maxBytes = 4096

/** 256 bits: nobody guesses it, however fast the server answers. */
const randomToken = (): string => randomBytes(32).toString("base64url")

/** A token of this length cannot be guessed; the characters are those that a header takes (RFC 6750). */
const strong = /^[\w.~+/-]{32,}=*$/

const isMissing = (error: unknown): boolean => codeOf(error) === "ENOENT"

const read = (path: string): string => {
  const { mode } = statSync(path)
  if ((mode & 0o077) !== 0) {
    throw new TokenFileError({
      message: `${path}: other users may read the token; remove the file for a new one, or run \`chmod 600\` if none has`,
    })
  }
  const token = new TextDecoder().decode(readFile(path, maxBytes)).trim()
  if (strong.test(token)) return token
  throw new TokenFileError({
    message: `${path}: expected one token of 32 or more characters; remove the file for a new one`,
  })
}

/** The token of a new file. Undefined if another process has created the file first. */
const create = (path: string): string | undefined => {
  const token = randomToken()
  const temporary = `${path}.${randomBytes(6).toString("hex")}`
  try {
    const handle = openSync(temporary, "wx", 0o600)
    try {
      writeSync(handle, `${token}\n`)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    // Unlike a renamed file, a link never replaces a token that a client may already have.
    linkSync(temporary, path)
    return token
  } catch (error) {
    if (codeOf(error) === "EEXIST") return undefined
    throw error
  } finally {
    rmSync(temporary, { force: true })
  }
}

const find = (directory: string): StateToken => {
  const path = join(directory, "http-token")
  try {
    return { token: read(path), path, isNew: false }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  makeFolders(directory)
  const token = create(path)
  return token === undefined
    ? { token: read(path), path, isNew: false }
    : { token, path, isNew: true }
}

/** Reads the token of the state directory, or creates it. Fails if other users can read it, or if it is too short. */
export const tokenOf = (directory: string): Effect.Effect<StateToken, TokenFileError> =>
  Effect.try({
    try: () => find(directory),
    catch: (error) =>
      error instanceof TokenFileError
        ? error
        : new TokenFileError({ message: `${join(directory, "http-token")}: ${problemOf(error)}` }),
  })
