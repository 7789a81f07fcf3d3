/**
 * The file system of leases in memory, shared by processes that end when a test ends them, with a
 * fault at any operation.
 */
import { FileFault } from "../../src/Files.ts"
import { ProcessLeases } from "../../src/leases/ProcessLeases.ts"
import type { LeaseFiles, LockFile } from "../../src/leases/LeaseFiles.ts"

const folder = "/state/colloquy-store"

/** The files and locks that all processes share. */
export class SharedLeaseFiles {
  private readonly files = new Map<string, string>()
  /** The process that holds each lock. */
  private readonly locks = new Map<string, object>()
  private processes = 0

  get paths(): ReadonlyArray<string> {
    return [...this.files.keys()]
  }

  readonly start = (): LeaseProcess => {
    const number = ++this.processes
    const process = new LeaseProcess(number)
    process.leases = new ProcessLeases(folder, this.diskOf(process), {
      owner: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
      pid: number,
      host: "here",
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
    const there = (operation: string, path: string): string => {
      const text = files.get(path)
      if (text === undefined) throw new FileFault({ operation, path, code: "ENOENT" })
      return text
    }
    const lockFile = (path: string): LockFile => {
      if (!files.has(path)) files.set(path, "")
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
      stat: (path) => at("stat", path, () => void there("stat", path)),
      read: (path) => at("read", path, () => there("read", path)),
      write: (path, text) => at("write", path, () => void files.set(path, text)),
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

  /** Number of operations that a run performs. */
  count(run: () => unknown): number {
    const from = this.operations
    run()
    return this.operations - from
  }
}
