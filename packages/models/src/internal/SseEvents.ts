/**
 * The body of a streaming response as model events: bytes to server-sent events to the wire's decoder, one array of
 * events per pull, in plain functions. Owns the idle timeout; the connection belongs to the body's own scope.
 */
import type { ModelError, ModelEvent } from "@colloquy/core/ModelClient"
import { ServerSentEvents } from "@colloquy/protocol/ServerSentEvents"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import { dropped, eventTooLarge, idle, responseTooLarge } from "./Failures.ts"
import type { Reading, WireDecoder } from "./WireDecoder.ts"

/** How long the rest of a whole answer (usage, end marker, end of the body) is waited for: reading to the end lets the connection be used again. */
const rest = Duration.millis(500)

/** Notes of one response that are logged one by one; further ones are counted. */
const maxNotes = 5

/** Limits of one response, in bytes. */
interface ResponseLimits {
  readonly maxEventBytes: number
  /** Of the whole body: what a decoder holds back, and what a turn keeps of one response, are bounded by it. */
  readonly maxResponseBytes: number
}

/** Reads bytes into `out`; `failure` and `ended` tell how it went. */
const makeReader = (decoder: WireDecoder, limits: ResponseLimits) => {
  let out: Array<ModelEvent> = []
  let failure: ModelError | undefined
  let seen = 0
  let bytes = 0
  let notes: Array<string> = []
  let noted = 0
  const take = ({ error, note }: Reading) => {
    failure ??= error
    if (note !== undefined && ++noted <= maxNotes) notes.push(note)
  }
  const parser = new ServerSentEvents(limits.maxEventBytes, (data) => {
    seen++
    if (failure === undefined) take(decoder.event(data, out))
  })
  return {
    read: (chunks: ReadonlyArray<Uint8Array>) => {
      for (const chunk of chunks) {
        if (failure !== undefined || decoder.phase() === "done") return
        const left = limits.maxResponseBytes - bytes
        bytes += chunk.length
        const fits = parser.feed(chunk.subarray(0, left))
        // What follows a whole answer is not looked at, however the bytes are cut.
        if (failure !== undefined || decoder.phase() === "done") return
        if (!fits) failure = eventTooLarge(limits.maxEventBytes)
        else if (chunk.length > left) failure = responseTooLarge(limits.maxResponseBytes)
      }
    },
    /**
     * End of the body, or as good as. A last event without its blank line counts when it can be read; half an event
     * is no fault of its own, the answer is just not whole.
     */
    end: () => {
      if (failure !== undefined) return
      parser.end()
      if (failure === undefined) take(decoder.end(out))
      if (noted > maxNotes) notes.push(`${noted - maxNotes} more notes of this kind are left out`)
    },
    fail: (error: ModelError) => {
      failure ??= error
    },
    seen: () => seen,
    failure: () => failure,
    takeNotes: () => {
      const taken = notes
      notes = []
      return taken
    },
    take: () => {
      const taken = out
      out = []
      return taken
    },
  }
}

export interface BodyOptions extends ResponseLimits {
  /** The longest wait for one more server-sent event; comments do not count. */
  readonly idleTimeout: Duration.Duration
  /** Id of the provider, for the log. */
  readonly provider: string
}

/** Skipped events are logged as warnings, a bounded number of them for one response. */
export const decodeBody = (
  body: Stream.Stream<Uint8Array, HttpClientError.HttpClientError>,
  decoder: WireDecoder,
  { idleTimeout, provider, ...limits }: BodyOptions,
): Stream.Stream<ModelEvent, ModelError> =>
  Stream.transformPull(body, (pull) =>
    Effect.sync(() => {
      const reader = makeReader(decoder, limits)
      let ended = false
      const end = () => {
        ended = true
        reader.end()
      }
      const more = Pull.matchEffect(pull, {
        onSuccess: (chunks) => Effect.sync(() => reader.read(chunks)),
        onFailure: (cause) =>
          Cause.hasFails(cause)
            ? Effect.sync(() => {
                ended = true
                if (decoder.phase() === "open") reader.fail(dropped)
                else reader.end()
              })
            : // Interruption and defects pass.
              Effect.failCause(cause as Cause.Cause<never>),
        onDone: () => Effect.sync(end),
      })
      const untilEvent: Effect.Effect<void> = Effect.suspend(() => {
        const before = reader.seen()
        const step: Effect.Effect<void> = Effect.flatMap(more, () =>
          ended || reader.failure() !== undefined || reader.seen() > before ? Effect.void : step,
        )
        return step
      })
      const wait = Effect.suspend(() =>
        Effect.timeoutOrElse(untilEvent, {
          duration: decoder.phase() === "open" ? idleTimeout : Duration.min(rest, idleTimeout),
          orElse: () =>
            Effect.sync(() => {
              ended = true
              if (decoder.phase() === "open") reader.fail(idle)
              else reader.end()
            }),
        }),
      )
      const log = (notes: ReadonlyArray<string>) =>
        Effect.forEach(
          notes,
          (note) => Effect.logWarning(`event stream of model provider \`${provider}\`: ${note}`),
          { discard: true },
        )
      const next: Pull.Pull<Arr.NonEmptyReadonlyArray<ModelEvent>, ModelError> = Effect.suspend(
        () => {
          const notes = reader.takeNotes()
          if (notes.length > 0) return Effect.andThen(log(notes), next)
          const events = reader.take()
          if (Arr.isReadonlyArrayNonEmpty(events)) return Effect.succeed(events)
          const failure = reader.failure()
          if (failure !== undefined) return Effect.fail(failure)
          return ended ? Cause.done() : Effect.flatMap(wait, () => next)
        },
      )
      return next
    }),
  )
