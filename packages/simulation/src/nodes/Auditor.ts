/** Reads every log of the database, as a node without faults would: a store of its own over a link that nothing disturbs. */
import type { ConversationStore, ConversationSummary } from "@colloquy/core/ConversationStore"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import { Node } from "./Node.ts"
import type { Surroundings } from "./Process.ts"
import type { NodeRecorder } from "./NodeRecorder.ts"

type Store = ConversationStore["Service"]

/** A log as the store reads it. */
export interface Log {
  readonly id: ConversationId
  readonly archived: boolean
  readonly name: string | undefined
  readonly forkedFrom: string | undefined
  readonly events: ReadonlyArray<Event>
}

/** Records per page. */
const pageSize = 1000

const eventsOf = Effect.fnUntraced(function* (store: Store, id: ConversationId) {
  const events: Array<Event> = []
  let from: number | undefined = 0
  while (from !== undefined) {
    const page: Effect.Success<ReturnType<Store["read"]>> = yield* store.read(id, {
      from,
      max: pageSize,
    })
    for (const record of page.records) if (record._tag === "Event") events.push(record.event)
    from = page.next
  }
  return events
})

const logOf = (store: Store, { archived, meta, name }: ConversationSummary) =>
  Effect.map(eventsOf(store, meta.id), (events): Log => ({
    id: meta.id,
    archived,
    name,
    forkedFrom: meta.forkedFrom,
    events,
  }))

const summaries = (store: Store) =>
  Effect.map(
    Effect.all([store.list({ limit: pageSize }), store.list({ limit: pageSize, archived: true })]),
    (pages) => pages.flatMap(({ items }) => items),
  )

/** What is wrong with the events of a log. */
const faultOf = (events: ReadonlyArray<Event>): string | undefined => {
  const gap = events.findIndex(({ seq }, i) => seq !== i)
  if (gap !== -1) return `event ${gap} has number ${events[gap]?.seq}`
  return events[0]?.msg.type === "session_configured" ? undefined : "it does not start"
}

/** Reads logs beside the nodes. */
export class Auditor {
  private readonly node: Node
  private readonly recorder: NodeRecorder

  constructor(surroundings: Surroundings & { readonly recorder: NodeRecorder }) {
    this.recorder = surroundings.recorder
    this.node = new Node(
      "auditor",
      { skewMs: 0, commitFaults: [] },
      { ...surroundings, cluster: undefined },
    )
    this.node.start()
  }

  /** Records of every log whether it is valid (L11). */
  get inspect(): Effect.Effect<void> {
    const { recorder } = this
    return this.node
      .read((store) =>
        Effect.flatMap(
          summaries(store),
          Effect.forEach(({ meta: { id } }) =>
            Effect.matchEffect(eventsOf(store, id), {
              onFailure: (error) =>
                recorder.record({
                  at: "log",
                  conversation: id,
                  events: 0,
                  // A database that is down says nothing about its logs.
                  ...("reason" in error && error.reason === "Unreachable"
                    ? {}
                    : { fault: error.message }),
                }),
              onSuccess: (events) => {
                const fault = faultOf(events)
                return recorder.record({
                  at: "log",
                  conversation: id,
                  events: events.length,
                  ...(fault === undefined ? {} : { fault }),
                })
              },
            }),
          ),
        ),
      )
      .pipe(Effect.ignore)
  }

  /** Every log. */
  get logs(): Effect.Effect<ReadonlyMap<string, Log>> {
    return this.node
      .read((store) =>
        Effect.flatMap(
          summaries(store),
          Effect.forEach((summary) => logOf(store, summary)),
        ),
      )
      .pipe(
        Effect.map((logs) => new Map(logs.map((log) => [log.id as string, log]))),
        Effect.orDie,
      )
  }

  /** Ends the store. */
  get end(): Effect.Effect<void> {
    return this.node.drain
  }
}
