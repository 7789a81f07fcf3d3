/**
 * Reads one response of the model: emits its events, starts its tool calls, and remembers what the turn needs to
 * continue. Per delta it makes no more than one call of the port.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import * as Effect from "effect/Effect"
import type { ConversationSettings } from "../ConversationSettings.ts"
import { isToolCall } from "../log/History.ts"
import { answerOf } from "../log/MessageEvents.ts"
import type { ModelEvent } from "../ModelClient.ts"
import { deltaEvents, itemEvents, tokenCount } from "./ModelEvents.ts"
import type { ToolCalls } from "./ToolCalls.ts"
import type { Step, TurnPort } from "./TurnPort.ts"
import { WebSearches } from "./WebSearches.ts"

/** What the turn needs to know of a complete response. */
export interface ResponseResult {
  /** True when the response contains a tool call: its output is sent with another request. */
  readonly followUp: boolean
  /** The last message of the model. Null when it sent none. */
  readonly lastMessage: string | null
}

/** One response of the model. */
export class ModelResponse {
  private readonly port: TurnPort
  private readonly settings: ConversationSettings
  private readonly usage: Step["usage"]
  private readonly calls: ToolCalls
  private readonly searches: WebSearches
  private readonly holdsAnswer: boolean
  /** Events of the message that may be the answer: shown only if something follows. */
  private held: ReadonlyArray<EventMsg> = []
  private followUp = false
  private lastMessage: string | null = null

  constructor(parts: {
    readonly port: TurnPort
    readonly settings: ConversationSettings
    readonly usage: Step["usage"]
    readonly calls: ToolCalls
    /** True: the answer is only in the result, not among the events. Its deltas are not emitted either. */
    readonly holdsAnswer?: boolean
  }) {
    this.port = parts.port
    this.settings = parts.settings
    this.usage = parts.usage
    this.calls = parts.calls
    this.holdsAnswer = parts.holdsAnswer === true
    this.searches = new WebSearches(parts.port.eventCallId)
  }

  /** The result so far. */
  get result(): ResponseResult {
    return { followUp: this.followUp, lastMessage: this.lastMessage }
  }

  /** Handles the next events of the stream. Resolves when they are emitted and their calls have started or ended. */
  handle(events: ReadonlyArray<ModelEvent>): Effect.Effect<void> {
    return Effect.suspend(() => this.handleFrom(events, 0, []))
  }

  /** Handles the events from this index on; `pending` are the events to emit before theirs. */
  private handleFrom(
    events: ReadonlyArray<ModelEvent>,
    from: number,
    pending: Array<EventMsg>,
  ): Effect.Effect<void> {
    for (let index = from; index < events.length; index++) {
      const event = events[index]
      if (event === undefined) continue
      if (event._tag === "Completed") {
        // The outputs of the calls precede the token count of the response.
        return Effect.flatMap(this.remaining(), (outputs) => {
          const { rateLimits, usage } = event
          if (this.followUp) pending.push(...this.released())
          pending.push(...outputs)
          pending.push(tokenCount(this.usage, usage, this.settings.contextWindow, rateLimits))
          return this.handleFrom(events, index + 1, pending)
        })
      }
      if (event._tag === "ItemDone") {
        const { item } = event
        pending.push(...this.eventsOf(item))
        if (isToolCall(item)) {
          this.followUp = true
          return this.port
            .emit(pending)
            .pipe(
              Effect.andThen(this.calls.start(item)),
              Effect.andThen(Effect.suspend(() => this.handleFrom(events, index + 1, []))),
            )
        }
      } else if (event._tag === "WebSearchBegin" || event._tag === "WebSearchEnd") {
        pending.push(...this.searches.add(event))
      } else if (event._tag !== "TextDelta" || !this.holdsAnswer) {
        pending.push(...deltaEvents(event, this.settings))
      }
    }
    return this.emit(pending)
  }

  /** The events of a finished item, and of a message that was held until something followed. */
  private eventsOf(item: ResponseItem): ReadonlyArray<EventMsg> {
    const answer = answerOf(item)
    this.lastMessage = answer ?? this.lastMessage
    const events = itemEvents(item, this.settings)
    const before = this.released()
    if (answer === undefined || !this.holdsAnswer) return [...before, ...events]
    this.held = events
    return before
  }

  private released(): ReadonlyArray<EventMsg> {
    const { held } = this
    this.held = []
    return held
  }

  /** The stream failed: emits the outputs of the calls that were made, so that a retried request contains them. */
  get abandon(): Effect.Effect<void> {
    return Effect.flatMap(this.remaining(), (events) => this.emit(events))
  }

  /** Waits for the calls of the response. Resolves with the events that are left to emit. */
  private remaining(): Effect.Effect<ReadonlyArray<EventMsg>> {
    return Effect.map(this.calls.finish, (outputs) => [...this.searches.close(), ...outputs])
  }

  private emit(events: ReadonlyArray<EventMsg>): Effect.Effect<void> {
    return events.length === 0 ? Effect.void : this.port.emit(events)
  }
}
