/** The token of a server with one user: a file that only that user can read, made at the first start. */
import { Buffer } from "node:buffer"
import { randomBytes } from "node:crypto"
import { chmod, link, mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** The file cannot be read or made, or does not contain a token. */
export class TokenFileError extends Data.TaggedError("TokenFileError")<{
  readonly path: string
  readonly reason: string
}> {
  override get message() {
    return `token file ${this.path}: ${this.reason}`
  }
}

/** What a start finds. */
export interface TokenFile {
  readonly token: string
  /** True if this start has made it: the only time at which it is printed. */
  readonly isNew: boolean
}

const secretBytes = 32

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code

const read = async (path: string): Promise<string> => {
  const token = (await readFile(path, "utf8")).trim()
  if (!/^[\x21-\x7e]{32,}$/.test(token)) throw new Error("expected at least 32 visible characters")
  // A file that others may read is closed to them again.
  await chmod(path, 0o600)
  return token
}

const load = async (path: string): Promise<TokenFile> => {
  try {
    return { token: await read(path), isNew: false }
  } catch (error) {
    if (!isCode(error, "ENOENT")) throw error
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const secret = randomBytes(secretBytes)
  const token = Buffer.from(secret).toString("base64url")
  const draft = `${path}.${randomBytes(8).toString("hex")}`
  try {
    await writeFile(draft, `${token}\n`, { mode: 0o600, flag: "wx" })
    // Never half written; of two servers that start at once, one makes it and the other reads it.
    await link(draft, path)
    return { token, isNew: true }
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error
    return { token: await read(path), isNew: false }
  } finally {
    await rm(draft, { force: true })
  }
}

/** Reads the token, and makes it with mode 0600 where there is none. */
export const loadOrCreate = (path: string): Effect.Effect<TokenFile, TokenFileError> =>
  Effect.tryPromise({
    try: () => load(path),
    catch: (error) =>
      new TokenFileError({ path, reason: error instanceof Error ? error.message : String(error) }),
  })
