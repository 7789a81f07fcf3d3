/**
 * Reads rows of the index from rollout files, and tells apart why a file has none. Removes empty
 * files that a process of this program left behind; changes no other file.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { FileFault, type Files } from "../Files.ts"
import { isAbsent, isScarcity } from "../internal/FileErrors.ts"
import type { Leases } from "../Leases.ts"
import { readIndexRow } from "../rollout/IndexRowReader.ts"
import { archiveFolder, idInName, parentFolder } from "../rollout/RolloutName.ts"
import type { IndexRow } from "../RolloutIndex.ts"

/** Operation of the fault of an empty file that another process is just creating. */
const creating = "lease"

/** True for a path, relative to the state directory, in the folder of archived conversations. */
export const isArchived = (path: string): boolean => path.startsWith(`${archiveFolder}/`)

/** See the header. */
export class FileRows {
  private readonly files: Files["Service"]
  private readonly leases: Leases["Service"]
  private readonly home: string
  /** Files that the system refused to read, by the id in their names. */
  private readonly refused = new Map<
    ConversationId,
    { readonly path: string; readonly fault: FileFault }
  >()

  /** @param home the state directory */
  constructor(files: Files["Service"], leases: Leases["Service"], home: string) {
    this.files = files
    this.leases = leases
    this.home = home
  }

  /** Path of the file with this id in its name, if the system refused to read it. */
  refusedPath(id: ConversationId): string | undefined {
    return this.refused.get(id)?.path
  }

  /** True when the system refused to read a file in this folder. */
  hasRefused(folder: string): boolean {
    return [...this.refused.values()].some(({ path }) => path.startsWith(`${folder}/`))
  }

  /** Forgets the refused files directly in a folder that are not there any more. */
  forgetAbsent(folder: string, present: ReadonlySet<string>): void {
    for (const [id, { path }] of this.refused) {
      const name = path.slice(path.lastIndexOf("/") + 1)
      if (parentFolder(path) === folder && !present.has(name)) this.refused.delete(id)
    }
  }

  /** Paths of the files that the system refused to read, without those that are just being created. */
  get unreadable(): ReadonlyArray<string> {
    return [...this.refused.values()].flatMap(({ fault, path }) =>
      fault.operation === creating ? [] : [path],
    )
  }

  /**
   * Reads the row of a file. `damaged` when the file is not a rollout, or that of another id than
   * its name has. Undefined when there is no such file, when it has no id in its name, or when the
   * system refused to read it.
   */
  read(path: string): Effect.Effect<IndexRow | "damaged" | undefined, FileFault> {
    const id = idInName(path.slice(path.lastIndexOf("/") + 1))
    return id === undefined ? Effect.undefined : this.readNamed(id, path)
  }

  private readNamed(
    id: ConversationId,
    path: string,
  ): Effect.Effect<IndexRow | "damaged" | undefined, FileFault> {
    const place = { path, archived: isArchived(path) }
    return Effect.scoped(
      Effect.flatMap(this.files.open(`${this.home}/${path}`, "read"), (handle) =>
        Effect.flatMap(handle.stat, (stat) =>
          stat.bytes === 0
            ? Effect.map(this.discardEmptyFile(id, path), (isDiscarded) =>
                isDiscarded ? undefined : ("damaged" as const),
              )
            : Effect.map(readIndexRow(handle, stat, place), (row) =>
                row?.meta.id === id ? row : ("damaged" as const),
              ),
        ),
      ),
    ).pipe(
      Effect.tap(() => Effect.sync(() => this.refused.delete(id))),
      Effect.catch((fault) => {
        // Not the file's fault: the machine is short of a resource, which affects every other file
        // as well.
        if (isScarcity(fault)) return Effect.fail(fault)
        if (!isAbsent(fault)) this.refused.set(id, { path, fault })
        else if (this.refusedPath(id) === path) this.refused.delete(id)
        return Effect.undefined
      }),
    )
  }

  /**
   * Removes an empty file that a process left behind when it ended while creating a conversation;
   * no client was given its id. The file stays while a process may still be writing it, and when no
   * lease shows that this program created it. True when there is no empty file any more.
   */
  private discardEmptyFile(id: ConversationId, path: string): Effect.Effect<boolean, FileFault> {
    const file = `${this.home}/${path}`
    return this.leases.take(id).pipe(
      Effect.flatMap(({ inherited }) =>
        inherited ? this.files.stat(file) : Effect.succeed(undefined),
      ),
      Effect.flatMap((stat) =>
        stat?.bytes === 0
          ? Effect.as(this.files.remove(file), true)
          : Effect.succeed(stat !== undefined),
      ),
      Effect.scoped,
      Effect.uninterruptible,
      // The file is being created: fail, so that the folder is read again later.
      Effect.catchTag("LeaseHeld", () =>
        Effect.fail(new FileFault({ operation: creating, path: file, code: "EBUSY" })),
      ),
    )
  }
}
