/**
 * Leases between the processes of one machine (L16): `ProcessLeases` on the file system of this
 * machine.
 */
import type { LeaseHeld } from "@colloquy/core/StoreErrors"
import { type ConversationId, uuidV7 } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import { hostname } from "node:os"
import { closeLeases, acquireLease } from "../leases/ScopedLease.ts"
import { ProcessLeases } from "../leases/ProcessLeases.ts"
import { type Lease, Leases } from "../Leases.ts"
import type { FileFault } from "../Files.ts"
import * as NodeLeaseDisk from "./NodeLeaseFiles.ts"
import { sqlite } from "./Sqlite.ts"

const word = Random.nextIntBetween(0, 2 ** 32, { halfOpen: true })

/**
 * The identity of this process. Uses the same source of randomness as the ids of conversations: that
 * of Node takes some milliseconds of a first conversation to load.
 */
const makeSelf = Effect.fnUntraced(function* (url: () => string | undefined) {
  const now = yield* Clock.currentTimeMillis
  const owner = uuidV7(now, [yield* word, yield* word, yield* word, yield* word])
  let texts = 0
  return {
    owner,
    pid: process.pid,
    host: hostname(),
    url,
    nonce: () => `${owner}-${++texts}`,
  }
})

/**
 * Layer of the leases. SQLite is loaded and the folder is created when the first lease is taken.
 *
 * @param folder created when it is missing; shared by all processes of the state directory
 * @param url the address that the lease files name from now on; default: none
 */
export const layer = (
  folder: string,
  url: () => string | undefined = () => undefined,
): Layer.Layer<Leases> =>
  Layer.effect(
    Leases,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const leases = yield* Effect.cached(
        Effect.zip(sqlite, makeSelf(url)).pipe(
          Effect.map(
            ([{ DatabaseSync }, self]) =>
              new ProcessLeases(folder, NodeLeaseDisk.make(DatabaseSync), self),
          ),
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
