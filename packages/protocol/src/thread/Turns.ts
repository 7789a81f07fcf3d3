/** Methods of app-server v2 that start, steer and interrupt turns. */
import * as Schema from "effect/Schema"
import { request } from "../Method.ts"
import { Turn } from "./Thread.ts"
import { experimentalSettings, lastingSettings } from "./ThreadChanges.ts"
import { maybe, Open, UserInputParam } from "./Values.ts"

/** Most characters of the texts of one input. */
export const maxInputCharacters = 1_048_576

/** Starts a turn. */
export const TurnStart = request("turn/start", {
  params: Schema.Struct({
    threadId: Schema.String,
    /** At least one element with content. */
    input: Schema.Array(UserInputParam),
    /** Comes back as `clientId` of the item. */
    clientUserMessageId: maybe(Schema.String),
    ...lastingSettings,
    /** JSON Schema of the answer, for this turn only. */
    outputSchema: maybe(Schema.Unknown),
    serviceTierForTurn: maybe(Schema.String),
    environments: maybe(Schema.Array(Schema.Unknown)),
    /** Empty. What the model is to know besides the input is refused, since nothing would read it. */
    additionalContext: maybe(Open),
  }),
  result: Schema.Struct({ turn: Turn }),
  experimental: [...experimentalSettings, "environments", "additionalContext"],
  cancellable: false,
  since: "0.58",
  doc: "Starts a turn, with settings that also apply to later ones. While a turn runs, the input joins it, and the result has the id of that turn.",
})

/** Adds input to the running turn. */
export const TurnSteer = request("turn/steer", {
  params: Schema.Struct({
    threadId: Schema.String,
    input: Schema.Array(UserInputParam),
    expectedTurnId: Schema.String,
    clientUserMessageId: maybe(Schema.String),
  }),
  result: Schema.Struct({ turnId: Schema.String }),
  cancellable: false,
  since: "0.99",
  doc: "Adds input to the running turn, which must be the expected one.",
})

/** Interrupts the running turn. */
export const TurnInterrupt = request("turn/interrupt", {
  params: Schema.Struct({ threadId: Schema.String, turnId: Schema.String }),
  result: Schema.Struct({}),
  cancellable: false,
  since: "0.58",
  doc: "Interrupts a turn, from the response to `turn/start` on. Its items complete, and `turn/completed` follows.",
})

/** Starts a review. */
export const ReviewStart = request("review/start", {
  params: Schema.Struct({
    threadId: Schema.String,
    target: Schema.Union([
      Schema.Struct({ type: Schema.Literal("uncommittedChanges") }),
      Schema.Struct({ type: Schema.Literal("baseBranch"), branch: Schema.String }),
      Schema.Struct({
        type: Schema.Literal("commit"),
        sha: Schema.String,
        title: maybe(Schema.String),
      }),
      Schema.Struct({ type: Schema.Literal("custom"), instructions: Schema.String }),
    ]),
    /** In this thread. A thread of its own is refused, as by the original. */
    delivery: Schema.optionalKey(
      Schema.NullOr(Schema.Literal("inline")).annotate({
        message: 'Expected "inline": a review in a thread of its own (`detached`) is not supported',
      }),
    ),
  }),
  result: Schema.Struct({ turn: Turn, reviewThreadId: Schema.String }),
  cancellable: false,
  since: "0.64",
  doc: "Starts a turn that reviews changes of the workspace. It can be interrupted by the id of the result.",
})
