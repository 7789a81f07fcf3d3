/**
 * The events of a conversation as server-sent events. Pulled by the response: nothing is read of a conversation that the
 * client has no room for, and a client that falls behind gets what it missed from the event log (L4, L6).
 *
 * | event | id | data |
 * | --- | --- | --- |
 * | none (`message`) | number of a durable event; absent for an ephemeral one | `{ seq, id, msg }` |
 * | `skipped` | number of a durable event whose content this stream does not contain | `{ seq }` |
 * | `synced` | | `{ seq }`: every event below was sent, live ones follow |
 * | `lagged` | | `{ from }`: deltas were dropped; durable events follow from this number |
 * | `ended` | | the reason; the response ends |
 */
import { type Event, EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import type { ConversationsView } from "@colloquy/server/ConversationsView"
import { appServerEvent, type EventFormat } from "@colloquy/server/events/V1Events"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type CoreError, plainErrorOf } from "./PlainError.ts"

type Conversation = Effect.Success<ReturnType<ConversationsView["Service"]["get"]>>
type Listener = Effect.Success<ReturnType<Conversation["attach"]>>
type Delivery = Effect.Success<Listener["take"]>[number]

/** Common proxies close a response after 30 to 60 s without a byte. */
const keepAliveEvery = Duration.seconds(15)

/** How long a browser waits before it connects again. */
const retryMs = 1000

const encode = Schema.encodeSync(EventMsg)

const record = (fields: { readonly event?: string; readonly id?: number }, data: unknown) =>
  `${fields.event === undefined ? "" : `event: ${fields.event}\n`}${fields.id === undefined ? "" : `id: ${fields.id}\n`}data: ${JSON.stringify(data)}\n\n`

const eventText = ({ id, msg, seq }: Event, format: EventFormat): string => {
  const shown = appServerEvent(msg, format)
  const isNumbered = !isEphemeral(msg)
  if (shown !== undefined)
    return record(isNumbered ? { id: seq } : {}, { seq, id, msg: encode(shown) })
  return isNumbered ? record({ event: "skipped", id: seq }, { seq }) : ""
}

const textOf = (delivery: Delivery, format: EventFormat): string => {
  switch (delivery._tag) {
    case "Event":
      return eventText(delivery.event, format)
    case "Synced":
      return record({ event: "synced" }, { seq: delivery.seq })
    case "Lagged":
      return record({ event: "lagged" }, { from: delivery.from })
    // The question is the event that was sent before; the routes about questions list and answer it.
    case "Ask":
      return ""
  }
}

const lastText = (reason: unknown): string => record({ event: "ended" }, reason)

const endOf = (end: Cause.Done | CoreError) =>
  lastText(
    end._tag === "Done"
      ? { message: "the conversation has ended" }
      : (({ code, message }) => ({ code, message }))(plainErrorOf(end)),
  )

/** What is sent before the conversation has anything to say: a proxy passes the headers on only with some content. */
const greeting = `retry: ${retryMs}\n\n`

/** The text of the stream until the conversation ends or the response does. */
export const eventStream = (listener: Listener, format: EventFormat): Stream.Stream<string> => {
  let over = false
  const taken = listener.take.pipe(
    Effect.map((deliveries) => deliveries.map((one) => textOf(one, format)).join("")),
    Effect.catch((end) => {
      over = true
      return Effect.succeed(endOf(end))
    }),
    Effect.timeoutOption(keepAliveEvery),
    Effect.map(Option.getOrElse(() => ": keep-alive\n\n")),
  )
  const next: Effect.Effect<Arr.NonEmptyReadonlyArray<string>, Cause.Done> = Effect.suspend(() =>
    over
      ? Cause.done()
      : Effect.flatMap(taken, (text) => (text === "" ? next : Effect.succeed(Arr.of(text)))),
  )
  return Stream.concat(Stream.succeed(greeting), Stream.fromPull(Effect.succeed(next)))
}
