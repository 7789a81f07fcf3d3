/**
 * Reads pages of any conversation's records. Uses the writer's own file handle while this process
 * writes the conversation, so that no half-written batch is read.
 */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import type { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { StoreError } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type { FileFault, Files } from "../Files.ts"
import type { RolloutHeader } from "./RolloutHeader.ts"
import type { ActiveRollout } from "./ActiveRollout.ts"
import type { RolloutLocator } from "./RolloutLocator.ts"
import { LogReader } from "./LogReader.ts"
import { Waypoints } from "./Waypoints.ts"
import { readOwnHeader } from "./RolloutRecovery.ts"
import { mapFileFaults } from "../internal/StoreErrorMapping.ts"

/** Number of files whose header and waypoints are kept between two pages. */
const maxCachedFiles = 64

interface CachedFile {
  readonly identity: string
  readonly header: RolloutHeader
  readonly waypoints: Waypoints
}

type Use<A> = (reader: LogReader, end: number) => Effect.Effect<A, FileFault>

type Service = ConversationStore["Service"]

/** The reading operations of the store. */
export class RolloutPages {
  private readonly files: Files["Service"]
  private readonly locator: RolloutLocator
  private readonly home: string
  private readonly active: ReadonlyMap<ConversationId, ActiveRollout>
  private readonly cached = new Map<ConversationId, CachedFile>()

  /** @param active the rollouts that this process writes; only their first `bytes` bytes are read */
  constructor(
    files: Files["Service"],
    locator: RolloutLocator,
    home: string,
    active: ReadonlyMap<ConversationId, ActiveRollout>,
  ) {
    this.files = files
    this.locator = locator
    this.home = home
    this.active = active
  }

  readonly read: Service["read"] = (id, { from = 0, max }) =>
    this.withReader(id, (reader, end) => reader.readForward(from, max, end))

  readonly readBackward: Service["readBackward"] = (id, { before = Infinity, max }) =>
    this.withReader(id, (reader, end) => reader.readBackward(before, max, end))

  readonly positionOf: Service["positionOf"] = (id, seq) =>
    this.withReader(id, (reader, end) => reader.positionOf(seq, end))

  /** Drops what is kept of a file. */
  forget(id: ConversationId): void {
    this.cached.delete(id)
  }

  private withReader<A>(
    id: ConversationId,
    use: Use<A>,
  ): Effect.Effect<A, StoreError | NoSuchConversation> {
    return Effect.suspend(() => {
      const active = this.active.get(id)
      if (active === undefined) return this.withFileReader(id, use)
      const { handle, header, waypoints } = active.file
      return use(new LogReader(handle, header, waypoints), active.bytes)
    }).pipe(mapFileFaults("read"))
  }

  private withFileReader<A>(id: ConversationId, use: Use<A>) {
    return Effect.gen({ self: this }, function* () {
      const located = yield* this.locator.find("read", { id })
      const handle = yield* this.files.open(`${this.home}/${located.path}`, "read")
      const { bytes, identity } = yield* handle.stat
      let known = this.cached.get(id)
      if (known?.identity !== identity) {
        const header = yield* readOwnHeader(handle, located)
        known = { identity, header, waypoints: new Waypoints() }
      }
      this.cache(id, known)
      return yield* use(new LogReader(handle, known.header, known.waypoints), bytes)
    }).pipe(Effect.scoped)
  }

  private cache(id: ConversationId, known: CachedFile): void {
    this.cached.delete(id)
    this.cached.set(id, known)
    if (this.cached.size <= maxCachedFiles) return
    for (const oldest of this.cached.keys()) {
      this.cached.delete(oldest)
      return
    }
  }
}
