/**
 * The program that writes a patch, run by Node as a process of its own so that a sandbox can hold it: only the
 * sandbox's writable mounts can be written, whatever links the files are. A platform edge: its one function uses
 * `node:fs` and `node:path`, which it is given, and nothing else of this module, so that its own source text is the
 * program. That way it is found in a bundle and in an embedding application alike, and is still checked as TypeScript.
 *
 * It trusts nothing it was told about the files: each is compared with what the patch was checked against before it is
 * touched (L15). It follows a symbolic link in last place to its file, which must lie within the allowed directories,
 * and keeps the link. A file is replaced by renaming a new one over it, with its mode and owner; one with further hard
 * links, or in a directory where nothing can be made, is written in place. Operations are done in order; the first that
 * fails ends it, and what was done stays.
 */
import type * as Fs from "node:fs"
import type * as Path from "node:path"

/** A file as it has to be: absent, or with this content, as text or (`base64`) as bytes. */
export type Expected = null | { readonly text: string } | { readonly base64: string }

export type Step =
  | {
      readonly op: "write"
      readonly path: string
      readonly before: Expected
      readonly content: string
    }
  | { readonly op: "delete"; readonly path: string; readonly before: Expected }
  | {
      readonly op: "move"
      readonly path: string
      readonly before: Expected
      readonly to: string
      readonly toBefore: Expected
      readonly content: string
    }

export interface Request {
  readonly steps: ReadonlyArray<Step>
  /**
   * Absolute directories or files below which everything must lie once its links are resolved; null: anywhere. They
   * themselves are free of links: one that is put there later leads nowhere.
   */
  readonly within: ReadonlyArray<string> | null
  /** Absolute paths, free of links, below which nothing may be touched. */
  readonly keepOut: ReadonlyArray<string>
}

interface Response {
  /** How many steps were done. */
  readonly done: number
  readonly error: null | { readonly message: string; readonly reason: string }
}

/** Self-contained: what it needs is inside or given to it. */
const patchProgram = (fs: typeof Fs, path: typeof Path, request: Request): Response => {
  const { constants } = fs
  // A link that was put in last place since it was looked at is not followed; Windows has no such flag.
  const noFollow = constants.O_NOFOLLOW ?? 0
  const fail = (reason: string): never => {
    throw new Error(reason)
  }
  const codeOf = (cause: unknown): string =>
    cause instanceof Error && "code" in cause ? String(cause.code) : ""

  const lookAt = (file: string): Fs.Stats | undefined => {
    try {
      return fs.lstatSync(file, { throwIfNoEntry: false })
    } catch (cause) {
      // A file stands where a directory should: making the parents tells so.
      if (codeOf(cause) === "ENOTDIR") return undefined
      throw cause
    }
  }

  /** The path with the links of all directories resolved, those that do not exist yet as they are. */
  const realParent = (file: string): string => {
    const missing: Array<string> = [path.basename(file)]
    let directory = path.dirname(file)
    while (lookAt(directory) === undefined && path.dirname(directory) !== directory) {
      missing.unshift(path.basename(directory))
      directory = path.dirname(directory)
    }
    return path.join(fs.realpathSync(directory), ...missing)
  }

  const realOf = (file: string): string => {
    const own = realParent(file)
    return lookAt(own)?.isSymbolicLink() === true ? fs.realpathSync(own) : own
  }

  const isBelow = (file: string, directory: string): boolean => {
    const relative = path.relative(directory, file)
    return relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
  }

  /** Thousands of files that are named one by one are found at once. */
  const within = request.within === null ? undefined : new Set(request.within)

  const permit = (real: string): string => {
    const isWithin = within?.has(real) ?? true
    if (!isWithin && request.within?.some((root) => isBelow(real, root)) !== true) {
      fail(`it leads to ${real}, outside of what may be written`)
    }
    if (request.keepOut.some((root) => isBelow(real, root))) fail(`${real} is protected`)
    return real
  }

  const bytesOf = (expected: Exclude<Expected, null>): Buffer =>
    "text" in expected ? Buffer.from(expected.text, "utf8") : Buffer.from(expected.base64, "base64")

  /** Content of a regular file; without waiting where a pipe stands in its place. */
  const contentOf = (real: string): Buffer => {
    const fd = fs.openSync(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | noFollow)
    try {
      return fs.fstatSync(fd).isFile() ? fs.readFileSync(fd) : fail("it is no regular file")
    } finally {
      fs.closeSync(fd)
    }
  }

  const verify = (real: string, before: Expected): void => {
    const found = lookAt(real)
    if (found?.isDirectory() === true) fail("it is a directory")
    if (before === null && found === undefined) return
    if (before === null || found === undefined || !contentOf(real).equals(bytesOf(before))) {
      fail("it changed since the patch was checked")
    }
  }

  const writeInPlace = (real: string, content: Buffer): void => {
    const fd = fs.openSync(real, constants.O_WRONLY | noFollow)
    try {
      fs.ftruncateSync(fd, 0)
      fs.writeFileSync(fd, content)
    } finally {
      fs.closeSync(fd)
    }
  }

  /** Fills a file that must not be there yet; none is left when that fails. */
  const create = (file: string, content: Buffer, mode: number, dress: (fd: number) => void) => {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow
    const fd = fs.openSync(file, flags, mode)
    try {
      try {
        fs.writeFileSync(fd, content)
        dress(fd)
      } finally {
        fs.closeSync(fd)
      }
    } catch (cause) {
      fs.rmSync(file, { force: true })
      throw cause
    }
  }

  const replace = (real: string, content: Buffer, old: Fs.Stats): void => {
    const name = `.colloquy-patch-${process.pid}-${process.hrtime.bigint()}`
    const beside = path.join(path.dirname(real), name)
    const mode = old.mode & 0o7777
    create(beside, content, 0o600, (fd) => {
      const own = fs.fstatSync(fd)
      if (own.uid !== old.uid || own.gid !== old.gid) fs.fchownSync(fd, old.uid, old.gid)
      fs.fchmodSync(fd, mode)
    })
    try {
      fs.renameSync(beside, real)
    } catch (cause) {
      fs.rmSync(beside, { force: true })
      throw cause
    }
  }

  const write = (real: string, content: string, newMode: number): void => {
    const bytes = Buffer.from(content, "utf8")
    const old = lookAt(real)
    if (old === undefined) {
      create(real, bytes, newMode, () => {})
      return
    }
    if (!old.isFile()) fail("it is no regular file")
    // Renaming would replace a file nobody may write, and whoever is root may write everything.
    if ((old.mode & 0o222) === 0) fail("the file is read-only")
    fs.accessSync(real, constants.W_OK)
    if (old.nlink > 1) {
      writeInPlace(real, bytes)
      return
    }
    try {
      replace(real, bytes, old)
    } catch (cause) {
      if (!["EACCES", "EBUSY", "EEXIST", "EPERM", "EROFS"].includes(codeOf(cause))) throw cause
      writeInPlace(real, bytes)
    }
  }

  const named = (message: string, work: () => void): void => {
    try {
      work()
    } catch (cause) {
      throw new Error(message, { cause })
    }
  }

  const makeParents = (file: string, real: string): void =>
    named(`Failed to create parent directories for ${file}`, () => {
      fs.mkdirSync(path.dirname(real), { recursive: true })
    })

  const remove = (file: string, before: Expected): void => {
    const own = permit(realParent(file))
    verify(realOf(file), before)
    fs.unlinkSync(own)
  }

  const put = (file: string, before: Expected, content: string, mode: number): void => {
    let real = ""
    named(`Failed to write file ${file}`, () => {
      real = permit(realOf(file))
      verify(real, before)
    })
    makeParents(file, real)
    named(`Failed to write file ${file}`, () => write(real, content, mode))
  }

  /** The same directory entry under two names: another case where case does not count, or another way there. */
  const isSameEntry = (a: string, b: string): boolean => {
    const [one, other] = [lookAt(a), lookAt(b)]
    if (one === undefined || other === undefined) return false
    return one.ino === other.ino && one.dev === other.dev && (a === b || one.nlink === 1)
  }

  const move = (step: Extract<Step, { readonly op: "move" }>): void => {
    const from = realParent(step.path)
    const to = realParent(step.to)
    if (isSameEntry(from, to)) {
      put(step.path, step.before, step.content, 0o666)
      if (from !== to) fs.renameSync(from, to)
      return
    }
    let mode = 0o666
    named(`Failed to remove original ${step.path}`, () => {
      permit(from)
      verify(realOf(step.path), step.before)
      mode = fs.statSync(from).mode & 0o777
    })
    put(step.to, step.toBefore, step.content, mode)
    named(`Failed to remove original ${step.path}`, () => fs.unlinkSync(from))
  }

  const perform = (step: Step): void => {
    switch (step.op) {
      case "write":
        return put(step.path, step.before, step.content, 0o666)
      case "delete":
        return named(`Failed to delete file ${step.path}`, () => remove(step.path, step.before))
      case "move":
        return move(step)
    }
  }

  const textOf = (cause: unknown): string =>
    cause instanceof Error ? cause.message : String(cause)

  for (const [done, step] of request.steps.entries()) {
    try {
      perform(step)
    } catch (cause) {
      const inner = cause instanceof Error ? cause.cause : undefined
      const reason = inner === undefined ? "" : textOf(inner)
      return { done, error: { message: textOf(cause), reason } }
    }
  }
  return { done: request.steps.length, error: null }
}

/** For `node -e`: the request is read from standard input, the response goes to standard output, both as JSON. */
export const source = [
  `const fs = require("node:fs")`,
  `const apply = ${patchProgram.toString()}`,
  `const request = JSON.parse(fs.readFileSync(0, "utf8"))`,
  `fs.writeSync(1, JSON.stringify(apply(fs, require("node:path"), request)))`,
].join(";\n")
