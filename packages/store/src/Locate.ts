/**
 * From an id or a path to the file of a conversation. A path counts where it lies once links are resolved, and no link
 * stands in its place; whatever lies elsewhere is refused before it is opened.
 */
import type { Where } from "@colloquy/core/store/ConversationStore"
import { StoreError } from "@colloquy/core/store/StoreErrors"
import { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type { Catalog } from "./Catalog.ts"
import { isAbsent, orUndefined } from "./FileErrors.ts"
import { type Files } from "./Files.ts"
import { archiveFolder, idInName, sessionsFolder } from "./RolloutName.ts"
import { storeError } from "./StoreFaults.ts"

export interface Located {
  readonly id: ConversationId
  /** From the state directory, with `/`. */
  readonly path: string
  readonly archived: boolean
}

type Operation = StoreError["operation"]

const outside = (operation: Operation, path: string, expected: string) =>
  new StoreError({ operation, reason: "Outside", message: `path ${path}: expected ${expected}` })

export class Locator {
  private readonly files: Files["Service"]
  private readonly catalog: Catalog
  private readonly home: string

  constructor(files: Files["Service"], catalog: Catalog, home: string) {
    this.files = files
    this.catalog = catalog
    this.home = home
  }

  find(
    operation: Operation,
    where: Where,
  ): Effect.Effect<Located, StoreError | NoSuchConversation> {
    return "id" in where ? this.byId(operation, where.id) : this.byPath(operation, where.path)
  }

  private byId(
    operation: Operation,
    id: ConversationId,
  ): Effect.Effect<Located, StoreError | NoSuchConversation> {
    return this.catalog.find(id).pipe(
      Effect.mapError((fault) => storeError(operation, fault)),
      Effect.flatMap((row) =>
        row === undefined
          ? Effect.fail(new NoSuchConversation({ id }))
          : Effect.succeed({ id, path: row.path, archived: row.archived }),
      ),
    )
  }

  private readonly byPath = Effect.fnUntraced(function* (
    this: Locator,
    operation: Operation,
    path: string,
  ): Effect.fn.Return<Located, StoreError | NoSuchConversation> {
    if (!path.startsWith("/") && !/^[A-Za-z]:[\\/]/.test(path)) {
      return yield* outside(operation, path, "an absolute one")
    }
    const stat = yield* this.files
      .stat(path)
      .pipe(
        Effect.mapError((fault) =>
          isAbsent(fault) ? new NoSuchConversation({ id: path }) : storeError(operation, fault),
        ),
      )
    if (stat.kind !== "file") return yield* outside(operation, path, "a file, and no link to one")
    const real = yield* this.real(operation, path)
    for (const folder of [sessionsFolder, archiveFolder]) {
      const root = yield* Effect.mapError(
        orUndefined(this.files.realPath(`${this.home}/${folder}`)),
        (fault) => storeError(operation, fault),
      )
      if (root === undefined || !real.startsWith(`${root}/`)) continue
      const id = idInName(real.slice(real.lastIndexOf("/") + 1))
      if (id === undefined) {
        const message = `path ${path}: expected the name of a rollout file`
        return yield* new StoreError({ operation, reason: "Foreign", message })
      }
      return {
        id,
        path: `${folder}${real.slice(root.length)}`,
        archived: folder === archiveFolder,
      }
    }
    return yield* outside(operation, path, `one in the ${sessionsFolder} directory`)
  })

  private real(operation: Operation, path: string): Effect.Effect<string, StoreError> {
    return Effect.mapError(this.files.realPath(path), (fault) => storeError(operation, fault))
  }
}
