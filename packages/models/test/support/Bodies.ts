/** Bodies of responses as streams of bytes, decoded as the model client decodes them. */
import type { ModelError, ModelEvent } from "@colloquy/core/ModelClient"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { readFrom } from "../../src/internal/HttpClientAdapter.ts"
import { IdleDeadline } from "../../src/internal/IdleDeadline.ts"
import { IdleDeadlines } from "../../src/internal/IdleDeadlines.ts"
import { type BodyOptions, decodeBody } from "../../src/internal/SseEvents.ts"
import type { WireDecoder } from "../../src/internal/WireDecoder.ts"

/** The events of a body that is never slow. */
export const decodeStream = (
  body: Stream.Stream<Uint8Array, HttpClientError.HttpClientError>,
  decoder: WireDecoder,
  options: BodyOptions,
): Stream.Stream<ModelEvent, ModelError> =>
  Stream.fromChannel(
    Channel.fromTransform((_upstream, scope) =>
      Effect.gen(function* () {
        const pull = yield* Channel.toPullScoped(body.channel, scope)
        const deadlines = yield* Effect.provideService(IdleDeadlines.make, Scope.Scope, scope)
        return decodeBody(
          {
            read: readFrom(pull),
            isReady: () => false,
            isReceived: () => false,
            close: Effect.void,
          },
          new IdleDeadline(deadlines, scope),
          decoder,
          options,
        )
      }),
    ),
  )
