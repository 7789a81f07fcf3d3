/** The reading half of the store: pages of any conversation's records, through the writer's own handle where there is one. */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import type { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { StoreError } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type { FileFault, Files } from "../Files.ts"
import type { Header } from "./Header.ts"
import type { LiveRollout } from "./LiveRollout.ts"
import type { Locator } from "./Locate.ts"
import { LogReader, Waypoints } from "./LogReader.ts"
import { ownHeader } from "./OpenRollout.ts"
import { withReason } from "../internal/StoreFaults.ts"

/** Files whose numbering is remembered between two pages. */
const maxRemembered = 64

interface Remembered {
  readonly identity: string
  readonly header: Header
  readonly waypoints: Waypoints
}

type Use<A> = (reader: LogReader, end: number) => Effect.Effect<A, FileFault>

type Service = ConversationStore["Service"]

export class RolloutPages {
  private readonly files: Files["Service"]
  private readonly locator: Locator
  private readonly home: string
  private readonly live: ReadonlyMap<ConversationId, LiveRollout>
  private readonly remembered = new Map<ConversationId, Remembered>()

  /** @param live those that this process writes: of them no more is read than is good */
  constructor(
    files: Files["Service"],
    locator: Locator,
    home: string,
    live: ReadonlyMap<ConversationId, LiveRollout>,
  ) {
    this.files = files
    this.locator = locator
    this.home = home
    this.live = live
  }

  readonly read: Service["read"] = (id, { from = 0, max }) =>
    this.reading(id, (reader, end) => reader.forward(from, max, end))

  readonly readBackward: Service["readBackward"] = (id, { before = Infinity, max }) =>
    this.reading(id, (reader, end) => reader.backward(before, max, end))

  readonly positionOf: Service["positionOf"] = (id, seq) =>
    this.reading(id, (reader, end) => reader.positionOf(seq, end))

  forget(id: ConversationId): void {
    this.remembered.delete(id)
  }

  private reading<A>(
    id: ConversationId,
    use: Use<A>,
  ): Effect.Effect<A, StoreError | NoSuchConversation> {
    return Effect.suspend(() => {
      const live = this.live.get(id)
      if (live === undefined) return this.readingFile(id, use)
      const { handle, header, waypoints } = live.file
      return use(new LogReader(handle, header, waypoints), live.bytes)
    }).pipe(withReason("read"))
  }

  private readingFile<A>(id: ConversationId, use: Use<A>) {
    return Effect.gen({ self: this }, function* () {
      const located = yield* this.locator.find("read", { id })
      const handle = yield* this.files.open(`${this.home}/${located.path}`, "read")
      const { bytes, identity } = yield* handle.stat
      let known = this.remembered.get(id)
      if (known?.identity !== identity) {
        const header = yield* ownHeader(handle, located)
        known = { identity, header, waypoints: new Waypoints() }
      }
      this.remember(id, known)
      return yield* use(new LogReader(handle, known.header, known.waypoints), bytes)
    }).pipe(Effect.scoped)
  }

  private remember(id: ConversationId, known: Remembered): void {
    this.remembered.delete(id)
    this.remembered.set(id, known)
    if (this.remembered.size <= maxRemembered) return
    for (const oldest of this.remembered.keys()) {
      this.remembered.delete(oldest)
      return
    }
  }
}
