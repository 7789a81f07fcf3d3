/** What a call waits for, unless the conversation asks something first, where that can only be told in the answer. */
import type { Conversation } from "@colloquy/core/Conversation"
import * as Effect from "effect/Effect"
import type { InputRequired } from "../RequestContext.ts"
import { untilAsked } from "../elicitation/stateless/AskedConversation.ts"
import type { ToolCaller } from "../codex/TurnCall.ts"
import { Refused } from "./Results.ts"

export const raceQuestions = <A, E, R>(
  conversation: Conversation,
  call: ToolCaller,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | InputRequired | Refused, R> =>
  Effect.raceFirst(
    work,
    Effect.scoped(untilAsked(conversation, call)).pipe(
      // It is over: the work finds out by itself, and says what came of it.
      Effect.catchTag("Done", () => Effect.never),
      Effect.catchTags({
        ConversationUnavailable: ({ message }) => new Refused({ message }),
        EventsFromFuture: ({ message }) => new Refused({ message }),
        TooManyListeners: ({ message }) => new Refused({ message }),
      }),
    ),
  )
