/**
 * What one node asks of the node that owns a conversation: each operation is one definition with the schemas of its
 * request, its result and its errors, so that an error arrives with its tag and its fields.
 *
 * An operation is named after the member of `Conversation` or `ConversationManager` that it carries out.
 */
import {
  ConversationClosed,
  ConversationUnavailable,
  EventsFromFuture,
  ManagerClosed,
  NoSuchConversation,
  SubmissionRefused,
  TooManyConversations,
  TooManyListeners,
} from "@colloquy/core/ConversationErrors"
import { BadForkRule } from "@colloquy/core/ForkRule"
import { LeaseHeld, StoreError } from "@colloquy/core/StoreErrors"
import { StoredSettings } from "@colloquy/core/StoredSettings"
import { EventMsg } from "@colloquy/protocol/EventMsg"
import { ConversationId } from "@colloquy/protocol/Ids"
import { Op } from "@colloquy/protocol/Op"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as ClusterSchema from "effect/cluster/ClusterSchema"
import * as Rpc from "effect/rpc/Rpc"
import { Elsewhere } from "./NodeErrors.ts"

/** Which conversation, and on whose behalf; without `access` the calling program reaches every conversation. */
const target = {
  id: ConversationId,
  access: Schema.optionalKey(Schema.Struct({ owner: Schema.NullOr(Schema.String) })),
}

const getErrors = [NoSuchConversation, ConversationUnavailable, ManagerClosed, Elsewhere] as const
const removeErrors = Schema.Union([
  NoSuchConversation,
  StoreError,
  LeaseHeld,
  ManagerClosed,
  Elsewhere,
])

/** Finds the conversation and loads it. */
const Load = Rpc.make("Load", { payload: target, error: Schema.Union(getErrors) })

/**
 * Submits an op. A message that must not be lost: it waits in the database until a node has carried it out. `key` is
 * different for each attempt of each call, because the reply to a message is stored with it and a retry needs a new one;
 * `submission` makes the op itself idempotent.
 */
const Submit = Rpc.make("Submit", {
  payload: {
    ...target,
    key: Schema.String,
    op: Op,
    submission: Schema.optionalKey(Schema.String),
    whileRunning: Schema.optionalKey(
      Schema.Literals(["queue", "steer", "wait", "enqueue", "interrupt", "reject"]),
    ),
    because: Schema.optionalKey(Schema.Literals(["malformed", "failed"])),
  },
  success: Schema.Struct({
    id: Schema.String,
    disposition: Schema.Literals(["started", "joined", "waiting", "none"]),
  }),
  error: Schema.Union([ConversationClosed, SubmissionRefused, ...getErrors]),
  primaryKey: ({ key }) => key,
}).annotate(ClusterSchema.Persisted, true)

/** Interrupts a submission. */
const Cancel = Rpc.make("Cancel", {
  payload: { ...target, submission: Schema.String },
  error: Schema.Union(getErrors),
})

const EventSchema = Schema.Struct({ seq: Schema.Int, id: Schema.String, msg: EventMsg })

const DeliverySchema = Schema.Union([
  Schema.TaggedStruct("Event", { event: EventSchema, atMs: Schema.Finite }),
  Schema.TaggedStruct("Synced", { seq: Schema.Int }),
  Schema.TaggedStruct("Lagged", { from: Schema.Int }),
  Schema.TaggedStruct("Ask", { event: EventSchema }),
])

/** What a stream of deliveries consists of. A stream that ends without `Ended` was cut: the caller attaches again. */
export const StreamItem = Schema.Union([
  /** The first item: the listener is attached and gets the durable events from `from` on. */
  Schema.TaggedStruct("Attached", { from: Schema.Int }),
  Schema.TaggedStruct("Deliveries", { deliveries: Schema.Array(DeliverySchema) }),
  /** Sent every `aliveEvery`: a node that has vanished does not say so, and its stream would be silent for ever. */
  Schema.TaggedStruct("Alive", {}),
  /** The last item: the conversation has ended, or nothing of it can be recorded any more. */
  Schema.TaggedStruct("Ended", { because: Schema.optionalKey(ConversationUnavailable) }),
])
/** One item of a stream of deliveries. */
export type StreamItem = typeof StreamItem.Type

/** Time between two `Alive` of a stream, and the silence after which its reader takes the node for lost. */
export const aliveEvery = Duration.seconds(2)
/** See `aliveEvery`. */
export const silentFor = Duration.seconds(4)

/** Attaches a listener for as long as the stream is read. */
const Attach = Rpc.make("Attach", {
  payload: {
    ...target,
    from: Schema.optionalKey(Schema.Number),
    answers: Schema.optionalKey(
      Schema.Union([
        Schema.Boolean,
        Schema.Literals(["all", "approvals", "forms", "calls", "everything"]),
      ]),
    ),
    limits: Schema.optionalKey(
      Schema.Struct({
        maxEvents: Schema.Finite,
        maxBytes: Schema.Finite,
        maxSeparate: Schema.optionalKey(Schema.Finite),
      }),
    ),
  },
  success: StreamItem,
  error: Schema.Union([EventsFromFuture, TooManyListeners, ...getErrors]),
  stream: true,
}).annotate(ClusterSchema.InterruptOnTermination, true)

/** The current state. The settings are those that a log keeps; the calling node has the others in its configuration. */
const ReadState = Rpc.make("ReadState", {
  payload: target,
  success: Schema.Struct({
    settings: StoredSettings,
    /** `State` without its settings, as JSON text. */
    rest: Schema.String,
  }),
  error: Schema.Union(getErrors),
})

/** Creates a conversation on the node of the one that it is copied from. */
const Fork = Rpc.make("Fork", {
  payload: {
    ...target,
    rule: Schema.Union([
      Schema.TaggedStruct("DropLastUserMessages", { n: Schema.Number }),
      Schema.TaggedStruct("BeforeUserMessage", { nth: Schema.Number }),
      Schema.TaggedStruct("BeforeSubmission", { id: Schema.String }),
      Schema.TaggedStruct("ThroughSubmission", { id: Schema.String }),
      Schema.TaggedStruct("BeforeEvent", { seq: Schema.Number }),
    ]),
    ephemeral: Schema.optionalKey(Schema.Boolean),
  },
  success: Schema.Struct({ id: ConversationId }),
  error: Schema.Union([BadForkRule, TooManyConversations, StoreError, ...getErrors]),
})

/** The owner ends what runs of the conversation before its log is removed or moved. */
const Remove = Rpc.make("Remove", { payload: target, error: removeErrors })
const Archive = Rpc.make("Archive", { payload: target, error: removeErrors })
const Unarchive = Rpc.make("Unarchive", { payload: target, error: removeErrors })

/** All operations. */
export const operations = [
  Load,
  Submit,
  Cancel,
  Attach,
  ReadState,
  Fork,
  Remove,
  Archive,
  Unarchive,
] as const
/** One of the operations. */
export type Operation = (typeof operations)[number]
