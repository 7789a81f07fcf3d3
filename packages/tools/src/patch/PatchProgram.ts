/**
 * The program that writes a patch. Node runs it as a separate process, so that a sandbox can confine it: only the writable
 * mounts of the sandbox can be written, whatever the links are. A platform edge. Its parts are functions that use nothing
 * but their parameters, so that their own source texts are the program. That way it works in a bundle and in an embedding
 * application alike, and is still checked as TypeScript.
 *
 * It does not trust the plan: each file is compared with what the patch was planned against before it is changed (L15). It
 * follows a symbolic link in the last place to its file, which must lie within the allowed directories, and keeps the link.
 * A file is replaced by renaming a new one over it, with its mode and owner; one with several hard links, or in a directory
 * where nothing can be created, is written in place. Operations are performed in order; the first that fails ends the
 * program, and those before it are not undone.
 */
import type * as Fs from "node:fs"
import type * as Path from "node:path"

/** The expected state of a file: absent, or with this content, as text or (`base64`) as bytes. */
export type Expected = null | { readonly text: string } | { readonly base64: string }

/** One operation of a patch, by absolute paths. */
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

/** What the program reads from its standard input. */
export interface Request {
  /** In the order in which they are performed. */
  readonly steps: ReadonlyArray<Step>
  /**
   * Absolute paths of directories or files: every path must be one of them or lie below one once its links are resolved.
   * Null: anywhere. The paths themselves contain no links, so one that is created there later is not followed.
   */
  readonly within: ReadonlyArray<string> | null
  /** Absolute paths without links; nothing at or below them may be touched. */
  readonly keepOut: ReadonlyArray<string>
}

/** What the program writes to its standard output. */
interface Response {
  /** Number of steps that were performed. */
  readonly done: number
  readonly error: null | { readonly message: string; readonly reason: string }
}

/** Resolves paths. */
const pathResolver = (fs: typeof Fs, path: typeof Path) => {
  const codeOf = (cause: unknown): string =>
    cause instanceof Error && "code" in cause ? String(cause.code) : ""

  const lookAt = (file: string): Fs.Stats | undefined => {
    try {
      return fs.lstatSync(file, { throwIfNoEntry: false })
    } catch (cause) {
      // A file is in the place of a directory: creating the parent directories reports that.
      if (codeOf(cause) === "ENOTDIR") return undefined
      throw cause
    }
  }

  /** The path with the links of all existing directories resolved. */
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

  /** True for one directory entry under two names: they differ in case on a file system that ignores it, or in the way there. */
  const isSameEntry = (a: string, b: string): boolean => {
    const [one, other] = [lookAt(a), lookAt(b)]
    if (one === undefined || other === undefined) return false
    return one.ino === other.ino && one.dev === other.dev && (a === b || one.nlink === 1)
  }

  return { codeOf, isSameEntry, lookAt, realOf, realParent }
}

/** Checks whether a path may be changed. */
const pathRules = (
  path: typeof Path,
  request: Request,
  resolver: ReturnType<typeof pathResolver>,
) => {
  const fail = (reason: string): never => {
    throw new Error(reason)
  }

  const isBelow = (file: string, directory: string): boolean => {
    const relative = path.relative(directory, file)
    return relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
  }

  /** Finds a file at once among thousands that are listed individually. */
  const within = request.within === null ? undefined : new Set(request.within)

  const permit = (real: string): string => {
    const isWithin = within?.has(real) ?? true
    if (!isWithin && request.within?.some((root) => isBelow(real, root)) !== true) {
      fail(`it leads to ${real}, outside of what may be written`)
    }
    if (request.keepOut.some((root) => isBelow(real, root))) fail(`${real} is protected`)
    return real
  }

  return { ...resolver, fail, permit }
}

type PathRules = ReturnType<typeof pathRules>

/** Compares a file with the expected state; throws when it differs. */
const contentVerifier = (fs: typeof Fs, { fail, lookAt }: PathRules) => {
  const { constants } = fs
  // A link that has taken the place of a file meanwhile is not followed; Windows has no such flag.
  const noFollow = constants.O_NOFOLLOW ?? 0

  const bytesOf = (expected: Exclude<Expected, null>): Buffer =>
    "text" in expected ? Buffer.from(expected.text, "utf8") : Buffer.from(expected.base64, "base64")

  /** Content of a regular file. Does not wait when a pipe has taken its place. */
  const contentOf = (real: string): Buffer => {
    const fd = fs.openSync(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | noFollow)
    try {
      return fs.fstatSync(fd).isFile() ? fs.readFileSync(fd) : fail("it is no regular file")
    } finally {
      fs.closeSync(fd)
    }
  }

  return (real: string, before: Expected): void => {
    const found = lookAt(real)
    if (found?.isDirectory() === true) fail("it is a directory")
    if (before === null && found === undefined) return
    if (before === null || found === undefined || !contentOf(real).equals(bytesOf(before))) {
      fail("it changed since the patch was checked")
    }
  }
}

/** Creates files, alone and in the place of others. */
const fileCreator = (fs: typeof Fs, path: typeof Path) => {
  const { constants } = fs
  // A link that has taken the place of a file meanwhile is not followed; Windows has no such flag.
  const noFollow = constants.O_NOFOLLOW ?? 0

  /** Creates a file, which must not exist yet, with this content; removes it when that fails. */
  const create = (file: string, content: Buffer, mode: number, adjust: (fd: number) => void) => {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow
    const fd = fs.openSync(file, flags, mode)
    try {
      try {
        fs.writeFileSync(fd, content)
        adjust(fd)
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
    create(beside, content, 0o600, (fd) => {
      const own = fs.fstatSync(fd)
      if (own.uid !== old.uid || own.gid !== old.gid) fs.fchownSync(fd, old.uid, old.gid)
      fs.fchmodSync(fd, old.mode & 0o7777)
    })
    try {
      fs.renameSync(beside, real)
    } catch (cause) {
      fs.rmSync(beside, { force: true })
      throw cause
    }
  }

  return { create, noFollow, replace }
}

/** Writes one file. */
const fileWriter = (
  fs: typeof Fs,
  { codeOf, fail, lookAt }: PathRules,
  { create, noFollow, replace }: ReturnType<typeof fileCreator>,
) => {
  const writeInPlace = (real: string, content: Buffer): void => {
    const fd = fs.openSync(real, fs.constants.O_WRONLY | noFollow)
    try {
      fs.ftruncateSync(fd, 0)
      fs.writeFileSync(fd, content)
    } finally {
      fs.closeSync(fd)
    }
  }

  return (real: string, content: string, newMode: number): void => {
    const bytes = Buffer.from(content, "utf8")
    const old = lookAt(real)
    if (old === undefined) {
      create(real, bytes, newMode, () => {})
      return
    }
    if (!old.isFile()) fail("it is no regular file")
    // Renaming would replace a read-only file, and root may write every file.
    if ((old.mode & 0o222) === 0) fail("the file is read-only")
    fs.accessSync(real, fs.constants.W_OK)
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
}

/** Runs the work; when it throws, throws an error with the message of the original, whose cause is the reason. */
const named = (message: string, work: () => void): void => {
  try {
    work()
  } catch (cause) {
    throw new Error(message, { cause })
  }
}

/** Checks a file and writes it, with the directories above it. */
const filePutter =
  (
    fs: typeof Fs,
    path: typeof Path,
    { permit, realOf }: PathRules,
    verify: ReturnType<typeof contentVerifier>,
    write: ReturnType<typeof fileWriter>,
    attempt: typeof named,
  ) =>
  (file: string, before: Expected, content: string, mode: number): void => {
    let real = ""
    attempt(`Failed to write file ${file}`, () => {
      real = permit(realOf(file))
      verify(real, before)
    })
    attempt(`Failed to create parent directories for ${file}`, () => {
      fs.mkdirSync(path.dirname(real), { recursive: true })
    })
    attempt(`Failed to write file ${file}`, () => write(real, content, mode))
  }

/** Moves a file and changes it. */
const fileMover =
  (
    fs: typeof Fs,
    { isSameEntry, permit, realOf, realParent }: PathRules,
    verify: ReturnType<typeof contentVerifier>,
    put: ReturnType<typeof filePutter>,
    attempt: typeof named,
  ) =>
  (step: Extract<Step, { readonly op: "move" }>): void => {
    const from = realParent(step.path)
    const to = realParent(step.to)
    if (isSameEntry(from, to)) {
      put(step.path, step.before, step.content, 0o666)
      if (from !== to) fs.renameSync(from, to)
      return
    }
    let mode = 0o666
    attempt(`Failed to remove original ${step.path}`, () => {
      permit(from)
      verify(realOf(step.path), step.before)
      mode = fs.statSync(from).mode & 0o777
    })
    put(step.to, step.toBefore, step.content, mode)
    attempt(`Failed to remove original ${step.path}`, () => fs.unlinkSync(from))
  }

/** Performs one step; throws an error with the message of the original, whose cause is the reason. */
const stepPerformer = (
  fs: typeof Fs,
  { permit, realOf, realParent }: PathRules,
  verify: ReturnType<typeof contentVerifier>,
  put: ReturnType<typeof filePutter>,
  move: ReturnType<typeof fileMover>,
  attempt: typeof named,
) => {
  const remove = (file: string, before: Expected): void => {
    const own = permit(realParent(file))
    verify(realOf(file), before)
    fs.unlinkSync(own)
  }

  return (step: Step): void => {
    switch (step.op) {
      case "write":
        return put(step.path, step.before, step.content, 0o666)
      case "delete":
        return attempt(`Failed to delete file ${step.path}`, () => remove(step.path, step.before))
      case "move":
        return move(step)
    }
  }
}

/** Performs the steps in order until one fails. */
const performAll = (steps: ReadonlyArray<Step>, perform: (step: Step) => void): Response => {
  const textOf = (cause: unknown): string =>
    cause instanceof Error ? cause.message : String(cause)
  for (const [done, step] of steps.entries()) {
    try {
      perform(step)
    } catch (cause) {
      const inner = cause instanceof Error ? cause.cause : undefined
      const reason = inner === undefined ? "" : textOf(inner)
      return { done, error: { message: textOf(cause), reason } }
    }
  }
  return { done: steps.length, error: null }
}

/** For `node -e`: reads the request from standard input and writes the response to standard output, both as JSON. */
export const source = [
  `const fs = require("node:fs")`,
  `const path = require("node:path")`,
  `const request = JSON.parse(fs.readFileSync(0, "utf8"))`,
  `const named = (${named.toString()})`,
  `const rules = (${pathRules.toString()})(path, request, (${pathResolver.toString()})(fs, path))`,
  `const verify = (${contentVerifier.toString()})(fs, rules)`,
  `const create = (${fileCreator.toString()})(fs, path)`,
  `const write = (${fileWriter.toString()})(fs, rules, create)`,
  `const put = (${filePutter.toString()})(fs, path, rules, verify, write, named)`,
  `const move = (${fileMover.toString()})(fs, rules, verify, put, named)`,
  `const perform = (${stepPerformer.toString()})(fs, rules, verify, put, move, named)`,
  `fs.writeSync(1, JSON.stringify((${performAll.toString()})(request.steps, perform)))`,
].join(";\n")
