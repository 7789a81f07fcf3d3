/**
 * A file system in memory. It distinguishes what was written from what is on the disk; any
 * operation can be made to fail and any write to stop short. `powerCut` leaves what a machine has
 * after a power failure.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type FileHandle, type FileStat, FileFault, Files } from "../../src/Files.ts"

interface FileNode {
  readonly kind: "file"
  readonly identity: string
  data: Uint8Array
  onDisk: Uint8Array | undefined
  modifiedMs: number
}

interface DirectoryNode {
  readonly kind: "directory"
  readonly identity: string
  entries: Map<string, Node>
  onDisk: Map<string, Node>
  modifiedMs: number
}

interface LinkNode {
  readonly kind: "link"
  readonly identity: string
  readonly target: string
}

type Node = FileNode | DirectoryNode | LinkNode

/** Names of the operations that can fail. */
export type Operation =
  | "open"
  | "create"
  | "read"
  | "write"
  | "truncate"
  | "sync"
  | "stat"
  | "makeDirectory"
  | "syncDirectory"
  | "list"
  | "realPath"
  | "rename"
  | "append"
  | "remove"

/** The file system, and the controls of a test. */
export class MemoryFiles {
  /** Returns the code with which an operation fails, or undefined. */
  fault: (operation: Operation, path: string) => string | undefined = () => undefined
  /** What an operation waits for after it was carried out. */
  pause: (operation: Operation, path: string) => Effect.Effect<void> = () => Effect.void
  /**
   * Number of bytes that can still be written. The write that exceeds it stops short, and the next
   * one fails with `ENOSPC`.
   */
  room = Infinity
  /** The operations so far, in order. */
  readonly done: Array<string> = []
  /** Number of bytes that all reads so far returned. */
  bytesRead = 0
  private inode = 0
  private clock = 1_700_000_000_000
  private root = this.directory()

  readonly layer = Layer.sync(Files, () => this.service)

  /** Moves the clock of file times. */
  wait(ms: number): void {
    this.clock += ms
  }

  put(path: string, contents: string | Uint8Array): void {
    const [parent, name] = this.parentOf(path)
    const data = typeof contents === "string" ? new TextEncoder().encode(contents) : contents
    const node: FileNode = { ...this.file(), data, onDisk: data }
    parent.entries.set(name, node)
    parent.onDisk.set(name, node)
    parent.modifiedMs = this.clock
  }

  link(path: string, target: string): void {
    const [parent, name] = this.parentOf(path)
    parent.entries.set(name, { kind: "link", identity: `${++this.inode}`, target })
  }

  bytes(path: string): Uint8Array | undefined {
    const node = this.find(path)
    return node?.kind === "file" ? node.data : undefined
  }

  text(path: string): string {
    return new TextDecoder().decode(this.bytes(path))
  }

  /** Appends to a file, as another program would. */
  append(path: string, text: string): void {
    const node = this.find(path)
    if (node?.kind !== "file") throw new Error(`no file ${path}`)
    const more = new TextEncoder().encode(text)
    const data = new Uint8Array(node.data.length + more.length)
    data.set(node.data)
    data.set(more, node.data.length)
    node.data = data
    node.modifiedMs = this.clock
  }

  /** Removes a file or directory without going through the port. */
  unlink(path: string): void {
    const [parent, name] = this.parentOf(path)
    parent.entries.delete(name)
    parent.modifiedMs = this.clock
  }

  /** The paths of all files. */
  files(): ReadonlyArray<string> {
    const below = (path: string, node: Node): ReadonlyArray<string> =>
      node.kind === "directory"
        ? [...node.entries].flatMap(([name, entry]) => below(`${path}/${name}`, entry))
        : [path]
    return below("", this.root).toSorted()
  }

  /** Drops everything that was not synced. */
  powerCut(): void {
    const lose = (node: Node): void => {
      if (node.kind === "file") node.data = node.onDisk ?? new Uint8Array(0)
      if (node.kind !== "directory") return
      node.entries = new Map(node.onDisk)
      for (const entry of node.entries.values()) lose(entry)
    }
    lose(this.root)
    this.inode += 1000
  }

  private file(): FileNode {
    return {
      kind: "file",
      identity: `${++this.inode}`,
      data: new Uint8Array(0),
      onDisk: undefined,
      modifiedMs: this.clock,
    }
  }

  private directory(): DirectoryNode {
    const entries = new Map<string, Node>()
    return {
      kind: "directory",
      identity: `${++this.inode}`,
      entries,
      onDisk: new Map(),
      modifiedMs: this.clock,
    }
  }

  private find(path: string, follow = false): Node | undefined {
    let node: Node | undefined = this.root
    const names = path.replaceAll(/\/[^/]+\/\.\.(?=\/)/g, "").split("/")
    for (const part of names.filter((name) => name !== "")) {
      if (node?.kind === "link") node = this.find(node.target, true)
      node = node?.kind === "directory" ? node.entries.get(part) : undefined
    }
    return follow && node?.kind === "link" ? this.find(node.target, true) : node
  }

  /** Returns the directory of a path, which it creates when it is missing, and the last part of the path. */
  private parentOf(path: string): readonly [DirectoryNode, string] {
    const parts = path.split("/").filter((name) => name !== "")
    const name = parts.pop() ?? ""
    let node = this.root
    for (const part of parts) {
      let next = node.entries.get(part)
      if (next?.kind === "link") next = this.find(next.target, true)
      if (next?.kind !== "directory") {
        next = this.directory()
        node.entries.set(part, next)
        node.onDisk.set(part, next)
        node.modifiedMs = this.clock
      }
      node = next
    }
    return [node, name]
  }

  private run<A>(
    operation: Operation,
    path: string,
    run: () => A | string,
  ): Effect.Effect<A, FileFault> {
    return Effect.suspend(() => {
      this.done.push(`${operation} ${path}`)
      const code = this.fault(operation, path)
      const result = code ?? run()
      return typeof result === "string" && /^E[A-Z]+$/.test(result)
        ? Effect.fail(new FileFault({ operation, path, code: result }))
        : Effect.as(this.pause(operation, path), result as A)
    })
  }

  private statOf(node: Node): FileStat {
    return {
      kind: node.kind === "link" ? "other" : node.kind,
      bytes: node.kind === "file" ? node.data.length : 0,
      modifiedMs: node.kind === "link" ? 0 : node.modifiedMs,
      identity: node.identity,
    }
  }

  private handle(path: string, node: FileNode): FileHandle {
    const resize = (bytes: number) => {
      const data = new Uint8Array(bytes)
      data.set(node.data.subarray(0, bytes))
      node.data = data
      node.modifiedMs = this.clock
    }
    const sync = this.run("sync", path, () => {
      node.onDisk = node.data.slice()
    })
    const parent = path.slice(0, path.lastIndexOf("/"))
    return {
      read: (offset, length) =>
        this.run("read", path, () => {
          const bytes = node.data.slice(offset, offset + length)
          this.bytesRead += bytes.length
          return bytes
        }),
      write: (offset, bytes) =>
        this.run("write", path, () => {
          if (this.room <= 0) return "ENOSPC"
          const count = Math.min(bytes.length, this.room)
          this.room -= count
          resize(Math.max(node.data.length, offset + count))
          node.data.set(bytes.subarray(0, count), offset)
          return count
        }),
      truncate: (bytes) => this.run("truncate", path, () => resize(bytes)),
      sync,
      syncCreated: Effect.andThen(
        sync,
        Effect.suspend(() => this.service.syncDirectory(parent)),
      ),
      stat: this.run("stat", path, () => this.statOf(node)),
    }
  }

  private readonly service: Files["Service"] = {
    open: (path) =>
      this.run("open", path, () => {
        const node = this.find(path)
        if (node === undefined) return "ENOENT"
        return node.kind === "file" ? this.handle(path, node) : "ELOOP"
      }),
    create: (path) =>
      this.run("create", path, () => {
        if (this.find(path) !== undefined) return "EEXIST"
        const folder = this.find(path.slice(0, path.lastIndexOf("/")), true)
        if (folder?.kind !== "directory") return "ENOENT"
        const [parent, name] = this.parentOf(path)
        const node = this.file()
        parent.entries.set(name, node)
        parent.modifiedMs = this.clock
        return this.handle(path, node)
      }),
    makeDirectory: (path) =>
      this.run("makeDirectory", path, () => {
        this.parentOf(`${path}/x`)
      }),
    syncDirectory: (path) =>
      this.run("syncDirectory", path, () => {
        const node = this.find(path, true)
        if (node?.kind !== "directory") return "ENOENT"
        node.onDisk = new Map(node.entries)
        return undefined
      }),
    list: (path) =>
      this.run("list", path, () => {
        const node = this.find(path, true)
        if (node?.kind !== "directory") return "ENOENT"
        return [...node.entries].map(([name, { kind }]) => ({
          name,
          kind: kind === "link" ? ("other" as const) : kind,
        }))
      }),
    stat: (path) =>
      this.run("stat", path, () => {
        const node = this.find(path)
        return node === undefined ? "ENOENT" : this.statOf(node)
      }),
    realPath: (path) =>
      this.run("realPath", path, () => {
        const parts = path.split("/").filter((part) => part !== "" && part !== ".")
        let real = ""
        for (const part of parts) {
          if (part === "..") {
            real = real.slice(0, real.lastIndexOf("/"))
            continue
          }
          const node = this.find(`${real}/${part}`)
          if (node === undefined) return "ENOENT"
          real = node.kind === "link" ? node.target : `${real}/${part}`
        }
        return real
      }),
    rename: (from, to) =>
      this.run("rename", from, () => {
        const node = this.find(from)
        if (node === undefined) return "ENOENT"
        if (this.find(to) !== undefined) return "EEXIST"
        const [parent, name] = this.parentOf(to)
        parent.entries.set(name, node)
        parent.modifiedMs = this.clock
        this.unlink(from)
        return undefined
      }),
    append: (path, bytes) =>
      this.run("append", path, () => {
        const node = this.find(path) ?? this.file()
        if (node.kind !== "file") return "ELOOP"
        const [parent, name] = this.parentOf(path)
        parent.entries.set(name, node)
        const count = Math.min(bytes.length, this.room)
        this.room -= count
        const data = new Uint8Array(node.data.length + count)
        data.set(node.data)
        data.set(bytes.subarray(0, count), node.data.length)
        node.data = data
        node.onDisk = data
        node.modifiedMs = this.clock
        parent.onDisk.set(name, node)
        return count < bytes.length ? "ENOSPC" : undefined
      }),
    remove: (path) =>
      this.run("remove", path, () => {
        if (this.find(path) === undefined) return "ENOENT"
        this.unlink(path)
        return undefined
      }),
  }
}
