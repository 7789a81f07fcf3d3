/**
 * Finds the file of a conversation by its id or path. A path is accepted when its directory, with
 * links resolved, is one of the directories of rollout files, and when the path itself is not a
 * link. Every other path is refused with the same error, whether or not there is a file: a client
 * must not learn from the error which other files exist.
 */
import type { LogAddress } from "@colloquy/core/ConversationStore"
import { outsideSessions, StoreError } from "@colloquy/core/StoreErrors"
import { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Catalog } from "../catalog/Catalog.ts"
import { isAbsent, isScarcity, orUndefined } from "../internal/FileErrors.ts"
import type { FileFault, Files } from "../Files.ts"
import { archiveFolder, idInName, sessionsFolder } from "./RolloutName.ts"
import { storeError } from "../internal/StoreErrorMapping.ts"

/** A rollout file that exists. */
export interface RolloutLocation {
  readonly id: ConversationId
  /** Path relative to the state directory, with `/`. */
  readonly path: string
  readonly archived: boolean
  /** What the caller gave. */
  readonly by: "id" | "path"
}

type Operation = StoreError["operation"]

interface SplitPath {
  readonly directory: string
  readonly name: string
}

/** Undefined for a path that is not absolute or that does not end with a file name. */
const split = (path: string): SplitPath | undefined => {
  const onWindows = /^[A-Za-z]:[\\/]/.test(path)
  if (!path.startsWith("/") && !onWindows) return undefined
  const end = Math.max(path.lastIndexOf("/"), onWindows ? path.lastIndexOf("\\") : -1)
  const name = path.slice(end + 1)
  return name === "" || name === "." || name === ".."
    ? undefined
    : { directory: path.slice(0, Math.max(end, 1)), name }
}

/** Finds rollout files below a state directory. */
export class RolloutLocator {
  private readonly files: Files["Service"]
  private readonly catalog: Catalog
  private readonly home: string

  constructor(files: Files["Service"], catalog: Catalog, home: string) {
    this.files = files
    this.catalog = catalog
    this.home = home
  }

  /** Finds a file by id or path. `operation` is named in errors. */
  find(
    operation: Operation,
    where: LogAddress,
  ): Effect.Effect<RolloutLocation, StoreError | NoSuchConversation> {
    return "id" in where ? this.byId(operation, where.id) : this.byPath(operation, where.path)
  }

  private byId(
    operation: Operation,
    id: ConversationId,
  ): Effect.Effect<RolloutLocation, StoreError | NoSuchConversation> {
    return this.catalog.find(id).pipe(
      Effect.mapError((fault) => storeError(operation, fault)),
      Effect.flatMap((found): Effect.Effect<RolloutLocation, StoreError | NoSuchConversation> => {
        if (found === undefined) return Effect.fail(new NoSuchConversation({ id }))
        const { archived, path } = found
        const located = { id, path, archived, by: "id" } as const
        return found.damaged === true
          ? Effect.as(this.failUnlessFile(operation, path), located)
          : Effect.succeed(located)
      }),
    )
  }

  /** Fails when there is something else than a file at a path that is relative to the state directory. */
  private failUnlessFile(operation: Operation, path: string): Effect.Effect<void, StoreError> {
    return this.files.stat(`${this.home}/${path}`).pipe(
      Effect.mapError((fault) => storeError(operation, fault)),
      Effect.flatMap(({ kind }) => {
        const message = `${path}: expected a rollout file, found a link or another kind of entry`
        return kind === "file"
          ? Effect.void
          : Effect.fail(new StoreError({ operation, reason: "Damaged", message }))
      }),
    )
  }

  private readonly byPath = Effect.fnUntraced(function* (
    this: RolloutLocator,
    operation: Operation,
    path: string,
  ): Effect.fn.Return<RolloutLocation, StoreError | NoSuchConversation> {
    const outside = outsideSessions(operation, `${this.home}/${sessionsFolder}`)
    const parts = split(path)
    if (parts === undefined) return yield* outside
    const folder = yield* this.folderOf(operation, path, parts.directory)
    if (folder === undefined) return yield* outside
    const stat = yield* this.files
      .stat(path)
      .pipe(
        Effect.mapError((fault) =>
          isAbsent(fault) ? new NoSuchConversation({ id: path }) : storeError(operation, fault),
        ),
      )
    if (stat.kind !== "file") {
      const message = `${outside.message}; this path is a directory or a link`
      return yield* new StoreError({ operation, reason: "Outside", message })
    }
    const id = idInName(parts.name)
    if (id === undefined) {
      const message = `${outside.message}; rollout-<time>-<id>.jsonl is the name of one`
      return yield* new StoreError({ operation, reason: "Foreign", message })
    }
    return { id, path: `${folder.path}/${parts.name}`, archived: folder.archived, by: "path" }
  })

  /**
   * The directory of rollout files that equals or contains a directory; undefined for every other
   * directory.
   */
  private readonly folderOf = Effect.fnUntraced(function* (
    this: RolloutLocator,
    operation: Operation,
    path: string,
    directory: string,
  ): Effect.fn.Return<
    { readonly path: string; readonly archived: boolean } | undefined,
    StoreError | NoSuchConversation
  > {
    const real = yield* Effect.result(this.files.realPath(directory))
    if (Result.isFailure(real)) return yield* this.failUnreachable(operation, path, real.failure)
    for (const folder of [sessionsFolder, archiveFolder]) {
      const root = yield* Effect.mapError(
        orUndefined(this.files.realPath(`${this.home}/${folder}`)),
        (fault) => storeError(operation, fault),
      )
      if (root === undefined || !`${real.success}/`.startsWith(`${root}/`)) continue
      return {
        path: `${folder}${real.success.slice(root.length)}`,
        archived: folder === archiveFolder,
      }
    }
    return undefined
  })

  /**
   * The error for a directory that cannot be resolved. The fault is reported when the path is
   * written as one below the rollout folders, or when the system was short of a resource; otherwise
   * the path counts as outside.
   */
  private failUnreachable(
    operation: Operation,
    path: string,
    fault: FileFault,
  ): Effect.Effect<undefined, StoreError | NoSuchConversation> {
    const isInside =
      !/(^|[\\/])\.\.([\\/]|$)/.test(path) &&
      [sessionsFolder, archiveFolder].some((folder) => path.startsWith(`${this.home}/${folder}/`))
    if (!isInside) {
      return isScarcity(fault) ? Effect.fail(storeError(operation, fault)) : Effect.undefined
    }
    return Effect.fail(
      isAbsent(fault) ? new NoSuchConversation({ id: path }) : storeError(operation, fault),
    )
  }
}
