/**
 * Reads a conversation for one stream and sends it to the client: first `notifications/initial_state` with all events so
 * far, then every event as it comes, and the conversation's questions. Sends what each `take` of the listener delivers in
 * this order: withdrawals, initial state, events, questions; so the client never answers a stale question or sees one
 * before its event.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { Listener, ListenerEnd } from "@colloquy/core/listeners/Listener"
import { run } from "@colloquy/core/listeners/Listening"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import { InitialState } from "@colloquy/protocol/mcp/CodexMcp"
import { liveEvent } from "@colloquy/protocol/mcp/StreamNotifications"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { wireMsg } from "../../events/McpEvents.ts"
import type { CallElicitations } from "../elicitation/Elicitations.ts"
import type { RequestContext } from "../RequestContext.ts"

/** The call that opened a stream, and the conversation that it shows. */
export interface Viewer {
  readonly conversation: Conversation
  readonly context: RequestContext
  /** Identity of the client's connection: on the same one, messages arrive in the order in which they were sent. */
  readonly connection: object
  /** The questions of the conversation to the client; undefined for a client that cannot answer any. */
  readonly questions: Effect.Effect<CallElicitations | undefined, never, Scope.Scope>
}

/** `_meta` of every notification of the stream. */
export const metaOf = ({
  context,
  conversation,
}: Viewer): { readonly conversationId: string; readonly requestId: RequestId } => ({
  conversationId: conversation.id,
  requestId: context.requestId,
})

class FellBehind extends Data.TaggedError("FellBehind") {}

type Shown = { readonly msg: EventMsg }

/** Reads for one stream, over as many listeners as it takes. */
export class StreamReader {
  private readonly viewer: Viewer
  /** Undefined for a client that cannot answer questions. */
  private readonly questions: CallElicitations | undefined
  /** Number of the first event that the client has not seen; undefined before the first initial state. */
  private seen: number | undefined
  /** Events before `synced`; undefined behind it. */
  private history: Array<Shown> | undefined
  /** Collected and not sent yet. */
  private resolved: Array<string> = []
  private initial: Array<Shown> | undefined
  private live: Array<EventMsg> = []
  private asked: Array<Event> = []

  constructor(viewer: Viewer, questions: CallElicitations | undefined) {
    this.viewer = viewer
    this.questions = questions
  }

  /** Resolves when the client fell behind: the next listener then begins with another initial state. */
  read(listener: Listener): Effect.Effect<void, ConnectionClosed | ListenerEnd> {
    return Effect.suspend(() => {
      this.history = []
      this.clear()
      return run<ConnectionClosed | FellBehind>(listener, {
        event: (event) => this.collect(event),
        ask: (event) => {
          this.asked.push(event)
        },
        synced: (seq) => {
          this.initial = this.history
          this.history = undefined
          this.seen = seq
        },
        lagged: () => new FellBehind(),
        taken: () => this.send(),
      })
    }).pipe(Effect.catchTag("FellBehind", () => Effect.void))
  }

  private clear(): void {
    this.resolved = []
    this.initial = undefined
    this.live = []
    this.asked = []
  }

  private collect({ msg, seq }: Event): void {
    // Before the first initial state the client has no question that could be withdrawn.
    if (msg.type === "approval_resolved" && this.seen !== undefined && seq >= this.seen) {
      this.resolved.push(msg.call_id)
    }
    if (this.history === undefined) this.seen = seq + 1
    const shown = msg.type === "session_configured" ? undefined : wireMsg(msg)
    if (shown === undefined) return
    if (this.history === undefined) this.live.push(shown)
    else this.history.push({ msg: shown })
  }

  private send(): Effect.Effect<void, ConnectionClosed> {
    return Effect.gen({ self: this }, function* () {
      const { asked, initial, live, questions, resolved, viewer } = this
      this.clear()
      for (const callId of resolved) yield* questions?.withdraw(callId) ?? Effect.void
      if (initial !== undefined) {
        const params = { _meta: metaOf(viewer), initial_state: { events: initial } }
        yield* viewer.context.peer.notify(InitialState, [params])
      }
      yield* this.notifyLive(live)
      for (const event of asked) yield* questions?.put(event) ?? Effect.void
    })
  }

  /** Events of one type that follow on each other, as deltas do, go in one batch. */
  private notifyLive(live: ReadonlyArray<EventMsg>): Effect.Effect<void, ConnectionClosed> {
    const _meta = metaOf(this.viewer)
    const batches: Array<Array<EventMsg>> = []
    for (const msg of live) {
      const last = batches.at(-1)
      if (last?.[0]?.type === msg.type) last.push(msg)
      else batches.push([msg])
    }
    return Effect.forEach(
      batches,
      ([first, ...rest]) =>
        first === undefined
          ? Effect.void
          : this.viewer.context.peer.notify(
              liveEvent(first.type),
              [first, ...rest].map((msg) => ({ _meta, msg })),
            ),
      { discard: true },
    )
  }
}
