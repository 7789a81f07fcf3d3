/**
 * Leases between the processes of one machine (L16): `ProcessLeases` on the file system of this
 * machine.
 */
import type { LeaseHeld } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { closeLeases, acquireLease } from "../leases/ScopedLease.ts"
import { ProcessLeases } from "../leases/ProcessLeases.ts"
import { type Lease, Leases } from "../Leases.ts"
import type { FileFault } from "../Files.ts"
import * as NodeLeaseDisk from "./NodeLeaseFiles.ts"
import { sqlite } from "./Sqlite.ts"

/**
 * Layer of the leases. SQLite is loaded and the folder is created when the first lease is taken.
 *
 * @param folder created when it is missing; shared by all processes of the state directory
 */
export const layer = (folder: string): Layer.Layer<Leases> =>
  Layer.effect(
    Leases,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const leases = yield* Effect.cached(
        sqlite.pipe(
          Effect.map(({ DatabaseSync }) => {
            const { pid } = process
            const self = { owner: randomUUID(), pid, host: hostname(), nonce: randomUUID }
            return new ProcessLeases(folder, NodeLeaseDisk.make(DatabaseSync), self)
          }),
          Effect.tap((made) => Scope.addFinalizer(scope, closeLeases(made))),
        ),
      )
      return {
        take: Effect.fnUntraced(function* (
          id: ConversationId,
        ): Effect.fn.Return<Lease, LeaseHeld | FileFault, Scope.Scope> {
          return yield* acquireLease(yield* leases, id, yield* Clock.currentTimeMillis)
        }),
      }
    }),
  )
