/**
 * The rollouts that this process writes. Lists and readers take their data from here and not from
 * the files. The index is updated before each list and when a writer closes.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Catalog } from "../catalog/Catalog.ts"
import type { FileFault } from "../Files.ts"
import { heldUntilClosed } from "../internal/HeldUntilClosed.ts"
import type { ActiveRollout } from "./ActiveRollout.ts"
import type { IndexRow } from "../RolloutIndex.ts"
import type { RolloutWriter } from "./RolloutWriter.ts"

/** Registry of the rollouts that have a writer in this process. */
export class ActiveRollouts {
  /** By conversation. Read-only for other classes. */
  readonly all = new Map<ConversationId, ActiveRollout>()
  private readonly catalog: Catalog

  constructor(catalog: Catalog) {
    this.catalog = catalog
  }

  /** Registers a rollout until the scope closes; its writer is closed then. */
  add(
    id: ConversationId,
    active: ActiveRollout,
    writer: RolloutWriter,
  ): Effect.Effect<void, never, Scope.Scope> {
    active.setWriter(writer)
    const added = Effect.sync(() => {
      this.all.set(id, active)
      return active
    })
    return Effect.asVoid(heldUntilClosed(added, (open) => this.close(id, open, writer)))
  }

  private close(
    id: ConversationId,
    active: ActiveRollout,
    writer: RolloutWriter,
  ): Effect.Effect<void> {
    return Effect.suspend(() =>
      writer.close.pipe(
        Effect.andThen(this.updateIndex(active)),
        Effect.ensuring(
          Effect.sync(() => {
            this.all.delete(id)
          }),
        ),
      ),
    )
  }

  /**
   * Updates the row that the next writer finds in the index. A file whose `stat` fails has no row
   * to update.
   */
  private updateIndex(active: ActiveRollout): Effect.Effect<void> {
    return active.file.handle.stat.pipe(
      Effect.flatMap((version) => this.catalog.put([active.row(version, true)])),
      Effect.ignore,
    )
  }

  /** Writes changed rows to the index. Must complete before a list is read from the index. */
  get flush(): Effect.Effect<void, FileFault> {
    return Effect.gen({ self: this }, function* () {
      const rows: Array<IndexRow> = []
      for (const active of this.all.values()) {
        if (!active.isDirty) continue
        rows.push(active.row(yield* active.file.handle.stat, false))
        active.isDirty = false
      }
      yield* this.catalog.put(rows)
    })
  }
}
