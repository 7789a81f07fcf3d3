/** One rollout file in memory, as an implementation of the store's file ports. */
import { FileFault, type FileHandle, Files, type FileStat } from "@colloquy/store/Files"
import { Leases } from "@colloquy/store/Leases"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A file system with one file, and leases that are always granted. */
export class MemoryRollout {
  private data: Uint8Array
  private readonly folder: string
  private readonly path: string

  /** @param path absolute path of the only file */
  constructor(path: string, data: Uint8Array) {
    this.path = path
    this.folder = path.slice(0, path.lastIndexOf("/"))
    this.data = data.slice()
  }

  private readonly fault = (operation: string, path: string, code: string) =>
    Effect.fail(new FileFault({ operation, path, code }))

  private stat(): FileStat {
    return { kind: "file", bytes: this.data.length, modifiedMs: 0, identity: "1" }
  }

  private write(offset: number, bytes: Uint8Array): number {
    const grown = new Uint8Array(Math.max(this.data.length, offset + bytes.length))
    grown.set(this.data)
    grown.set(bytes, offset)
    this.data = grown
    return bytes.length
  }

  private readonly handle: FileHandle = {
    read: (offset, length) => Effect.sync(() => this.data.slice(offset, offset + length)),
    write: (offset, bytes) => Effect.sync(() => this.write(offset, bytes)),
    truncate: (bytes) =>
      Effect.sync(() => {
        this.data = this.data.slice(0, bytes)
      }),
    sync: Effect.void,
    syncCreated: Effect.void,
    stat: Effect.sync(() => this.stat()),
  }

  private isFolder(path: string): boolean {
    return this.folder === path || this.folder.startsWith(`${path}/`)
  }

  private readonly files: Files["Service"] = {
    open: (path) =>
      path === this.path ? Effect.succeed(this.handle) : this.fault("open", path, "ENOENT"),
    create: (path) => this.fault("create", path, "EACCES"),
    makeDirectory: () => Effect.void,
    syncDirectory: () => Effect.void,
    list: (path) =>
      Effect.sync(() => {
        const below = `${path}/`
        if (!this.path.startsWith(below)) return []
        const rest = this.path.slice(below.length)
        const [name = ""] = rest.split("/")
        return [{ name, kind: rest.includes("/") ? "directory" : "file" }]
      }),
    stat: (path) => {
      if (path === this.path) return Effect.sync(() => this.stat())
      return this.isFolder(path)
        ? Effect.succeed({ kind: "directory", bytes: 0, modifiedMs: 0, identity: path })
        : this.fault("stat", path, "ENOENT")
    },
    realPath: (path) => Effect.succeed(path),
    rename: (path) => this.fault("rename", path, "EACCES"),
    append: (path) => this.fault("append", path, "EACCES"),
    remove: (path) => this.fault("remove", path, "EACCES"),
  }

  readonly layer: Layer.Layer<Files | Leases> = Layer.mergeAll(
    Layer.succeed(Files, this.files),
    Layer.succeed(Leases, {
      take: () =>
        Effect.succeed({
          inherited: false,
          lastGeneration: 0,
          recordGeneration: () => Effect.void,
          isHeld: Effect.succeed(true),
        }),
    }),
  )
}
