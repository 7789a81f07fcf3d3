/**
 * The conversations that this process writes: what lists and readers are told of them comes from here and not from their
 * files, and the index learns of it before a list is made and when the writer goes.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Catalog } from "../catalog/Catalog.ts"
import type { FileFault } from "../Files.ts"
import type { ActiveRollout } from "./ActiveRollout.ts"
import type { IndexRow } from "../RolloutIndex.ts"
import type { RolloutWriter } from "./RolloutWriter.ts"

export class ActiveRollouts {
  readonly all = new Map<ConversationId, ActiveRollout>()
  private readonly catalog: Catalog

  constructor(catalog: Catalog) {
    this.catalog = catalog
  }

  /** Until the scope closes; its writer is closed then. */
  add(
    id: ConversationId,
    live: ActiveRollout,
    writer: RolloutWriter,
  ): Effect.Effect<void, never, Scope.Scope> {
    live.setWriter(writer)
    return Effect.acquireRelease(
      Effect.sync(() => {
        this.all.set(id, live)
      }),
      () =>
        writer.close.pipe(
          Effect.andThen(this.updateIndex(live)),
          Effect.ensuring(
            Effect.sync(() => {
              this.all.delete(id)
            }),
          ),
        ),
    )
  }

  /** What the next opener finds in the index. A file that nobody can look at any more has no row to keep. */
  private updateIndex(live: ActiveRollout): Effect.Effect<void> {
    return live.file.handle.stat.pipe(
      Effect.flatMap((version) => this.catalog.put([live.row(version, true)])),
      Effect.ignore,
    )
  }

  /** Lists are made by the index: it is told first of what was said since. */
  get flush(): Effect.Effect<void, FileFault> {
    return Effect.gen({ self: this }, function* () {
      const rows: Array<IndexRow> = []
      for (const live of this.all.values()) {
        if (!live.isDirty) continue
        rows.push(live.row(yield* live.file.handle.stat, false))
        live.isDirty = false
      }
      yield* this.catalog.put(rows)
    })
  }
}
