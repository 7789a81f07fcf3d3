/**
 * The file system of leases in memory, shared by processes that end when a test ends them, with a
 * fault at any operation.
 */
import { FileFault } from "../../src/Files.ts"
import { ProcessLeases } from "../../src/leases/ProcessLeases.ts"
import type { LeaseFiles, LockFile } from "../../src/leases/LeaseFiles.ts"

const folder = "/state/colloquy-store"

/** Contents that one or more paths have. */
interface LeaseNode {
  readonly inode: number
  text: string
  modified: number
}

/**
 * The files and locks that all processes share. A new file gets the lowest free inode, and the
 * clock of the file times advances only with `tick`, so that stamps are as similar as they can be.
 */
export class SharedLeaseFiles {
  private readonly files = new Map<string, LeaseNode>()
  /** The process that holds each lock. */
  private readonly locks = new Map<string, object>()
  private processes = 0
  private clock = 0

  /** Advances the clock of the file times. */
  tick(): void {
    this.clock++
  }

  /** Replaces, changes or (without a text) removes a file as another program would. */
  meddle(path: string, text?: string): void {
    const node = this.files.get(path)
    if (text === undefined) this.files.delete(path)
    else if (node !== undefined) Object.assign(node, { text, modified: this.clock })
  }

  get paths(): ReadonlyArray<string> {
    return [...this.files.keys()]
  }

  /** @param url the address that the process publishes */
  readonly start = (url?: string): LeaseProcess => {
    const number = ++this.processes
    const process = new LeaseProcess(number)
    process.leases = new ProcessLeases(folder, this.diskOf(process), {
      owner: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
      pid: number,
      host: "here",
      url: () => url,
      nonce: () => `${number}-${process.nonces++}`,
    })
    return process
  }

  /** Ends a process: the system releases its locks and nothing else. */
  kill(process: LeaseProcess): void {
    for (const [path, holder] of this.locks) if (holder === process) this.locks.delete(path)
  }

  private diskOf(process: LeaseProcess): LeaseFiles {
    const { files, locks } = this
    const at = <A>(operation: string, path: string, run: () => A): A => {
      const code = process.fault(process.operations++, operation, path)
      if (code !== undefined) throw new FileFault({ operation, path, code })
      return run()
    }
    const there = (operation: string, path: string): LeaseNode => {
      const node = files.get(path)
      if (node === undefined) throw new FileFault({ operation, path, code: "ENOENT" })
      return node
    }
    const create = (path: string, text: string): LeaseNode => {
      const used = new Set([...files.values()].map(({ inode }) => inode))
      let inode = 1
      while (used.has(inode)) inode++
      const node = { inode, text, modified: this.clock }
      files.set(path, node)
      return node
    }
    const absent = (operation: string, path: string): void => {
      if (files.has(path)) throw new FileFault({ operation, path, code: "EEXIST" })
    }
    const stampOf = ({ inode, modified, text }: LeaseNode) => `${inode}:${text.length}:${modified}`
    const lockFile = (path: string): LockFile => {
      if (!files.has(path)) create(path, "")
      const end = () => {
        if (locks.get(path) === process) locks.delete(path)
      }
      return {
        acquire: () =>
          at("lock", path, () => {
            if (locks.has(path)) return false
            locks.set(path, process)
            return true
          }),
        release: () => at("unlock", path, end),
        close: end,
      }
    }
    return {
      makeFolder: (path) => at("makeDirectory", path, () => {}),
      list: (path) =>
        at("list", path, () =>
          [...files.keys()].flatMap((name) =>
            name.startsWith(`${path}/`) ? [name.slice(path.length + 1)] : [],
          ),
        ),
      stat: (path) => at("stat", path, () => stampOf(there("stat", path))),
      read: (path) => at("read", path, () => there("read", path).text),
      write: (path, text) =>
        at("write", path, () => {
          const node = files.get(path) ?? create(path, text)
          Object.assign(node, { text, modified: this.clock })
          return stampOf(node)
        }),
      create: (path, text) =>
        at("create", path, () => {
          absent("create", path)
          return stampOf(create(path, text))
        }),
      link: (from, to) =>
        at("link", to, () => {
          absent("link", to)
          files.set(to, there("link", from))
        }),
      rename: (from, to) =>
        at("rename", from, () => {
          files.set(to, there("rename", from))
          files.delete(from)
        }),
      remove: (path) =>
        at("remove", path, () => {
          there("remove", path)
          files.delete(path)
        }),
      lockFile: (path) => at("openLock", path, () => lockFile(path)),
    }
  }
}

/** A process that takes leases. */
export class LeaseProcess {
  readonly number: number
  leases!: ProcessLeases
  operations = 0
  nonces = 0
  fault: (count: number, operation: string, path: string) => string | undefined = () => undefined

  constructor(number: number) {
    this.number = number
  }

  /**
   * Runs with a fault at one operation, counted from 0. Returns undefined if that fault made it
   * fail.
   */
  withFaultAt<A>(at: number, code: string, run: () => A): A | undefined {
    const from = this.operations
    this.fault = (count) => (count - from === at ? code : undefined)
    try {
      return run()
    } catch (error) {
      if (error instanceof FileFault && error.code === code) return undefined
      throw error
    } finally {
      this.fault = () => undefined
    }
  }

  /** The operations that a run performs, in order, each with its path. */
  trace(run: () => unknown): ReadonlyArray<string> {
    const done: Array<string> = []
    const { fault } = this
    this.fault = (_count, operation, path) => {
      done.push(`${operation} ${path}`)
      return undefined
    }
    run()
    this.fault = fault
    return done
  }

  /** Number of operations that a run performs. */
  count(run: () => unknown): number {
    return this.trace(run).length
  }
}
